//! The audit log: recording what changed nothing, reading pages of it, and checking its chain.
//!
//! Must not know requests; an act names the tool or the route.

use std::path::Path;

use domain::actor::Actor;
use domain::audit::{AuditCheck, AuditKind, AuditRow};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::text::excerpt;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, Row};

use crate::caller::Caller;
use crate::engine::act::{Act, Named};
use crate::engine::audit::chain;
use crate::engine::audit::waiting::Fact;
use crate::engine::backup::require_database;
use crate::engine::dialect;
use crate::engine::inspect::reject_newer_schema;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;

/// The most rows of a page.
const MAX_PAGE: u32 = 200;
/// How many rows a page reads at most to find those that match.
const MAX_READ: i64 = 5_000;
/// The longest subject, in bytes.
const MAX_SUBJECT: usize = 100;

/// Filters of the audit log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditQuery {
    pub kind: Option<AuditKind>,
    pub actor: Option<Actor>,
    pub project: Option<ProjectId>,
    /// Such as `token:` and the name of the token.
    pub credential: Option<String>,
    /// Only rows before this one.
    pub before: Option<i64>,
    /// Clamped to 1 to 200.
    pub limit: u32,
}

impl Db {
    /// Records that a request of `act` changed nothing: that it was refused, or read what is private to others. The row is written with the
    /// next commit, or after a second.
    pub fn record_fact(&self, kind: AuditKind, act: &Act, caller: Option<&Caller>, subject: Option<&str>, result: &str) {
        let named = Named {
            actor: caller.and_then(Caller::name),
            run: caller.and_then(Caller::run).cloned(),
            project: caller.and_then(Caller::project).cloned(),
        };
        let subject = subject.map(|subject| excerpt(subject, MAX_SUBJECT));
        self.waiting.add(Fact::of_act(kind, act, named, subject, result), crate::now());
    }

    /// Returns a page of the audit log, newest first, and the value of `before` for the next page. A page can be short and still have a next
    /// one, if few of the rows match. Everything that happened before the call is in the log.
    ///
    /// # Errors
    /// When the caller is not the owner, or `before` is not a number of a row.
    pub async fn audit(&self, caller: &Caller, query: &AuditQuery) -> Result<(Vec<AuditRow>, Option<i64>)> {
        caller.require_owner("reading the audit log")?;
        if query.before.is_some_and(|before| before < 1) {
            return Err(Refusal::invalid("before", "it is not the number of a row", "Take it from `next` of the page before.").into());
        }
        self.write_waiting().await?;
        let limit = query.limit.clamp(1, MAX_PAGE);
        let mut connection = self.readers.acquire().await?;
        let before = query.before.unwrap_or(i64::MAX);
        let rows = sqlx::query(AssertSqlSafe(chain::page_sql()))
            .bind(before)
            .bind(MAX_READ)
            .bind(query.kind.map(AuditKind::as_str))
            .bind(query.actor.as_ref().map(Actor::to_string))
            .bind(query.project.as_ref().map(ProjectId::as_str))
            .bind(&query.credential)
            .bind(limit)
            .fetch_all(&mut *connection)
            .await?;
        let items = rows.iter().map(chain::row).collect::<Result<Vec<_>>>()?;
        if items.len() == limit as usize {
            let next = items.last().map(|last| last.id).filter(|last| *last > 1);
            return Ok((items, next));
        }
        // Fewer match than the page holds: the next page starts after the rows that were read.
        let ends = sqlx::query("SELECT anchor_id, head_id FROM audit_chain").fetch_one(&mut *connection).await?;
        let (anchor, head): (i64, i64) = (ends.try_get("anchor_id")?, ends.try_get("head_id")?);
        let read_to = before.min(head + 1).saturating_sub(MAX_READ);
        Ok((items, (read_to > anchor + 1).then_some(read_to)))
    }

    /// Checks the chain of the audit log, as `vibe-relay audit verify` does.
    ///
    /// # Errors
    /// When the caller is not the owner, or the store fails.
    pub async fn check_audit(&self, caller: &Caller) -> Result<AuditCheck> {
        caller.require_owner("checking the audit log")?;
        self.write_waiting().await?;
        let mut connection = self.readers.acquire().await?;
        let mut state = connection.begin().await?;
        chain::check(&mut state, None).await
    }

    /// Commits what waits for the audit log.
    async fn write_waiting(&self) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.write(|tx| {
            tx.skip_event(NoEventReason::NothingChanged);
            Box::pin(async { Ok(()) })
        })
        .await
    }
}

/// Checks the chain of the audit log in a database file, which a server may be writing. `known` is a row with its hash that was noted earlier.
///
/// # Errors
/// When the file is not a database of this program, or cannot be read.
pub async fn verify_audit(path: &Path, known: Option<(i64, &str)>) -> Result<AuditCheck> {
    require_database(path).await?;
    reject_newer_schema(path).await?;
    let mut connection = dialect::inspection_options(path).connect().await?;
    let mut state = connection.begin().await?;
    let check = chain::check(&mut state, known).await?;
    state.rollback().await?;
    connection.close().await?;
    Ok(check)
}
