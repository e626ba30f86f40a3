//! The session file of a scripted agent, beside the scenario: one JSON line per entry, from which a later process can resume the session.
//! Must not know the scenario.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use uuid::Uuid;

use super::player::{Conversation, Entry};

/// The result of a tool call that was running when its agent was killed, in Claude Code's words.
const INTERRUPTED: &str = "[Tool call interrupted: the agent ended before the call returned; its outcome is unknown]";

/// An open session.
#[derive(Debug)]
pub(super) struct Session {
    path: PathBuf,
    conversation: Conversation,
    /// Opened with the first entry, so a session without a prompt leaves no file.
    file: Option<File>,
}

/// The reason why a session cannot be opened or continued.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionError {
    #[error("No conversation found with session ID: {0}")]
    Unknown(Uuid),
    #[error("Session ID {0} is already in use.")]
    InUse(Uuid),
    #[error("the session file {} could not be {action}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("the session file {} is damaged at line {line}: remove it and start a new session", path.display())]
    Damaged { path: PathBuf, line: usize, source: serde_json::Error },
}

/// The folder of a scenario's sessions: `{scenario}.sessions`.
pub(super) fn folder(scenario: &Path) -> PathBuf {
    let mut name = scenario.as_os_str().to_owned();
    name.push(".sessions");
    PathBuf::from(name)
}

impl Session {
    /// Creates a session.
    ///
    /// # Errors
    /// The id is already in use.
    pub(super) fn create(folder: &Path, id: Uuid) -> Result<Self, SessionError> {
        let path = file_path(folder, id);
        if path.exists() {
            return Err(SessionError::InUse(id));
        }
        Ok(Self { path, conversation: Conversation::default(), file: None })
    }

    /// Opens an existing session. Interrupted calls get a result that says so.
    ///
    /// # Errors
    /// No session has this id, or its file cannot be read.
    pub(super) fn resume(folder: &Path, id: Uuid) -> Result<Self, SessionError> {
        let path = file_path(folder, id);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(SessionError::Unknown(id)),
            Err(source) => return Err(SessionError::File { action: "read", path, source }),
        };
        let read = |(index, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|source| SessionError::Damaged { path: path.clone(), line: index + 1, source })
        };
        let entries = text.lines().enumerate().map(read).collect::<Result<Vec<Entry>, _>>()?;
        let mut session = Self { path, conversation: Conversation { entries }, file: None };
        for id in session.open_calls() {
            session.append(Entry::Result { id, text: INTERRUPTED.to_owned(), is_error: true })?;
        }
        Ok(session)
    }

    pub(super) fn conversation(&self) -> &Conversation {
        &self.conversation
    }

    /// Adds an entry, which is in the file when this returns.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn append(&mut self, entry: Entry) -> Result<(), SessionError> {
        let failed = |source| SessionError::File { action: "written", path: self.path.clone(), source };
        let mut line = serde_json::to_string(&entry).map_err(io::Error::from).map_err(failed)?;
        line.push('\n');
        let file = match &mut self.file {
            Some(file) => file,
            empty => empty.insert(open(&self.path).map_err(failed)?),
        };
        file.write_all(line.as_bytes()).map_err(failed)?;
        self.conversation.entries.push(entry);
        Ok(())
    }

    /// The size of the conversation in characters.
    pub(super) fn characters(&self) -> usize {
        let size = |entry: &Entry| match entry {
            Entry::Human { text } | Entry::Steering { text } | Entry::Result { text, .. } => text.len(),
            Entry::Assistant { text, calls } => {
                text.len() + calls.iter().map(|call| Value::Object(call.input.clone()).to_string().len()).sum::<usize>()
            }
        };
        self.conversation.entries.iter().map(size).sum()
    }

    fn open_calls(&self) -> Vec<String> {
        let mut open: Vec<String> = Vec::new();
        for entry in &self.conversation.entries {
            match entry {
                Entry::Assistant { calls, .. } => open.extend(calls.iter().map(|call| call.id.clone())),
                Entry::Result { id, .. } => open.retain(|waiting| waiting != id),
                Entry::Human { .. } | Entry::Steering { .. } => {}
            }
        }
        open
    }
}

fn file_path(folder: &Path, id: Uuid) -> PathBuf {
    folder.join(format!("{id}.jsonl"))
}

fn open(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    OpenOptions::new().create(true).append(true).open(path)
}

/// Counts a failure of a part for a task, across sessions, and returns the number of earlier ones.
///
/// # Errors
/// The failure counts cannot be read or written.
pub(super) fn count_failure(folder: &Path, part: usize, task: &str) -> Result<u32, SessionError> {
    let path = folder.join("failures");
    let count = || -> io::Result<u32> {
        let key = format!("{part} {task}");
        let mut file = open(&path)?;
        let before = std::fs::read_to_string(&path)?.lines().filter(|line| *line == key).count();
        writeln!(file, "{key}")?;
        Ok(u32::try_from(before).unwrap_or(u32::MAX))
    };
    count().map_err(|source| SessionError::File { action: "written", path: path.clone(), source })
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::scripted::player::Called;

    #[test]
    fn resumed_session_completes_interrupted_calls() {
        let folder = tempfile::tempdir().unwrap();
        let id = Uuid::new_v4();
        assert!(matches!(Session::resume(folder.path(), id), Err(SessionError::Unknown(_))));
        let mut session = Session::create(folder.path(), id).unwrap();
        let call = Called { id: "toolu_1".to_owned(), tool: "Bash".to_owned(), input: Map::new() };
        session.append(Entry::Human { text: "go".to_owned() }).unwrap();
        session.append(Entry::Assistant { text: String::new(), calls: vec![call] }).unwrap();
        assert!(matches!(Session::create(folder.path(), id), Err(SessionError::InUse(_))));

        // The agent is killed during the call.
        drop(session);
        let resumed = Session::resume(folder.path(), id).unwrap();
        let last = resumed.conversation().entries.last();
        assert!(matches!(last, Some(Entry::Result { id, is_error: true, .. }) if id == "toolu_1"), "{last:?}");
        assert_eq!(Session::resume(folder.path(), id).unwrap().conversation(), resumed.conversation());
        insta::assert_snapshot!(std::fs::read_to_string(file_path(folder.path(), id)).unwrap(), @r#"
        {"said":"human","text":"go"}
        {"said":"assistant","text":"","calls":[{"id":"toolu_1","tool":"Bash","input":{}}]}
        {"said":"result","id":"toolu_1","text":"[Tool call interrupted: the agent ended before the call returned; its outcome is unknown]","is_error":true}
        "#);
    }

    #[test]
    fn failures_are_counted_by_part_and_task() {
        let folder = tempfile::tempdir().unwrap();
        let count = |part, task| count_failure(folder.path(), part, task).unwrap();
        assert_eq!([count(1, "TASK-2"), count(1, "TASK-2"), count(1, "TASK-3"), count(2, "TASK-2")], [0, 1, 0, 0]);
    }
}
