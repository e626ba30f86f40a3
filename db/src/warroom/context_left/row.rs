//! Reads what external agents reported about their own context. Must not change anything.

use domain::id::ProjectId;
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::class::AgentClass;
use domain::warroom::class::refusal::ClassRefusal;
use domain::warroom::context_left::{ContextUse, LastReport};
use domain::warroom::transport::Transport;
use sqlx::{Row, SqliteConnection};

use crate::caller::Caller;
use crate::engine::column::optional;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::context_use;

/// The last report of an external agent about its own context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReportedContext {
    pub context_use: Option<ContextUse>,
    pub last_report: Option<LastReport>,
    /// None before it registered.
    pub transport: Option<Transport>,
}

/// The one statement of [`reported`].
pub(crate) const REPORTED: &str = "SELECT roles, class, transport, context_tokens, context_limit, context_at FROM agents
    WHERE project_id = $1 AND name = $2 AND left_at IS NULL AND run_id IS NULL";

pub(crate) async fn reported(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<ReportedContext> {
    let row = sqlx::query(REPORTED).bind(project.as_str()).bind(name).fetch_optional(connection).await?;
    let Some(row) = row else { return Ok(ReportedContext::default()) };
    let roles: Vec<Role> = serde_json::from_str(row.try_get("roles")?)?;
    let class = AgentClass::of_external(optional(&row, "class")?, &roles);
    let at: Option<Timestamp> = optional(&row, "context_at")?;
    Ok(ReportedContext {
        context_use: context_use(&row, "context_tokens", "context_limit")?,
        last_report: at.map(|at| LastReport { class, at }),
        transport: optional(&row, "transport")?,
    })
}

/// Refuses an external agent that reports its context, and whose last report is older than its class allows.
pub(crate) async fn require_fresh_report(tx: &mut Tx, caller: &Caller) -> Result<()> {
    let Caller::Agent(agent) = caller else { return Ok(()) };
    let now = tx.now;
    let reported = reported(&mut tx.connection, &agent.project_id, &agent.name).await?;
    let checked: Result<(), ClassRefusal> = reported.last_report.map_or(Ok(()), |report| report.require_fresh(now));
    Ok(checked?)
}
