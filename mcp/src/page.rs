//! Limits lists to one answer, because clients put more than about 100 kB into a file instead of the conversation.
//!
//! Callers get what they need to request the rest. It must not know what the items mean.

use domain::board::card::Card;
use domain::id::TaskId;
use serde_json::Value;

/// The most bytes of a page as text, and of the same page as JSON.
pub(crate) const MAX_BYTES: usize = 36_000;

/// The cards that fit into one answer.
pub(crate) struct Page {
    pub(crate) text: String,
    pub(crate) tasks: Vec<Value>,
    /// The last task of the page, if more follow.
    pub(crate) next: Option<TaskId>,
}

/// Returns the first cards that fit, at least one. `shown` returns a card as text and as JSON.
pub(crate) fn cards<'a>(cards: impl Iterator<Item = &'a Card>, shown: impl Fn(&Card) -> (String, Value)) -> Page {
    let mut page = Page { text: String::new(), tasks: Vec::new(), next: None };
    let mut bytes = 0;
    let mut last: Option<&Card> = None;
    for card in cards {
        let (text, task) = shown(card);
        let size = task.to_string().len();
        if let Some(last) = last
            && (page.text.len() + text.len() > MAX_BYTES || bytes + size > MAX_BYTES)
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

/// Returns the newest items that fit, which come last in `all`, at least one; and the number of older ones.
pub(crate) fn newest_that_fit(mut all: Vec<Value>) -> (Vec<Value>, usize) {
    let mut bytes = 0;
    let kept = all
        .iter()
        .rev()
        .take_while(|one| {
            bytes += one.to_string().len();
            bytes <= MAX_BYTES
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
    fn items_are_measured_as_serialized() {
        // Each of these characters is serialized as six bytes.
        let all: Vec<Value> = (0..10).map(|_| json!({"content": "\u{1}".repeat(1_000)})).collect();
        let (kept, older) = newest_that_fit(all);
        assert_eq!((kept.len(), older), (5, 5));
        assert!(json!(kept).to_string().len() <= MAX_BYTES);
        assert_eq!(newest_that_fit(vec![json!("x".repeat(MAX_BYTES))]), (vec![json!("x".repeat(MAX_BYTES))], 0), "one item is always kept");
        assert_eq!(newest_that_fit(Vec::new()), (Vec::new(), 0));
    }
}
