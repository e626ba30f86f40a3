//! The context that an agent has left: external agents report it, and their report must not be too old when they send.

pub(crate) mod row;

use domain::id::ProjectId;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{Agent, AgentEvent};
use domain::text;
use domain::warroom::context_left::{ContextReport, ContextUse};

use self::row::ReportedContext;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::team::participant::row as participant;

impl Db {
    /// Stores what the caller reports about its own context, and when. Numbers that it omits stay.
    ///
    /// # Errors
    /// When the numbers are impossible, the text is invalid, or the caller is not an external agent of this project.
    pub async fn set_context(&self, caller: &Caller, project: &ProjectId, report: ContextReport) -> Result<Agent> {
        let project = project.clone();
        let name = caller.name().ok_or(AgentRefusal::NotRegistered)?;
        let (own, of) = (name.clone(), project.clone());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let Caller::Agent(_) = caller else { return Err(AgentRefusal::NotRegistered.into()) };
                let context = text::validate_title("context", &report.context)?;
                let before = row::reported(&mut tx.connection, &project, &participant.name).await?;
                let now = report.context_use(before.context_use)?;
                let stored = |count: fn(ContextUse) -> u64| now.and_then(|now| i64::try_from(count(now)).ok());
                sqlx::query(
                    "UPDATE agents SET context = $3, context_tokens = $4, context_limit = $5, context_at = $6 WHERE project_id = $1 AND name = $2",
                )
                .bind(project.as_str())
                .bind(&participant.name)
                .bind(context)
                .bind(stored(ContextUse::used))
                .bind(stored(ContextUse::limit))
                .bind(tx.now.to_string())
                .execute(&mut tx.connection)
                .await?;
                let percent_left = now.map(ContextUse::percent_left);
                tx.record_without_card(caller, &project, None, AgentEvent::ContextReported { agent: participant.name, percent_left });
                Ok(())
            })
        })
        .await?;
        self.agent(&of, &own).await
    }

    /// Returns what the caller last reported about its own context. Callers that are not external agents report nothing.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn reported_context(&self, caller: &Caller) -> Result<ReportedContext> {
        let Caller::Agent(agent) = caller else { return Ok(ReportedContext::default()) };
        row::reported(&mut *self.readers.acquire().await?, &agent.project_id, &agent.name).await
    }
}
