//! The store: the only writer of the database, and it remembers only legal things.
//!
//! Each public function is one whole use-case: guard, rows and event in one transaction. What must be known about a repository is
//! handed in as evidence; nothing here reads a repository, starts a program, or knows how a request arrived.

#![forbid(unsafe_code)]

mod board;
mod caller;
mod consequences;
mod engine;
mod error;
mod replay;
mod retention;
mod runs;
mod team;

pub use board::card::CardFilter;
pub use board::task::MoveRequest;
pub use caller::{AgentCaller, Caller, InviteCaller, PersonCaller, RunCaller};
pub use engine::open::Db;
pub use error::{Error, Result};
pub use retention::{Pruned, RetentionLimits};
pub use runs::branch::BranchRecord;
pub use runs::folder::RunFolder;
pub use runs::run::{NewRun, ReservedRun, RunEnd, RunMessage};
pub use runs::snapshot::{AssigneePresence, ReferencedTask, Snapshot, TaskSnapshot};
pub use team::agent::RegistrationResult;
pub use team::message::{AcknowledgedMessage, HistoryQuery, Sent};
pub use team::presence::ConnectionGuard;
pub use team::token::new_token;

use domain::time::Timestamp;

/// The clock of the whole product.
pub fn now() -> Timestamp {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(i64::try_from(since_epoch.as_millis()).unwrap_or_default())
}

/// A fresh random UUID.
pub fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests;
