//! The store: the only writer of the database, and it remembers only legal things.
//!
//! Each public function is one whole use-case: guard, rows and event in one transaction. What must be known about a repository is
//! handed in as evidence; nothing here reads a repository, starts a program, or knows how a request arrived.

#![forbid(unsafe_code)]

mod agent;
mod board;
mod branch;
mod caller;
mod comment;
mod contract;
mod depend;
mod error;
mod feed;
mod goal;
mod hand;
mod handshake;
mod hat;
mod lock;
mod merge;
mod message;
mod once;
mod open;
mod park;
mod plan;
mod presence;
mod project;
mod question;
mod reference;
mod run;
mod spawn;
mod state;
mod task;
mod token;
mod tx;
mod voice;
mod writer;

pub use agent::Registered;
pub use branch::BranchRecord;
pub use caller::{AgentCaller, Caller, RoomCaller, RunCaller};
pub use error::{Error, Result};
pub use message::{Confirmed, HistoryQuery, Sent};
pub use open::Db;
pub use presence::Connected;
pub use run::{NewRun, Reserved, RunEnd, RunMessage};
pub use state::{Assignee, ReferencedTask, State, TaskState};
pub use task::Move;
pub use token::new_token;

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
