//! Assigns tasks to external agents, and the hats in which they work on them.

use domain::board::card::Card;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::team::role::Role;

use crate::board::task::gate::{finish_change, load_for_participant};
use crate::board::task::row::wrong_status;
use crate::board::task::write::assign::{assign_by_lead, assignee, require_role, unassign};
use crate::board::task::write::notice::{notice_text, post_notice};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::row as agents;
use crate::team::hat::write as hat;
use crate::team::participant::row::Participant;

impl Db {
    /// Assigns an open task to an external agent, so that the runner starts none for it, or unassigns it. An unassigned task is held until
    /// the human starts it. Both fence a live run of the task.
    ///
    /// # Errors
    /// When the caller is not a lead, no active external agent has this name, or the agent may not have the hat.
    pub async fn assign_task(&self, caller: &Caller, id: &TaskId, to: Option<String>, hat: Option<Role>) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                match to {
                    Some(name) => {
                        let to = assignee(tx, &task.card.project_id, &participant.name, &name).await?;
                        assign_by_lead(tx, caller, &participant, &task.card, &to, hat).await?;
                    }
                    None => unassign_by_lead(tx, caller, &participant, &task.card).await?,
                }
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Sets the role in which the assignee works on a task.
    ///
    /// # Errors
    /// When the caller is not a lead, the task has no assignee, or the assignee does not have the role or may not take it in this project.
    pub async fn assign_role_hat(&self, caller: &Caller, id: &TaskId, role: Role) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                participant.require_lead("assigning hats")?;
                let card = &task.card;
                let Some(name) = &card.contributors.assigned_to else {
                    return Err(wrong_status(card, "it has no assignee", "Assign it first, with update_task and assigned_to.").into());
                };
                let agent = agents::read(&mut tx.connection, &card.project_id, name).await?.ok_or_else(|| Refusal::not_found("agent", name))?;
                require_role(&agent, role)?;
                hat::assign(tx, caller, &card.project_id, &card.id, name, role).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}

/// Unassigns an open task. Its contributors stay recorded as builders.
async fn unassign_by_lead(tx: &mut Tx, caller: &Caller, participant: &Participant, card: &Card) -> Result<()> {
    caller.require_person("unassigning tasks")?;
    let Some(before) = &card.contributors.assigned_to else {
        tx.skip_event(NoEventReason::NothingChanged);
        return Ok(());
    };
    if !card.status.is_open() {
        return Err(wrong_status(card, "a finished task cannot be unassigned", "Move it back to in_progress first.").into());
    }
    unassign(tx, caller, card, before).await?;
    post_notice(tx, caller, card, &participant.name, before, &notice_text("UNASSIGNED", card, None)).await
}
