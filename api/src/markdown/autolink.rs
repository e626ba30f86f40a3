//! Links for the web addresses and the ids of tasks in running text.

use std::ops::Range;

use domain::id::TaskId;
use linkify::{LinkFinder, LinkKind};
use pulldown_cmark::{CowStr, Event, LinkType, Tag, TagEnd};

/// The folder of the pages of tasks. The board finds the project of a task.
pub(super) const TASKS: &str = "/tasks/";
const PREFIX: &str = "TASK-";

/// The text with its links.
pub(super) fn linked(text: CowStr<'_>) -> Vec<Event<'_>> {
    let links = links(&text);
    if links.is_empty() {
        return vec![Event::Text(text)];
    }
    let mut events = Vec::with_capacity(links.len() * 4 + 1);
    let plain = |range: Range<usize>| text.get(range).filter(|part| !part.is_empty()).map(|part| Event::Text(part.to_owned().into()));
    let mut end = 0;
    for (range, address) in links {
        events.extend(plain(end..range.start));
        let link = Tag::Link { link_type: LinkType::Inline, dest_url: address.into(), title: "".into(), id: "".into() };
        events.push(Event::Start(link));
        events.extend(plain(range.clone()));
        events.push(Event::End(TagEnd::Link));
        end = range.end;
    }
    events.extend(plain(end..text.len()));
    events
}

/// The links in the order of the text, which do not overlap, with their addresses.
fn links(text: &str) -> Vec<(Range<usize>, String)> {
    let mut finder = LinkFinder::new();
    finder.kinds(&[LinkKind::Url]);
    let mut links = Vec::new();
    let mut end = 0;
    for link in finder.links(text) {
        links.extend(tasks(text, end..link.start()));
        links.push((link.start()..link.end(), link.as_str().to_owned()));
        end = link.end();
    }
    links.extend(tasks(text, end..text.len()));
    links
}

/// The ids of tasks in a part of the text.
fn tasks(text: &str, part: Range<usize>) -> Vec<(Range<usize>, String)> {
    let found = text.get(part.clone()).unwrap_or_default().match_indices(PREFIX);
    let link = |(offset, _): (usize, &str)| {
        let start = part.start + offset;
        let digits = text.get(start + PREFIX.len()..)?;
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let range = start..start + PREFIX.len() + length;
        let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/');
        let is_part_of_word = text.get(..range.start)?.ends_with(is_letter) || text.get(range.end..)?.starts_with(is_letter);
        let id = text.get(range.clone())?.parse::<TaskId>().ok()?;
        (!is_part_of_word).then(|| (range, format!("{TASKS}{id}")))
    };
    found.filter_map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::links;

    fn found(text: &str) -> Vec<(&str, String)> {
        links(text).into_iter().map(|(range, address)| (&text[range], address)).collect()
    }

    #[test]
    fn addresses_end_before_the_punctuation_of_the_sentence() {
        let text = "See https://example.org/a_b?c=1, (http://x.yz/a) and www.example.org.";
        let expected = [("https://example.org/a_b?c=1", "https://example.org/a_b?c=1"), ("http://x.yz/a", "http://x.yz/a")];
        assert_eq!(found(text), expected.map(|(text, address)| (text, address.to_owned())));
        assert_eq!(found("javascript:alert(1) and mailto and a@example.org"), []);
    }

    #[test]
    fn ids_of_tasks_are_links_outside_words_and_addresses() {
        let tasks = |text| found(text).into_iter().map(|(text, _)| text.to_owned()).collect::<Vec<_>>();
        assert_eq!(found("After TASK-012."), [("TASK-012", "/tasks/TASK-012".to_owned())]);
        assert_eq!(tasks("(TASK-1234), TASK-002: é TASK-003"), ["TASK-1234", "TASK-002", "TASK-003"]);
        assert_eq!(tasks("TASK-, TASK-7x, MYTASK-001, vr/TASK-001/work, TASK-001-old, TASK-9"), [] as [&str; 0]);
        assert_eq!(tasks("https://example.org/TASK-001 TASK-002"), ["https://example.org/TASK-001", "TASK-002"]);
    }
}
