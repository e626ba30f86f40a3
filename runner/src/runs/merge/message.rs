//! The messages of the commits that bring work to the project branch. Pure.

use domain::board::task::Task;
use domain::runs::profile::MergeStyle;

/// How much of a description a message has.
const MAX_BODY_BYTES: usize = 4_000;

/// Returns the message for the work of a task. Its last paragraph has the trailers.
pub(super) fn of(task: &Task, style: MergeStyle) -> String {
    let (id, title) = (&task.card.id, &task.card.title);
    match style {
        MergeStyle::Merge => format!("Merge {id}: {title}\n\nTask: {id}\n"),
        MergeStyle::Squash => {
            let body = body(task.description.as_deref().unwrap_or_default());
            let separator = if body.is_empty() { "" } else { "\n\n" };
            format!("{title}{separator}{body}\n\nTask: {id}\n")
        }
    }
}

/// The description without what has no place in a log, and cut at the end of a line.
fn body(description: &str) -> String {
    let is_shown = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    let text: String = description.replace("\r\n", "\n").chars().filter(is_shown).collect();
    let text = text.trim();
    if text.len() <= MAX_BODY_BYTES {
        return text.to_owned();
    }
    let cut = &text[..text.floor_char_boundary(MAX_BODY_BYTES)];
    format!("{}\n…", cut.rsplit_once('\n').map_or(cut, |(lines, _)| lines).trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn description_is_cleaned_and_cut_at_the_end_of_a_line() {
        assert_eq!(body(" one\r\n\u{1b}[31mtwo\0\n"), "one\n[31mtwo");
        let long = "line\n".repeat(2_000);
        let cut = body(&long);
        assert!(cut.len() <= MAX_BODY_BYTES + 4 && cut.ends_with("line\n…"), "{}", cut.len());
        assert_eq!(body("x".repeat(5_000).as_str()).chars().count(), MAX_BODY_BYTES + 2);
        assert_eq!(body(" \n"), "");
    }
}
