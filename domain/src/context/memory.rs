//! Memory: values that agents keep under a key beyond a run.
//!
//! An entry belongs to the lasting identity of an agent, so that its successors find it. Must not know how entries are stored.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::context::metadata::Metadata;
use crate::context::reader::Reader;
use crate::context::session::ContextSessionId;
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::runs::agent_kind::AgentKind;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The maximum length of a key, in characters.
pub const MAX_KEY: usize = 255;
/// The maximum size of a value as JSON, in bytes.
pub const MAX_VALUE_BYTES: usize = 64 * 1024;
/// The maximum number of entries of one owner.
pub const MAX_ENTRIES: u32 = 1_000;
/// The longest time until an entry expires.
pub const MAX_EXPIRY: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The default and the maximum number of entries in one list.
pub const DEFAULT_LISTED: u32 = 50;
pub const MAX_LISTED: u32 = 200;

vocabulary! {
    /// Where an entry counts.
    MemoryScope, "scope" {
        /// Wherever its owner works.
        Global = "global",
        /// In one session.
        Session = "session",
        /// On one task of a managed agent.
        Task = "task",
    }
}

/// The owner of entries: the agents of one kind in a project, an external agent, or a person.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct MemoryOwner {
    /// Its project. A person has none.
    pub project: Option<ProjectId>,
    pub key: String,
}

impl MemoryOwner {
    /// Returns the owner that `reader` is. Agents of one kind share it, and no reader is two owners.
    pub fn of_reader(reader: &Reader) -> Self {
        let key = match reader {
            Reader::Run { kind, .. } => format!("kind:{kind}"),
            Reader::Agent { .. } | Reader::Person { .. } => reader.identity_key(),
        };
        Self { project: reader.project().cloned(), key }
    }

    /// Returns the kind of managed agents that owns entries with `key`.
    pub fn kind_of(key: &str) -> Option<AgentKind> {
        key.strip_prefix("kind:").and_then(|kind| kind.parse().ok())
    }

    /// Returns the name of the owner of entries with `key`: a kind of managed agents, or the name of a participant.
    pub fn name_of(key: &str) -> &str {
        key.split_once(':').map_or(key, |(_, name)| name)
    }
}

/// The place of an entry among those of its owner.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemoryPlace {
    pub session: Option<ContextSessionId>,
    pub task: Option<TaskId>,
}

impl MemoryPlace {
    /// Returns where `reader` stores an entry. A coder keeps it for its task, because other coders work at the same time; agents of the
    /// other kinds keep it for the project.
    ///
    /// # Errors
    /// The scope does not fit: a session scope without a session, or a task scope of an agent that has no task.
    pub fn for_writing(reader: &Reader, scope: Option<MemoryScope>, session: Option<ContextSessionId>) -> Result<Self, GeneralRefusal> {
        let own_task = match reader {
            Reader::Run { task, .. } => Some(task.clone()),
            Reader::Agent { .. } | Reader::Person { .. } => None,
        };
        let is_coder = matches!(reader, Reader::Run { kind: AgentKind::Coder, .. });
        let invalid = |problem: &str, hint: &str| Err(GeneralRefusal::invalid("scope", problem, hint));
        match (scope, session) {
            (Some(MemoryScope::Session) | None, Some(session)) => Ok(Self { session: Some(session), task: None }),
            (Some(_), Some(_)) => invalid("it contradicts session_id", "Omit the scope, or the session_id."),
            (Some(MemoryScope::Session), None) => invalid("session requires a session", "Name it in session_id."),
            (Some(MemoryScope::Task), None) if own_task.is_none() => invalid("task requires a task of your own", "Omit the scope."),
            (Some(MemoryScope::Task), None) => Ok(Self { session: None, task: own_task }),
            (None, None) if is_coder => Ok(Self { session: None, task: own_task }),
            (Some(MemoryScope::Global) | None, None) => Ok(Self::default()),
        }
    }

    /// Returns the places in which `reader` finds an entry, the first one first.
    pub fn for_reading(reader: &Reader, session: Option<ContextSessionId>) -> Vec<Self> {
        match (reader, session) {
            (_, Some(session)) => vec![Self { session: Some(session), task: None }],
            (Reader::Run { task, .. }, None) => vec![Self { session: None, task: Some(task.clone()) }, Self::default()],
            (Reader::Agent { .. } | Reader::Person { .. }, None) => vec![Self::default()],
        }
    }

    pub const fn scope(&self) -> MemoryScope {
        match self {
            Self { session: Some(_), .. } => MemoryScope::Session,
            Self { task: Some(_), .. } => MemoryScope::Task,
            Self { session: None, task: None } => MemoryScope::Global,
        }
    }
}

/// An entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct MemoryEntry {
    pub key: String,
    pub value: Value,
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    pub scope: MemoryScope,
    pub session_id: Option<ContextSessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub expires_at: Option<Timestamp>,
}

/// Returns the text of a value that a search compares: a plain text as it is, anything else as JSON.
pub fn searchable_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

impl MemoryEntry {
    /// Returns the entry without its value.
    pub fn into_summary(self) -> MemorySummary {
        let value_size = u32::try_from(self.value.to_string().len()).unwrap_or(u32::MAX);
        let Self { key, scope, session_id, task_id, created_at, updated_at, expires_at, .. } = self;
        MemorySummary { key, scope, session_id, task_id, created_at, updated_at, expires_at, value_size }
    }
}

/// An entry in a list, without its value.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct MemorySummary {
    pub key: String,
    pub scope: MemoryScope,
    pub session_id: Option<ContextSessionId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    /// The size of the value as JSON, in bytes.
    pub value_size: u32,
}

/// An entry, with or without its value, as the owner of the board sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OwnedMemory<T> {
    pub id: i64,
    /// The kind of managed agents that owns it.
    pub kind: Option<AgentKind>,
    /// The name of its owner: that kind, or a participant.
    pub owner: String,
    pub entry: T,
}

/// A change of an entry by the owner of the board.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MemoryPatch {
    pub value: Value,
    /// In seconds from now. 0 removes the expiry; without it, the expiry stays.
    #[serde(default)]
    pub expires_in: Option<i64>,
    /// When the entry was last changed, as it was read. One that changed since then is not replaced.
    #[serde(default)]
    pub unchanged_since: Option<Timestamp>,
}

/// The arguments for an entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMemoryEntry {
    pub key: String,
    pub value: Value,
    #[serde(default)]
    pub session_id: Option<ContextSessionId>,
    #[serde(default)]
    pub scope: Option<MemoryScope>,
    /// In seconds. Without it, or with 0, the entry stays.
    #[serde(default)]
    pub expires_in: Option<i64>,
    #[serde(default)]
    #[schema(value_type = Object)]
    pub metadata: Metadata,
    /// Whether an entry with the same key is replaced.
    #[serde(default = "overwrites")]
    pub overwrite: bool,
}

const fn overwrites() -> bool {
    true
}

/// Returns a key without surrounding white space.
///
/// # Errors
/// It is empty or too long, or contains white space or a control character.
pub fn validate_key(given: &str) -> Result<String, GeneralRefusal> {
    let key = given.trim();
    let invalid = |problem: String, hint: &str| Err(GeneralRefusal::invalid("key", problem, hint));
    if key.is_empty() {
        return invalid("it is empty".to_owned(), "Choose a name such as build.command.");
    }
    let length = key.chars().count();
    if length > MAX_KEY {
        return invalid(format!("it has {length} characters, more than the {MAX_KEY} allowed"), "Shorten it, and put details into the value.");
    }
    if key.chars().any(|letter| letter.is_control() || letter.is_whitespace()) {
        return invalid("it contains white space or a control character".to_owned(), "Join its words with dots or underscores.");
    }
    Ok(key.to_owned())
}

/// Returns when an entry expires that is stored now.
///
/// # Errors
/// The time is negative, or more than a year.
pub fn validate_expiry(seconds: Option<i64>, now: Timestamp) -> Result<Option<Timestamp>, GeneralRefusal> {
    let span = match seconds {
        None | Some(0) => return Ok(None),
        Some(seconds) => u64::try_from(seconds).ok().map(Duration::from_secs).filter(|span| *span <= MAX_EXPIRY),
    };
    match span {
        Some(span) => Ok(Some(now.after(span))),
        None => Err(GeneralRefusal::invalid(
            "expires_in",
            format!("{} is not between 0 and {} seconds", seconds.unwrap_or_default(), MAX_EXPIRY.as_secs()),
            "Give the seconds from now, at most a year, or omit it.",
        )),
    }
}

events! {
    /// A change of the memory of an agent. It never contains a value.
    MemoryEvent {
        Set "memory_set" { key: String, scope: MemoryScope, owner: String, task: Option<TaskId> }
        Deleted "memory_deleted" { key: String, scope: MemoryScope, owner: String, task: Option<TaskId> }
    }
}

impl MemoryEvent {
    /// Whether the event, which happened in `project`, changes what `reader` finds in its memory.
    pub fn concerns(&self, project: Option<&ProjectId>, reader: &Reader) -> bool {
        let (Self::Set { owner, task, .. } | Self::Deleted { owner, task, .. }) = self;
        let own = MemoryOwner::of_reader(reader);
        let has_place = |task| match reader {
            Reader::Run { task: own, .. } => own == task,
            Reader::Agent { .. } | Reader::Person { .. } => false,
        };
        own.key == *owner && own.project.as_ref() == project && task.as_ref().is_none_or(has_place)
    }
}

refusals! {
    /// Why an entry cannot be stored or read.
    MemoryRefusal {
        #[error("an entry with the key {key} exists")]
        Exists { key: String } => Conflict "memory-exists",
        #[error("no entry has the key {key}")]
        Missing { key: String } => NotFound "not-found",
        #[error("the memory is full: it has {entries} entries")]
        Full { entries: u32 } => Conflict "memory-full",
        #[error("the entry {key} was changed since you read it")]
        Changed { key: String } => Conflict "memory-changed",
    }
}

impl MemoryRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Exists { .. } => "Read it with get_memory, choose another key, or call set_memory with overwrite.".to_owned(),
            Self::Missing { .. } => "Call list_memory to see your keys.".to_owned(),
            Self::Changed { .. } => "Read it again, then repeat your change.".to_owned(),
            Self::Full { .. } => "Delete entries that nobody needs with delete_memory, or replace one.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
