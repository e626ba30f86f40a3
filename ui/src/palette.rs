//! The palette without its looks: which entries match what was typed, in which order, and which parts of them are marked. Pure.
//!
//! Must not draw anything, and must not know what an entry does.

use std::cmp::Reverse;

use domain::board::search::{SearchHit, SearchKind};
use domain::likeness::{Highlight, MAX_BEHIND, Query, highlights};

use crate::client::MessageFilter;
use crate::route::{ContextPlace, Route};

/// How many entries of a group are shown.
const MAX_PER_GROUP: usize = 6;
/// How many of the last choices are offered first, and how many are remembered because some may no longer exist.
const MAX_RECENT: usize = 5;
const MAX_REMEMBERED: usize = 12;

/// A part of the list, in the order of groups that match equally well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Group {
    Recent,
    Tasks,
    Actions,
    Projects,
    Agents,
    Pages,
    Texts,
}

impl Group {
    /// The groups that are shown before anything is typed. There are too many tasks for it.
    const INITIAL: [Self; 4] = [Self::Actions, Self::Projects, Self::Agents, Self::Pages];

    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Recent => "Recent",
            Self::Tasks => "Tasks",
            Self::Actions => "Actions",
            Self::Projects => "Projects",
            Self::Agents => "Agents",
            Self::Pages => "Go to",
            Self::Texts => "Found in texts",
        }
    }
}

/// The texts of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Words {
    /// The name of the entry in the storage of the browser.
    pub(crate) key: String,
    pub(crate) group: Group,
    pub(crate) title: String,
    /// Further words by which it is found, such as an id.
    pub(crate) more: String,
}

/// An entry by its place in the list, with the group it is shown in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ranked {
    pub(crate) entry: usize,
    pub(crate) group: Group,
    pub(crate) highlights: Vec<Highlight>,
}

/// The entries to show for what was typed: the group with the best match first. Before anything is typed, the last choices come first.
pub(crate) fn rank<'a>(entries: impl Iterator<Item = &'a Words>, typed: &str, recent: &[String]) -> Vec<Ranked> {
    let query = Query::new(typed);
    if typed.trim().is_empty() {
        return initial(&entries.collect::<Vec<_>>(), recent);
    }
    let mut found: Vec<(u8, u8, Ranked)> = Vec::new();
    for (entry, words) in entries.enumerate() {
        let place = query.find(&format!("{}\n{}", words.title, words.more));
        if place.is_complete {
            let in_title: Vec<_> = place.places.into_iter().filter(|place| place.range.end <= words.title.len()).collect();
            found.push((place.score, place.phrase, Ranked { entry, group: words.group, highlights: highlights(&words.title, &in_title) }));
        }
    }
    let best = found.iter().map(|(score, ..)| *score).max().unwrap_or_default();
    found.retain(|(score, ..)| score + MAX_BEHIND >= best);
    found.sort_by_key(|(score, phrase, ranked)| (Reverse((*score, *phrase)), ranked.entry));
    let mut groups: Vec<(u8, Group)> = Vec::new();
    for (score, _, ranked) in &found {
        if groups.iter().all(|(_, known)| *known != ranked.group) {
            groups.push((*score, ranked.group));
        }
    }
    // Groups whose best words match equally well keep their order.
    groups.sort_by_key(|(best, group)| (Reverse(*best), *group));
    let of = |group: Group| found.iter().filter(move |(.., ranked)| ranked.group == group).take(MAX_PER_GROUP).map(|(.., ranked)| ranked.clone());
    groups.iter().flat_map(|(_, group)| of(*group)).collect()
}

fn initial(entries: &[&Words], recent: &[String]) -> Vec<Ranked> {
    let place = |key: &String| entries.iter().position(|entry| entry.key == *key);
    let recent: Vec<usize> = recent.iter().filter_map(place).take(MAX_RECENT).collect();
    let ranked = |entry: usize, group: Group| Ranked { entry, group, highlights: Vec::new() };
    let rest = Group::INITIAL.into_iter().flat_map(|group| {
        let own = (0..entries.len()).filter(|entry| entries[*entry].group == group && !recent.contains(entry));
        own.take(MAX_PER_GROUP).map(move |entry| ranked(entry, group)).collect::<Vec<_>>()
    });
    let first = recent.iter().map(|entry| ranked(*entry, Group::Recent)).collect::<Vec<_>>();
    first.into_iter().chain(rest).collect()
}

/// The remembered choices after another one.
pub(crate) fn remember(recent: &[String], key: &str) -> Vec<String> {
    let others = recent.iter().filter(|known| *known != key).cloned();
    std::iter::once(key.to_owned()).chain(others).take(MAX_REMEMBERED).collect()
}

/// The row that an arrow key selects. The first follows the last.
pub(crate) fn step(selected: usize, rows: usize, down: bool) -> usize {
    match (rows, down) {
        (0, _) => 0,
        (_, true) => (selected + 1) % rows,
        (_, false) => (selected + rows - 1) % rows,
    }
}

/// The parts of a text, each with whether it is marked.
pub(crate) fn parts(text: &str, highlights: &[Highlight]) -> Vec<(String, bool)> {
    let mut parts: Vec<(String, bool)> = Vec::new();
    for (index, letter) in (0_u32..).zip(text.chars()) {
        let marked = highlights.iter().any(|mark| (mark.start..mark.end).contains(&index));
        match parts.last_mut().filter(|(_, last)| *last == marked) {
            Some((part, _)) => part.push(letter),
            None => parts.push((letter.to_string(), marked)),
        }
    }
    parts
}

/// The page on which a text is read.
pub(crate) fn route_of(hit: &SearchHit) -> Route {
    let project = hit.project_id.clone();
    match (&hit.task_id, hit.kind) {
        (None, SearchKind::Message) => Route::Messages { project, filter: MessageFilter::default() },
        (_, SearchKind::Finding) => {
            let place = ContextPlace { session: hit.session_id.clone(), message: hit.id.parse().ok(), ..ContextPlace::default() };
            Route::Context { project, place }
        }
        (_, SearchKind::Memory) => Route::Context { project, place: ContextPlace { memory: hit.id.parse().ok(), ..ContextPlace::default() } },
        (task, _) => Route::Board { project, task: task.clone() },
    }
}

/// The hits that are not shown already: a task of this board is in the list of tasks when its title matches.
pub(crate) fn without_known(hits: Vec<SearchHit>, known_tasks: &[String]) -> Vec<SearchHit> {
    hits.into_iter().filter(|hit| hit.kind != SearchKind::Task || !known_tasks.contains(&hit.id)).collect()
}

#[cfg(test)]
mod tests {
    use domain::context::session::ContextSessionId;
    use domain::id::{ProjectId, TaskId};
    use domain::time::Timestamp;

    use super::*;

    fn entry(group: Group, key: &str, title: &str, more: &str) -> Words {
        Words { key: key.to_owned(), group, title: title.to_owned(), more: more.to_owned() }
    }

    fn entries() -> Vec<Words> {
        vec![
            entry(Group::Tasks, "task/TASK-006", "Sign in with a passkey", "TASK-006 At work"),
            entry(Group::Tasks, "task/TASK-012", "Test the whole journey", "TASK-012 Blocked"),
            entry(Group::Actions, "pause", "Pause the project", ""),
            entry(Group::Actions, "theme", "Switch between light and dark", "theme"),
            entry(Group::Projects, "project/PROJ-001", "Passkey sign-in", "PROJ-001"),
            entry(Group::Pages, "settings", "Settings", ""),
        ]
    }

    fn titles(typed: &str, recent: &[&str]) -> Vec<(Group, String)> {
        let (entries, recent) = (entries(), recent.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>());
        rank(entries.iter(), typed, &recent).into_iter().map(|ranked| (ranked.group, entries[ranked.entry].title.clone())).collect()
    }

    fn first(typed: &str) -> Option<String> {
        titles(typed, &[]).into_iter().next().map(|(_, title)| title)
    }

    #[test]
    fn entries_are_found_by_parts_errors_ids_and_other_words() {
        for (typed, expected) in [
            ("sign passk", "Sign in with a passkey"),
            ("passkye sign with", "Sign in with a passkey"),
            ("jorney", "Test the whole journey"),
            ("TASK-12", "Test the whole journey"),
            ("12", "Test the whole journey"),
            ("blocked", "Test the whole journey"),
            ("pau", "Pause the project"),
            ("dark", "Switch between light and dark"),
            ("theme", "Switch between light and dark"),
            ("setings", "Settings"),
        ] {
            assert_eq!(first(typed).as_deref(), Some(expected), "{typed}");
        }
        assert_eq!([first("zebra"), first("passkey zebra"), first("…")], [None, None, None]);
    }

    #[test]
    fn group_with_the_best_match_comes_first() {
        let groups = |typed: &str| titles(typed, &[]).into_iter().map(|(group, _)| group).collect::<Vec<_>>();
        assert_eq!(groups("passkey"), [Group::Tasks, Group::Projects]);
        assert_eq!(groups("pause"), [Group::Actions]);
        assert_eq!(groups("pa"), [Group::Tasks, Group::Actions, Group::Projects]);
    }

    #[test]
    fn last_choices_come_first_before_anything_is_typed() {
        let shown = titles(" ", &["settings", "task/TASK-404", "task/TASK-006"]);
        assert_eq!(shown[0], (Group::Recent, "Settings".to_owned()));
        assert_eq!(shown[1], (Group::Recent, "Sign in with a passkey".to_owned()));
        assert_eq!(shown[2], (Group::Actions, "Pause the project".to_owned()));
        assert_eq!(shown.iter().filter(|(_, title)| title == "Settings").count(), 1);
        let recent = ["a", "b"].map(str::to_owned);
        assert_eq!(remember(&recent, "b"), ["b", "a"]);
        assert_eq!(remember(&[], "b"), ["b"]);
    }

    #[test]
    fn found_words_are_marked() {
        let entries = entries();
        let found = rank(entries.iter(), "passk sign", &[]);
        let marked = parts(&entries[found[0].entry].title, &found[0].highlights);
        let marked: Vec<_> = marked.iter().map(|(part, marked)| (part.as_str(), *marked)).collect();
        assert_eq!(marked, [("Sign", true), (" in with a ", false), ("passk", true), ("ey", false)]);
        assert_eq!(parts("", &[]), []);
    }

    #[test]
    fn texts_open_where_they_are_read() {
        let hit = |kind: SearchKind, id: &str, task: Option<u64>| SearchHit {
            kind,
            id: id.to_owned(),
            project_id: ProjectId::new(1),
            project_title: "Shop".to_owned(),
            task_id: task.map(TaskId::new),
            task_title: None,
            session_id: (kind == SearchKind::Finding).then(|| ContextSessionId::new(7)),
            key: None,
            title_highlights: Vec::new(),
            excerpt: String::new(),
            highlights: Vec::new(),
            author: None,
            at: Timestamp::from_milliseconds(0),
            score: 100,
        };
        for (kind, id, task, path) in [
            (SearchKind::Comment, "C-1", Some(2), "/projects/PROJ-001/tasks/TASK-002"),
            (SearchKind::Message, "4", None, "/projects/PROJ-001/messages"),
            (SearchKind::Finding, "9", Some(2), "/projects/PROJ-001/context?session=session_0000000000000007&message=9"),
            (SearchKind::Memory, "3", Some(2), "/projects/PROJ-001/context?memory=3"),
        ] {
            assert_eq!(route_of(&hit(kind, id, task)).path(), path);
        }
    }

    #[test]
    fn selection_wraps_around() {
        assert_eq!([step(0, 3, true), step(2, 3, true), step(0, 3, false), step(0, 0, true), step(5, 0, false)], [1, 0, 2, 0, 0]);
    }
}
