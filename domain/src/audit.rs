//! The audit log: who did something, with which credential, and what was refused. Rows are chained by their hashes.
//!
//! Must not know how rows are stored or hashed; it decides which text a hash covers.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::event::Seq;
use crate::id::{ProjectId, RunId};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The result of a row whose act was carried out.
pub const DONE: &str = "ok";

vocabulary! {
    /// The kind of a row of the audit log.
    AuditKind, "kind of audit row" {
        /// A change. The row was committed together with it.
        Write = "write",
        /// Someone with the permission read what is private to others.
        Read = "read",
        /// A request of a known caller that was refused.
        Refusal = "refusal",
        /// A request without a valid credential.
        Authentication = "authentication",
    }
}

/// A row of the audit log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditRow {
    /// Numbered from 1 without gaps.
    pub id: i64,
    pub at: Timestamp,
    pub kind: AuditKind,
    /// The credential: `token:` or `browser:`, and the start of its hash. None for the server itself.
    pub credential: Option<String>,
    /// None for a caller without a name.
    pub actor: Option<Actor>,
    pub run_id: Option<RunId>,
    /// The tool or the route; `server` for what the server did by itself.
    pub action: String,
    pub project_id: Option<ProjectId>,
    /// The thing that it was about: a task, or what the request named.
    pub subject: Option<String>,
    /// `ok`, or the code of the refusal.
    pub result: String,
    /// For a write, the kinds of its events.
    pub detail: Option<String>,
    /// For a write, the number of its first event.
    pub seq: Option<Seq>,
    /// For a write, the number of its events; otherwise how often the same happened within a moment.
    pub count: u32,
    /// The SHA-256 of the hash of the row before, a line break, and the other fields as a JSON array.
    pub hash: String,
}

impl AuditRow {
    /// Returns the text that the hash covers, after the hash of the row before.
    pub fn hashed_text(&self, before: &str) -> String {
        let fields = serde_json::json!([
            self.id,
            self.at,
            self.kind,
            self.credential,
            self.actor,
            self.run_id,
            self.action,
            self.project_id,
            self.subject,
            self.result,
            self.detail,
            self.seq,
            self.count
        ]);
        format!("{before}\n{fields}")
    }
}

/// The result of checking the chain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AuditCheck {
    /// The number of rows that were checked.
    pub rows: u64,
    /// The last row that retention removed, or 0.
    pub anchor: i64,
    /// The newest row and its hash. A copy of the two that is kept elsewhere proves later that nothing before was changed.
    pub head: i64,
    pub head_hash: String,
    /// The first row that does not fit, if there is one.
    pub broken: Option<BrokenRow>,
}

/// The first row of the audit log that does not fit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BrokenRow {
    pub id: i64,
    pub problem: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_covers_every_field_and_the_row_before() {
        let row = AuditRow {
            id: 7,
            at: Timestamp::from_milliseconds(1_000),
            kind: AuditKind::Write,
            credential: Some("token:0123456789ab".to_owned()),
            actor: Some(Actor::from("coder-TASK-001".to_owned())),
            run_id: Some(RunId::new(3)),
            action: "add_comment".to_owned(),
            project_id: Some(ProjectId::new(1)),
            subject: Some("TASK-001".to_owned()),
            result: DONE.to_owned(),
            detail: Some("comment_added".to_owned()),
            seq: Some(12),
            count: 1,
            hash: "not part of it".to_owned(),
        };
        assert_eq!(
            row.hashed_text("abc"),
            "abc\n[7,\"1970-01-01T00:00:01.000Z\",\"write\",\"token:0123456789ab\",\"coder-TASK-001\",\"RUN-003\",\"add_comment\",\"PROJ-001\",\
             \"TASK-001\",\"ok\",\"comment_added\",12,1]"
        );
    }
}
