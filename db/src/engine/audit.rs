//! Appends to the audit log: a row for each write in its own transaction, and with it the reads and refusals since the last one.
//!
//! Must not know any noun: a row is derived from the act, the caller and the recorded events.

pub(crate) mod chain;
pub(crate) mod waiting;

use domain::audit::{AuditKind, AuditRow, DONE};
use domain::event::Envelope;
use domain::id::TaskId;
use domain::time::Timestamp;
use sqlx::{Row, SqliteConnection};

use self::waiting::{Happened, Waiting};
use crate::engine::act::Act;
use crate::error::Result;

/// The action of what the server does by itself.
const SERVER: &str = "server";

/// The end of the chain, as the writer knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Head {
    id: i64,
    hash: String,
}

/// Rows that a commit holds.
#[derive(Debug)]
pub(crate) struct Appended {
    head: Head,
    waited: Vec<Happened>,
}

/// The rows that the writer appends with its next commit.
#[derive(Debug)]
pub(crate) struct Audit {
    head: Head,
    /// The writes of the batch that is not committed.
    writes: Vec<AuditRow>,
    pub(crate) waiting: Waiting,
}

impl Audit {
    pub(crate) async fn open(connection: &mut SqliteConnection) -> Result<Self> {
        let row = sqlx::query("SELECT head_id, head_hash FROM audit_chain").fetch_one(connection).await?;
        Ok(Self { head: Head { id: row.try_get("head_id")?, hash: row.try_get("head_hash")? }, writes: Vec::new(), waiting: Waiting::default() })
    }

    /// Adds the row of a use case that recorded these events.
    pub(crate) fn add_write(&mut self, act: Option<&Act>, events: &[Envelope]) {
        let Some(first) = events.first() else { return };
        let mut kinds: Vec<&str> = events.iter().map(|envelope| envelope.event.kind()).collect();
        kinds.sort_unstable();
        kinds.dedup();
        self.writes.push(AuditRow {
            id: 0,
            at: first.at,
            kind: AuditKind::Write,
            credential: act.and_then(|act| act.credential.clone()),
            actor: Some(first.actor.clone()),
            run_id: first.run_id.clone(),
            action: act.map_or_else(|| SERVER.to_owned(), |act| act.action.clone()),
            project_id: first.project_id.clone(),
            subject: first.task_id.as_ref().map(TaskId::to_string),
            result: DONE.to_owned(),
            detail: Some(kinds.join(" ")),
            seq: Some(first.seq),
            count: u32::try_from(events.len()).unwrap_or(u32::MAX),
            hash: String::new(),
        });
    }

    /// Writes the rows of the batch, and everything that waits. The rows count once the batch is committed.
    pub(crate) async fn append(&mut self, connection: &mut SqliteConnection, now: Timestamp) -> Result<Appended> {
        let waited = self.waiting.take();
        let mut rows: Vec<AuditRow> = self.writes.drain(..).chain(waited.iter().map(|happened| happened.row(now))).collect();
        let mut head = self.head.clone();
        for row in &mut rows {
            row.id = head.id + 1;
            row.hash = chain::hash(row, &head.hash);
            head = Head { id: row.id, hash: row.hash.clone() };
        }
        if !rows.is_empty()
            && let Err(error) = chain::insert(connection, &rows).await
        {
            self.waiting.give_back(waited);
            return Err(error);
        }
        Ok(Appended { head, waited })
    }

    /// Forgets the rows of a batch that was not committed, except what waited for it.
    pub(crate) fn undo(&mut self) {
        self.writes.clear();
        self.waiting.postpone();
    }

    pub(crate) fn committed(&mut self, appended: Appended) {
        self.head = appended.head;
    }

    pub(crate) fn lost(&mut self, appended: Appended) {
        self.waiting.give_back(appended.waited);
    }
}
