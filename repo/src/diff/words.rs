//! Marks the words that differ between a removed line and the added line in its place. Pure.

use domain::runs::diff::{DiffLine, Mark};
use similar::{ChangeTag, TextDiff};

/// Bytes of a line that is compared by words.
const MAX_LENGTH: usize = 1_000;
/// The share of common words below which two lines have nothing to do with each other.
const MIN_RATIO: f32 = 0.4;

/// Marks the words of replaced lines: the first removed line of a block belongs to the first added one, and so on.
pub(super) fn mark(lines: &mut [DiffLine]) {
    let mut start = 0;
    while start < lines.len() {
        let length = |from: usize, origin: char, lines: &[DiffLine]| lines[from..].iter().take_while(|line| line.origin == origin).count();
        let removed = length(start, '-', lines);
        let added = length(start + removed, '+', lines);
        for index in start..start + removed.min(added) {
            let (old, new) = compare(&lines[index].text, &lines[index + removed].text);
            lines[index].marks = old;
            lines[index + removed].marks = new;
        }
        start += (removed + added).max(1);
    }
}

/// The changed parts of both lines, or none if nearly everything changed.
fn compare(old: &str, new: &str) -> (Vec<Mark>, Vec<Mark>) {
    if old.len() > MAX_LENGTH || new.len() > MAX_LENGTH {
        return (Vec::new(), Vec::new());
    }
    let (old, new) = (split_words(old), split_words(new));
    let diff = TextDiff::from_slices(&old, &new);
    if diff.ratio() < MIN_RATIO {
        return (Vec::new(), Vec::new());
    }
    let (mut marks, mut places) = ((Vec::new(), Vec::new()), (0, 0));
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        if change.tag() != ChangeTag::Insert {
            if change.tag() == ChangeTag::Delete {
                extend(&mut marks.0, places.0, length);
            }
            places.0 += length;
        }
        if change.tag() != ChangeTag::Delete {
            if change.tag() == ChangeTag::Insert {
                extend(&mut marks.1, places.1, length);
            }
            places.1 += length;
        }
    }
    marks
}

fn extend(marks: &mut Vec<Mark>, start: usize, length: usize) {
    // Lines are shorter than `MAX_LENGTH`.
    let (start, end) = (start as u32, (start + length) as u32);
    match marks.last_mut() {
        Some(last) if last.end == start => last.end = end,
        _ => marks.push(Mark { start, end }),
    }
}

/// Splits a line into names, white space and single other characters.
fn split_words(line: &str) -> Vec<&str> {
    let kind = |character: char| match character {
        _ if character.is_alphanumeric() || character == '_' => 0,
        _ if character.is_whitespace() => 1,
        _ => 2,
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut before = None;
    for (place, character) in line.char_indices() {
        let now = kind(character);
        if before.is_some_and(|before| before != now || now == 2) {
            words.push(&line[start..place]);
            start = place;
        }
        before = Some(now);
    }
    if start < line.len() {
        words.push(&line[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn marked(given: &[(char, &str)]) -> Vec<String> {
        let mut lines: Vec<DiffLine> = given.iter().map(|(origin, text)| DiffLine::plain(*origin, None, None, (*text).to_owned())).collect();
        mark(&mut lines);
        let named = |line: &DiffLine| line.marks.iter().map(|mark| &line.text[mark.start as usize..mark.end as usize]).collect::<Vec<_>>().join("|");
        lines.iter().map(named).collect()
    }

    #[test]
    fn changed_words_of_a_replaced_line_are_marked() {
        assert_eq!(marked(&[('-', "let x = randomBytes(16);"), ('+', "let x = randomBytes(32);")]), ["16", "32"]);
        assert_eq!(marked(&[('-', "größe: a.b"), ('+', "größe: a.b.c")]), ["", ".c"]);
        assert_eq!(marked(&[('-', "same"), ('+', "other words")]), ["", ""], "nothing in common");
    }

    #[test]
    fn lines_of_a_block_are_compared_in_order() {
        let block = [(' ', "a"), ('-', "one 1"), ('-', "two 2"), ('+', "one 3"), ('+', "two 4"), ('+', "more"), ('-', "gone"), (' ', "z")];
        assert_eq!(marked(&block), ["", "1", "2", "3", "4", "", "", ""]);
        assert_eq!(marked(&[('+', "new")]), [""]);
        let long = "x ".repeat(MAX_LENGTH);
        assert_eq!(marked(&[('-', &long), ('+', &format!("{long}y"))]), ["", ""], "it is bounded");
    }
}
