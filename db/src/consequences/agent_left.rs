//! An agent leaves: its minions fail, its claims pass on, handshakes stop waiting for it, and its open tasks need attention or another assignee.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::agent::{AgentEvent, is_managed_name};
use domain::warroom::claim::ReleaseReason;

use crate::board::attention::write as attention;
use crate::board::task::row::open_tasks_of;
use crate::board::task::write::assign::unassign;
use crate::caller::Caller;
use crate::consequences::task_changed::tasks_changed;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::write as agent;
use crate::team::handshake::write as handshake;
use crate::team::message::run_end;
use crate::team::minion::write as minion;
use crate::warroom::claim::write as claim;

/// Marks an agent as gone, ends its handshakes and minions, and flags its open tasks for attention.
pub(crate) async fn agent_left(tx: &mut Tx, caller: &Caller, project: &ProjectId, name: &str) -> Result<()> {
    agent::mark_left(tx, project, name).await?;
    tx.record_without_card(caller, project, None, AgentEvent::Left { agent: name.to_owned() });
    minion::fail_minions_of_agent(tx, project, name).await?;
    handshake::drop_departed_target(tx, project, name).await?;
    let reason = if is_managed_name(name) { ReleaseReason::Finished } else { ReleaseReason::Left };
    claim::release_all(tx, caller, project, name, reason).await?;
    flag_open_tasks(tx, project, name).await
}

/// Lets the managed agents of a finished task leave, and notifies the senders of their undelivered messages. An agent whose run is still live
/// may yet receive them, so its senders are notified when the run ends.
pub(crate) async fn task_agents_left(tx: &mut Tx, project: &ProjectId, task: &TaskId) -> Result<()> {
    let mut departed = Vec::new();
    for phase in AgentKind::ALL {
        let name = Run::agent_name(*phase, task);
        let ended: Option<bool> = sqlx::query_scalar(
            "SELECT r.completed_at IS NOT NULL FROM agents a LEFT JOIN agent_runs r ON r.id = a.run_id
             WHERE a.project_id = $1 AND a.name = $2 AND a.left_at IS NULL",
        )
        .bind(project.as_str())
        .bind(&name)
        .fetch_optional(&mut tx.connection)
        .await?;
        if let Some(ended) = ended {
            agent_left(tx, &Caller::Runner, project, &name).await?;
            departed.extend(ended.then_some(name));
        }
    }
    // Wait until all of them are gone, because they may have written to each other.
    for name in departed {
        run_end::tell_undelivered(tx, project, Some(task), &name).await?;
    }
    Ok(())
}

/// Requests attention on every open task of an agent that left. Other attention takes precedence.
async fn flag_open_tasks(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = open_tasks_of(tx, project, name).await?;
    let is_about_assignee = |kind| matches!(kind, AttentionKind::AssigneeUnresponsive | AttentionKind::OftenUpdated);
    cards.retain(|card| card.attention.as_ref().is_none_or(|attention| is_about_assignee(attention.kind)));
    for card in &cards {
        let detail = format!("The assignee {name} left. Assign another agent, or unassign the task and press Start.");
        attention::request(tx, &Caller::Runner, project, &card.id, Attention::new(AttentionKind::ReviewLimit, detail)).await?;
    }
    apply_changes(tx, project, cards).await
}

/// Unassigns every open task of a name that another agent is about to claim. The human decides about each of them.
pub(crate) async fn name_reclaimed(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let cards = open_tasks_of(tx, project, name).await?;
    for card in &cards {
        unassign(tx, &Caller::Runner, card, name).await?;
    }
    apply_changes(tx, project, cards).await
}

async fn apply_changes(tx: &mut Tx, project: &ProjectId, cards: Vec<Card>) -> Result<()> {
    let tasks: Vec<TaskId> = cards.into_iter().map(|card| card.id).collect();
    if tasks.is_empty() { Ok(()) } else { tasks_changed(tx, &Caller::Runner, project, &tasks).await }
}
