//! The state of an open review: the commit that is read, kept comments, open fields for comments, and viewed files. The browser remembers
//! comments and viewed files until the review is decided.

use domain::board::review::{LineComment, Side};
use domain::id::TaskId;
use domain::runs::diff::FileDiff;
use domain::runs::evidence::Sha;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::components::board::review::blocks::LinePlace;
use crate::draft::{discard, draft};
use crate::storage::storage;

/// The key of the stored layout.
const LAYOUT: &str = "diff-layout";
const SPLIT: &str = "split";
/// Narrower windows have no room for two versions side by side.
const MIN_SPLIT_WIDTH: &str = "(width >= 62rem)";

/// The place of a comment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) side: Side,
    /// The review round whose commit the old side shows.
    pub(crate) since: Option<u32>,
}

impl Place {
    pub(crate) fn of(comment: &LineComment) -> Self {
        Self { path: comment.path.clone(), line: comment.line, side: comment.side, since: comment.since }
    }

    pub(crate) fn label(&self) -> String {
        let before = if self.side == Side::Old { " (before)" } else { "" };
        format!("{}:{}{before}", self.path.rsplit('/').next().unwrap_or(&self.path), self.line)
    }

    /// The name of the draft of its text.
    pub(crate) fn draft_key(&self, task: &TaskId) -> String {
        format!("review/{task}/{}:{:?}{}{:?}", self.path, self.side, self.line, self.since)
    }
}

/// A comment that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Kept {
    /// The commit that it is about.
    sha: Sha,
    comment: LineComment,
}

impl Kept {
    fn with_commit(&self) -> LineComment {
        LineComment { sha: Some(self.sha.clone()), ..self.comment.clone() }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Review {
    task: StoredValue<TaskId>,
    /// The commit that is shown; empty until it is loaded.
    pub(crate) head: RwSignal<Sha>,
    /// Only the changes since this review round are shown.
    pub(crate) since: RwSignal<Option<u32>>,
    split: RwSignal<bool>,
    /// Whether the window has room for two versions side by side.
    wide: RwSignal<bool>,
    /// Kept comments as JSON.
    kept: RwSignal<String>,
    comments: Memo<Vec<Kept>>,
    editing: RwSignal<Vec<Place>>,
    /// The commit and the paths of viewed files, one on each line.
    viewed: RwSignal<String>,
}

impl Review {
    pub(crate) fn provide(task: TaskId) -> Self {
        let kept = draft(&format!("review/{task}"));
        let wide = RwSignal::new(is_wide());
        let listener = window_event_listener(leptos::ev::resize, move |_| {
            if wide.get_untracked() != is_wide() {
                wide.set(is_wide());
            }
        });
        on_cleanup(move || listener.remove());
        let review = Self {
            kept,
            wide,
            comments: Memo::new(move |_| kept.with(|kept| serde_json::from_str(kept).unwrap_or_default())),
            editing: RwSignal::new(Vec::new()),
            viewed: draft(&format!("viewed/{task}")),
            task: StoredValue::new(task),
            head: RwSignal::new(Sha::new()),
            since: RwSignal::new(None),
            split: RwSignal::new(storage().and_then(|storage| storage.get_item(LAYOUT).ok()?).is_some_and(|layout| layout == SPLIT)),
        };
        provide_context(review);
        review
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    pub(crate) fn task(self) -> TaskId {
        self.task.get_value()
    }

    /// Whether both versions are side by side.
    pub(crate) fn is_split(self) -> bool {
        self.split.get() && self.wide.get()
    }

    pub(crate) fn set_split(self, split: bool) {
        self.split.set(split);
        // Without storage, the layout lasts until the next reload.
        let _stored = storage().map(|storage| storage.set_item(LAYOUT, if split { SPLIT } else { "unified" }));
    }

    /// The comments on the shown commit.
    pub(crate) fn comments(self) -> Vec<LineComment> {
        let head = self.head.get();
        self.comments.with(|kept| kept.iter().filter(|kept| kept.sha == head).map(|kept| kept.comment.clone()).collect())
    }

    /// The comments on earlier commits, each with its commit.
    pub(crate) fn earlier_comments(self) -> Vec<LineComment> {
        let head = self.head.get();
        self.comments.with(|kept| kept.iter().filter(|kept| kept.sha != head).map(Kept::with_commit).collect())
    }

    /// All comments that go with the decision.
    pub(crate) fn comments_to_send(self) -> Vec<LineComment> {
        let mut comments = self.comments();
        comments.extend(self.earlier_comments());
        comments
    }

    pub(crate) fn comment_at(self, place: &Place) -> Option<LineComment> {
        self.comments().into_iter().find(|comment| Place::of(comment) == *place)
    }

    /// Adds a comment, or replaces the one at its place.
    pub(crate) fn store_comment(self, comment: LineComment) {
        let (place, sha) = (Place::of(&comment), self.head.get_untracked());
        self.change(|kept| {
            let at_place = |kept: &&mut Kept| kept.sha == sha && Place::of(&kept.comment) == place;
            match kept.iter_mut().find(at_place) {
                Some(known) => known.comment = comment,
                None => kept.push(Kept { sha, comment }),
            }
        });
        self.close_editor(&place);
    }

    pub(crate) fn remove_comment(self, comment: &LineComment) {
        self.change(|kept| kept.retain(|kept| kept.comment != *comment && kept.with_commit() != *comment));
    }

    /// Removes everything, after the review was decided.
    pub(crate) fn remove_all(self) {
        // The page closes before a cleared text would remove its draft.
        discard(&format!("review/{}", self.task()));
        discard(&format!("viewed/{}", self.task()));
    }

    fn change(self, change: impl FnOnce(&mut Vec<Kept>)) {
        let mut kept = self.comments.get_untracked();
        change(&mut kept);
        let text = if kept.is_empty() { String::new() } else { serde_json::to_string(&kept).unwrap_or_default() };
        self.kept.set(text);
    }

    pub(crate) fn is_editing(self, place: &Place) -> bool {
        self.editing.with(|editing| editing.contains(place))
    }

    pub(crate) fn open_editor(self, place: Place) {
        if !self.editing.with_untracked(|editing| editing.contains(&place)) {
            self.editing.update(|editing| editing.push(place));
        }
    }

    pub(crate) fn close_editor(self, place: &Place) {
        self.editing.update(|editing| editing.retain(|known| known != place));
    }

    /// The place of a comment on a line of a file.
    pub(crate) fn place(self, file: &FileDiff, (side, line): LinePlace) -> Place {
        let path = if side == Side::Old { file.old_path.clone().unwrap_or_else(|| file.path.clone()) } else { file.path.clone() };
        Place { path, line, side, since: self.since.get_untracked().filter(|_| side == Side::Old) }
    }

    /// The lines of a file that have a comment or a field for one.
    pub(crate) fn notes_of(self, file: &FileDiff) -> Vec<LinePlace> {
        let comments = self.comments().iter().map(Place::of).collect::<Vec<_>>();
        let is_here = |place: &Place| self.place(file, (place.side, place.line)) == *place;
        let editing = self.editing.get();
        comments.into_iter().chain(editing).filter(is_here).map(|place| (place.side, place.line)).collect()
    }

    pub(crate) fn is_viewed(self, path: &str) -> bool {
        self.head.with(|head| self.viewed.with(|viewed| viewed_paths(viewed, head).any(|known| known == path)))
    }

    pub(crate) fn set_viewed(self, path: &str, is_viewed: bool) {
        let head = self.head.get_untracked();
        self.viewed.update(|viewed| *viewed = with_viewed(viewed, &head, path, is_viewed));
    }
}

/// The viewed files of a commit. Those of another commit do not count, because they may have changed since.
fn viewed_paths<'a>(viewed: &'a str, head: &str) -> impl Iterator<Item = &'a str> {
    let mut lines = viewed.lines();
    let is_current = lines.next() == Some(head);
    lines.filter(move |_| is_current)
}

fn with_viewed(viewed: &str, head: &str, path: &str, is_viewed: bool) -> String {
    let others = viewed_paths(viewed, head).filter(|known| *known != path);
    let paths: Vec<&str> = others.chain(is_viewed.then_some(path)).collect();
    if paths.is_empty() { String::new() } else { format!("{head}\n{}", paths.join("\n")) }
}

fn is_wide() -> bool {
    window().match_media(MIN_SPLIT_WIDTH).ok().flatten().is_some_and(|query| query.matches())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn viewed_files_belong_to_one_commit() {
        let one = with_viewed("", "abc", "a b.rs", true);
        let two = with_viewed(&one, "abc", "c.rs", true);
        assert_eq!(viewed_paths(&two, "abc").collect::<Vec<_>>(), ["a b.rs", "c.rs"]);
        assert_eq!(viewed_paths(&two, "def").count(), 0);
        assert_eq!(with_viewed(&two, "abc", "a b.rs", false), "abc\nc.rs");
        assert_eq!(with_viewed(&two, "def", "c.rs", true), "def\nc.rs");
        assert_eq!(with_viewed(&one, "abc", "a b.rs", false), "");
    }

    #[test]
    fn comment_on_an_earlier_commit_is_sent_with_that_commit() {
        let comment = LineComment { path: "a.rs".to_owned(), line: 3, side: Side::New, since: None, sha: None, text: "Why?".to_owned() };
        let kept = Kept { sha: "abc".to_owned(), comment: comment.clone() };
        assert_eq!(kept.with_commit(), LineComment { sha: Some("abc".to_owned()), ..comment });
    }

    #[test]
    fn place_names_the_file_and_the_version() {
        let place = Place { path: "src/a.rs".to_owned(), line: 3, side: Side::New, since: None };
        let before = Place { side: Side::Old, since: Some(1), ..place.clone() };
        assert_eq!((place.label(), before.label()), ("a.rs:3".to_owned(), "a.rs:3 (before)".to_owned()));
        assert_ne!(place.draft_key(&TaskId::new(1)), before.draft_key(&TaskId::new(1)));
    }
}
