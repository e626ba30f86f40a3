//! Errors of the store. Must not expose a type of the database library.

use std::path::PathBuf;

use domain::refusal::Refusal;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request is understood and not legal; nothing was changed.
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("{path} is in use by another vibe-relay ({owner}): use that one, end it first, or name another \"db_path\" in the configuration")]
    Locked { path: PathBuf, owner: String },
    #[error(
        "the database {path} was written by a newer vibe-relay (schema {found}, this one knows {known}) and was not touched: run that version, \
         or name another \"db_path\" in the configuration"
    )]
    NewerSchema { path: PathBuf, found: i64, known: i64 },
    #[error(
        "the database {path} was made by a vibe-relay from before the first release, which this one cannot read, and was not touched: move the \
         file away to start with an empty board, or name another \"db_path\" in the configuration"
    )]
    OldDatabase { path: PathBuf },
    #[error(
        "{path} belongs to another program and was not touched: name a file of vibe-relay's own, as \"db_path\" in vibe-relay.config.json \
         or, for vibe-relay mcp, in VIBE_RELAY_DB; that overrides DEAD_DROP_DB_PATH"
    )]
    NotOurDatabase { path: PathBuf },
    #[error("{path} is a folder, not a database: set \"db_path\" to a file, such as {path}/vibe-relay.db")]
    Folder { path: PathBuf },
    #[error("SQLite {found} has a bug that can corrupt the database; {needed} or newer is needed")]
    OldSqlite { found: String, needed: &'static str },
    #[error("{path} is damaged ({problems}); use another copy")]
    Damaged { path: PathBuf, problems: String },
    #[error(
        "{path} must be migrated to the schema of this version, but the backup before that failed, so it was not touched: make space beside \
         the database, or start the version that you used before"
    )]
    NoBackup { path: PathBuf, source: Box<Error> },
    #[error("could not {attempted}")]
    File { attempted: String, source: std::io::Error },
    #[error("the disk of the database is full")]
    DiskFull,
    #[error("the store failed")]
    Storage(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// A row holds what this program never writes.
    #[error("the store holds something unreadable: {0}")]
    Unreadable(String),
    /// A use-case changed something and recorded nothing: a defect of this program, stopped before it reached the disk.
    #[error("a change without an event was not committed")]
    NoEvent,
    #[error("the store is shut")]
    Closed,
}

impl Error {
    /// The failure of a commit, for one of the use cases that it contained.
    pub(crate) fn of_commit(&self) -> Self {
        match self {
            Self::DiskFull => Self::DiskFull,
            other => {
                let cause = std::error::Error::source(other).map(|cause| format!(": {cause}")).unwrap_or_default();
                Self::Storage(format!("{other}{cause}").into())
            }
        }
    }
}

domain::from_refusals!(Error);

impl From<serde_json::Error> for Error {
    fn from(error: serde_json::Error) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<domain::team::agent::NameError> for Error {
    fn from(error: domain::team::agent::NameError) -> Self {
        Refusal::from(error).into()
    }
}

impl From<domain::id::InvalidId> for Error {
    fn from(error: domain::id::InvalidId) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<std::num::ParseIntError> for Error {
    fn from(error: std::num::ParseIntError) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<domain::time::InvalidTime> for Error {
    fn from(error: domain::time::InvalidTime) -> Self {
        Self::Unreadable(error.to_string())
    }
}

impl From<domain::UnknownValue> for Error {
    fn from(error: domain::UnknownValue) -> Self {
        Self::Unreadable(error.to_string())
    }
}
