//! Orders by trigger words: which are active, and how they end. A message gives them.

pub(crate) mod row;
pub(crate) mod write;

use domain::board::attention::Attention;
use domain::id::ProjectId;
use domain::team::agent::EVERYONE;
use domain::time::Timestamp;
use domain::warroom::raid_log::Priority;
use domain::warroom::trigger::refusal::TriggerRefusal;
use domain::warroom::trigger::{Trigger, TriggerEnd, TriggerWord, Triggers};

use crate::board::attention::write as attention;
use crate::board::project::row as projects;
use crate::board::task::row::open_tasks_of;
use crate::caller::Caller;
use crate::consequences::agent_left::{agent_left, name_reclaimed};
use crate::engine::column::optional;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant::row as participant;
use crate::warroom::raid_log::write as raid_log;

/// The orders that ended and are still listed.
const MAX_ENDED: u32 = 20;

/// An order to which an agent owes an answer.
pub(crate) const DUE_ONE: &str = "SELECT t.*, a.left_at, a.last_inbox_check, a.context_at FROM triggers t
  LEFT JOIN agents a ON a.project_id = t.project_id AND a.name = t.target WHERE t.id = $1 AND t.ended_at IS NULL";

impl Db {
    /// Takes an active order back, and tells its agents.
    ///
    /// # Errors
    /// When the caller is not a lead, or no such order is active.
    pub async fn withdraw_trigger(&self, caller: &Caller, project: &ProjectId, word: TriggerWord, target: Option<&str>) -> Result<Trigger> {
        let (project, target) = (project.clone(), target.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("withdrawing orders")?;
                write::require_reach(&participant, word, target.as_deref())?;
                let active = row::one_active(&mut tx.connection, &project, word, target.as_deref()).await?;
                let trigger = active.ok_or(TriggerRefusal::NotActive { word })?;
                write::end(tx, caller, &trigger, TriggerEnd::Withdrawn).await?;
                let to = match word {
                    TriggerWord::Sitrep => trigger.target.as_deref().unwrap_or(EVERYONE),
                    _ => EVERYONE,
                };
                let content = format!("The order {word} is withdrawn.");
                post(tx, caller, OutgoingMessage { project: &project, from: &participant.name, to, content: &content, task: None, reply_to: None })
                    .await?;
                Ok(Trigger { ended_at: Some(tx.now), end: Some(TriggerEnd::Withdrawn), ..trigger })
            })
        })
        .await
    }

    /// Lists the active orders of a project and the last ones that ended.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn triggers(&self, project: &ProjectId) -> Result<Triggers> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let active = row::active(&mut connection, project).await?;
        let ended = sqlx::query(row::ENDED).bind(project.as_str()).bind(MAX_ENDED).fetch_all(&mut *connection).await?;
        let at_work: i64 = sqlx::query_scalar(row::AT_WORK).bind(project.as_str()).fetch_one(&mut *connection).await?;
        Ok(Triggers { active, ended: ended.iter().map(row::trigger_of).collect::<Result<_>>()?, at_work: u32::try_from(at_work).unwrap_or(u32::MAX) })
    }

    /// Removes an agent that did not answer a `sitrep` in time. Its claims pass on and its tasks wait for a person; its knowledge stays.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expire_trigger(&self, id: i64) -> Result<()> {
        self.write(move |tx| {
            Box::pin(async move {
                let found = sqlx::query(DUE_ONE).bind(id).fetch_optional(&mut tx.connection).await?;
                let Some(found) = found else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                let trigger = row::trigger_of(&found)?;
                let left_at: Option<Timestamp> = optional(&found, "left_at")?;
                let checked_at: Option<Timestamp> = optional(&found, "last_inbox_check")?;
                let answered_at = checked_at.max(optional(&found, "context_at")?);
                match &trigger.target {
                    Some(agent) if trigger.due_at.is_some_and(|at| at <= tx.now) => {
                        if left_at.is_some() || answered_at.is_some_and(|at| at >= trigger.given_at) {
                            return write::end(tx, &Caller::Runner, &trigger, TriggerEnd::Done).await;
                        }
                        remove_silent(tx, &trigger, agent).await
                    }
                    _ => {
                        tx.skip_event(NoEventReason::NothingChanged);
                        Ok(())
                    }
                }
            })
        })
        .await
    }
}

/// Lets an agent leave that did not answer, and asks the human about each of its tasks.
async fn remove_silent(tx: &mut Tx, trigger: &Trigger, agent: &str) -> Result<()> {
    let project = &trigger.project_id;
    let tasks = open_tasks_of(tx, project, agent).await?;
    write::end(tx, &Caller::Runner, trigger, TriggerEnd::Unanswered).await?;
    agent_left(tx, &Caller::Runner, project, agent).await?;
    name_reclaimed(tx, project, agent).await?;
    for card in &tasks {
        let removed = Attention::assignee_removed(agent, trigger.given_at);
        attention::request(tx, &Caller::Runner, project, &card.id, removed).await?;
    }
    let entry = format!("{agent} did not answer the order sitrep of {} and was removed. Its tasks are free.", trigger.given_at.clock());
    raid_log::append(tx, &Caller::Runner, project, &entry, Priority::High).await?;
    Ok(())
}
