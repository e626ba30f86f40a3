//! Which files an agent has loaded, by its output: those that it read or wrote with the tools for that. Pure.
//!
//! It must not know what that is used for. Files that only a shell command reads are not seen.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::time::Duration;

use domain::runs::run_event::{RunEvent, ToolKind};
use domain::time::Timestamp;
use domain::warroom::freshness::LoadedFile;
use tokio::time::Instant;

/// The shortest time between two records, so that many files are one of them.
const MIN_PAUSE: Duration = Duration::from_secs(2);
/// Calls without a known end that are remembered.
const MAX_OPEN: usize = 64;

#[derive(Debug, Default)]
pub(super) struct LoadedFiles {
    /// The files of the calls that have not returned.
    open: HashMap<String, Vec<String>>,
    /// The files that are not recorded yet.
    waiting: BTreeMap<String, Timestamp>,
    recorded_at: Option<Instant>,
}

impl LoadedFiles {
    /// Notes what the agent did, in the order of the output. A file counts when its call returns: a change by the call itself is not news.
    pub(super) fn observe(&mut self, events: &[RunEvent], checkout: &str, now: Timestamp) {
        for event in events {
            match event {
                RunEvent::ToolStarted(call) if loads_files(call.kind) && self.open.len() < MAX_OPEN => {
                    let files = call.locations.iter().filter_map(|path| inside(path, checkout)).collect();
                    self.open.insert(call.id.clone(), files);
                }
                RunEvent::ToolEnded { id, ok, .. } => {
                    let files = self.open.remove(id).unwrap_or_default();
                    self.waiting.extend(files.into_iter().filter(|_| *ok).map(|path| (path, now)));
                }
                RunEvent::TurnStarted {} => self.open.clear(),
                _ => {}
            }
        }
    }

    /// When files are to be recorded, if there are any. It may be in the past.
    pub(super) fn due_at(&self, now: Instant) -> Option<Instant> {
        (!self.waiting.is_empty()).then(|| self.recorded_at.map_or(now, |at| at + MIN_PAUSE))
    }

    /// Returns the files to record now, if there are any.
    pub(super) fn take(&mut self, now: Instant) -> Option<Vec<LoadedFile>> {
        self.due_at(now).filter(|at| *at <= now)?;
        self.recorded_at = Some(now);
        Some(std::mem::take(&mut self.waiting).into_iter().map(|(path, at)| LoadedFile { path, at }).collect())
    }
}

const fn loads_files(kind: ToolKind) -> bool {
    matches!(kind, ToolKind::Read | ToolKind::Write | ToolKind::Edit)
}

/// A path relative to the checkout, if it is in it.
fn inside(path: &str, checkout: &str) -> Option<String> {
    let path = Path::new(path);
    let inside = if path.is_absolute() { path.strip_prefix(checkout).ok()? } else { path };
    inside.to_str().filter(|path| !path.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use domain::runs::run_event::ToolCall;
    use serde_json::Value;

    use super::*;

    fn started(id: &str, kind: ToolKind, path: &str) -> RunEvent {
        let locations = vec![path.to_owned()];
        RunEvent::ToolStarted(ToolCall {
            id: id.to_owned(),
            kind,
            name: "Tool".to_owned(),
            title: path.to_owned(),
            locations,
            input: Value::Null,
            edits: Vec::new(),
        })
    }

    fn ended(id: &str, ok: bool) -> RunEvent {
        RunEvent::ToolEnded { id: id.to_owned(), ok, output: String::new() }
    }

    fn read(id: &str) -> [RunEvent; 2] {
        [started(id, ToolKind::Read, "/w/a.rs"), ended(id, true)]
    }

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_milliseconds(milliseconds)
    }

    fn paths(files: Option<Vec<LoadedFile>>) -> Vec<String> {
        files.unwrap_or_default().into_iter().map(|file| file.path).collect()
    }

    #[test]
    fn files_count_when_their_call_returns() {
        let mut loaded = LoadedFiles::default();
        let events = [
            started("1", ToolKind::Read, "/w/src/a.rs"),
            started("2", ToolKind::Edit, "src/b.rs"),
            started("3", ToolKind::Read, "/other/c.rs"),
            started("4", ToolKind::Search, "/w/src/d.rs"),
            started("5", ToolKind::Read, "/w/gone.rs"),
            started("6", ToolKind::Write, "/w/open.rs"),
        ];
        let now = Instant::now();
        loaded.observe(&events, "/w", at(0));
        assert_eq!(loaded.take(now), None);
        loaded.observe(&[ended("1", true), ended("2", true), ended("3", true), ended("4", true), ended("5", false)], "/w", at(5));
        let files = loaded.take(now).unwrap();
        assert!(files.iter().all(|file| file.at == at(5)));
        assert_eq!(paths(Some(files)), ["src/a.rs", "src/b.rs"]);
        loaded.observe(&[RunEvent::TurnStarted {}, ended("6", true)], "/w", at(2_000));
        assert_eq!(loaded.take(now + MIN_PAUSE), None, "the call belongs to a turn that ended");
    }

    #[test]
    fn records_have_a_pause_between_them_and_keep_the_last_time() {
        let (mut loaded, now) = (LoadedFiles::default(), Instant::now());
        loaded.observe(&read("1"), "/w", at(0));
        assert_eq!(paths(loaded.take(now)), ["a.rs"]);
        assert_eq!(loaded.due_at(now), None);
        for (id, milliseconds) in [("2", 100), ("3", 200)] {
            loaded.observe(&read(id), "/w", at(milliseconds));
        }
        assert_eq!((loaded.due_at(now), loaded.take(now)), (Some(now + MIN_PAUSE), None));
        let files = loaded.take(now + MIN_PAUSE).unwrap();
        assert_eq!(files, [LoadedFile { path: "a.rs".to_owned(), at: at(200) }]);
    }
}
