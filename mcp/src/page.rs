//! What fits into one answer. Clients put more than about 100 kB into a file instead of the conversation.
//!
//! Knows sizes, and nothing of what is shown. What does not fit is named, so that it can be asked for.

use domain::board::card::Card;
use domain::id::TaskId;
use serde_json::Value;

/// The most bytes of a page, as text and again as JSON.
pub(crate) const BYTES: usize = 36_000;

/// As many cards as fit into one answer.
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) tasks: Vec<Value>,
    /// The last task that is shown, when there are more.
    pub(crate) next: Option<TaskId>,
}

/// The first cards that fit, at least one. `shown` is a card as text and as JSON.
pub(crate) fn cards<'a>(cards: impl Iterator<Item = &'a Card>, shown: impl Fn(&Card) -> (String, Value)) -> Page {
    let mut page = Page { text: String::new(), tasks: Vec::new(), next: None };
    let mut bytes = 0;
    let mut last: Option<&Card> = None;
    for card in cards {
        let (text, task) = shown(card);
        let size = task.to_string().len();
        if let Some(last) = last
            && (page.text.len() + text.len() > BYTES || bytes + size > BYTES)
        {
            page.next = Some(last.id.clone());
            break;
        }
        page.text += &text;
        page.tasks.push(task);
        bytes += size;
        last = Some(card);
    }
    page
}

/// The newest of `all`, which come last, as far as they fit, at least one; and how many older ones do not.
pub(crate) fn newest(mut all: Vec<Value>) -> (Vec<Value>, usize) {
    let mut bytes = 0;
    let kept = all
        .iter()
        .rev()
        .take_while(|one| {
            bytes += one.to_string().len();
            bytes <= BYTES
        })
        .count();
    let older = all.len() - kept.max(1).min(all.len());
    all.drain(..older);
    (all, older)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_is_measured_as_it_is_written() {
        // Each character of these takes six bytes.
        let all: Vec<Value> = (0..10).map(|_| json!({"content": "\u{1}".repeat(1_000)})).collect();
        let (kept, older) = newest(all);
        assert_eq!((kept.len(), older), (5, 5));
        assert!(json!(kept).to_string().len() <= BYTES);
        assert_eq!(newest(vec![json!("x".repeat(BYTES))]), (vec![json!("x".repeat(BYTES))], 0), "one is shown, however long");
        assert_eq!(newest(Vec::new()), (Vec::new(), 0));
    }
}
