//! The store: the only writer of the database. It stores only legal states.
//!
//! Each public function is one use case: its check, its rows and its events in one transaction. Callers pass facts about a repository as
//! evidence. Must not read a repository, start a program, or know how a request arrived.
//!
//! A file belongs to the layer that its path names. It depends only on its own layer and those above it in this list, never in a cycle:
//!
//! 1. `engine/`, with `caller.rs` and `error.rs`: the writer, transactions and the event log. Knows no noun.
//! 2. `row.rs` and `row/` of a noun: read rows.
//! 3. `write.rs` and `write/` of a noun: write rows with their events. `team/message`, `team/token` and `team/browser_session` are writes as
//!    a whole, because other nouns use them and they have no consequences.
//! 4. `consequences/`: what follows from what, one file for each cause.
//! 5. All other files: use cases. They depend on no use case of another noun.
//!
//! A row or a write that only one use case needs may stay in its file.

#![forbid(unsafe_code)]

mod board;
mod caller;
mod consequences;
mod context;
mod engine;
mod error;
mod figures;
mod open;
mod replay;
mod retention;
mod runs;
mod team;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod warroom;

pub use board::activity::ActivityQuery;
pub use board::card::CardFilter;
pub use board::plan::PlanFacts;
pub use board::review_round::ReviewFacts;
pub use board::search::SearchQuery;
pub use board::task::write::change::MoveRequest;
pub use caller::{AgentCaller, Caller, Holder, InviteCaller, PersonCaller, RunCaller};
pub use context::memory::MemoryListQuery;
pub use context::session::SessionListQuery;
pub use context::session::message::SessionMessageQuery;
pub use context::session::search::SessionSearchQuery;
pub use engine::act::{Act, token_name};
pub use engine::backup::backup;
pub use engine::inspect::inspect_database;
pub use engine::lock::Lock;
pub use engine::open::Db;
pub use engine::presence::ConnectionGuard;
pub use engine::restore::{Restored, restore};
pub use error::{Error, Result};
pub use figures::Figures;
pub use retention::{Pruned, RetentionLimits};
pub use runs::base::BaseMerge;
pub use runs::branch::BranchRecord;
pub use runs::check::write::NewCheckResult;
pub use runs::checkout::LeftCheckout;
pub use runs::folder::{RecordedCheckouts, RunFolder, recorded_checkouts};
pub use runs::land::LandingFacts;
pub use runs::land::write::MergedPullRequest;
pub use runs::limit::LimitSubject;
pub use runs::merge::MergedTask;
pub use runs::pause::row::Pause;
pub use runs::permission::write::{NewPermission, PermissionDelivery};
pub use runs::preview::LivePreview;
pub use runs::process::{RunProcess, ShimProcess};
pub use runs::reference::{RecordedReferences, recorded_references};
pub use runs::rescue::ExpiredRescue;
pub use runs::run::{NewRun, ReservedRun, RunEnd, RunMessage};
pub use runs::snapshot::{AssigneePresence, LimitState, ReferencedTask, Snapshot, TaskSnapshot};
pub use runs::usage::Spending;
pub use team::agent::RegistrationResult;
pub use team::audit::{AuditQuery, verify_audit};
pub use team::feature::FeaturesInUse;
pub use team::message::history::HistoryQuery;
pub use team::message::row::AcknowledgedMessage;
pub use team::message::send::Sent;
pub use team::token::change::RefreshedToken;
pub use team::token::new_token;
pub use team::webhook::{NextNotification, WebhookProgress};
pub use warroom::agent_activity::AgentFiles;
pub use warroom::battle_plan::BattlePlanQuery;
pub use warroom::context_left::row::ReportedContext;
pub use warroom::knowledge::{KnowledgeQuery, KnowledgeRead};
pub use warroom::oracle::{Asked, OracleProgress};
pub use warroom::raid_log::RaidLogQuery;

use domain::time::Timestamp;

/// Returns the time. The whole product uses this clock.
pub fn now() -> Timestamp {
    #[cfg(any(test, feature = "testing"))]
    if let Some(time) = testing::time() {
        return time;
    }
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_milliseconds(i64::try_from(since_epoch.as_millis()).unwrap_or_default())
}

/// Returns the milliseconds that this machine was running since its start. Time in which it was suspended does not count, and every process
/// sees the same clock.
pub fn uptime() -> i64 {
    let time = nix::time::clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC);
    time.map_or(0, |time| time.tv_sec().saturating_mul(1000).saturating_add(time.tv_nsec() / 1_000_000))
}

/// Returns a new random UUID.
pub fn new_uuid() -> String {
    uuid::Uuid::new_v4().to_string()
}

#[cfg(test)]
mod tests;
