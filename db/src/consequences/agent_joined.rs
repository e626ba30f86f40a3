//! An agent joins or returns: it receives the broadcasts that it missed, and its open tasks no longer need another assignee.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::id::{ProjectId, TaskId};
use domain::runs::run::Run;
use domain::team::agent::AgentEvent;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::transport::Transport;

use crate::board::attention::write as attention;
use crate::board::task::row::open_tasks_of;
use crate::caller::Caller;
use crate::consequences::task_changed::tasks_changed;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::write::{AgentRow, upsert};
use crate::team::message::write::insert_missed_broadcasts;

/// Registers an agent, recorded as done by `caller`.
pub(crate) async fn agent_joined(tx: &mut Tx, caller: &Caller, project: &ProjectId, row: AgentRow<'_>) -> Result<()> {
    let (agent, roles) = (row.name.to_owned(), row.roles.to_vec());
    // The row still says when the agent left.
    insert_missed_broadcasts(tx, project, &agent).await?;
    upsert(tx, project, row).await?;
    clear_open_tasks(tx, project, &agent).await?;
    tx.record_without_card(caller, project, None, AgentEvent::Registered { agent, roles });
    Ok(())
}

/// Registers a run's agent when the run is reserved.
pub(crate) async fn run_agent_joined(tx: &mut Tx, card: &Card, run: &Run) -> Result<()> {
    let name = Run::agent_name(run.phase, &card.id);
    let roles = [Role::from(run.phase)];
    let row = AgentRow {
        name: &name,
        team: None,
        roles: &roles,
        description: Some(&card.title),
        trusted: true,
        run: Some(&run.id),
        class: Some(AgentClass::of(run.phase)),
        post: None,
        model: None,
        transport: Some(Transport::Daemon),
        seen: true,
    };
    agent_joined(tx, &Caller::Runner, &card.project_id, row).await
}

/// Clears the attention that the assignee left.
async fn clear_open_tasks(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = open_tasks_of(tx, project, name).await?;
    // On an assigned task, the runner only requests attention for an unresponsive assignee, so this kind means that it left.
    cards.retain(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::ReviewLimit));
    for card in &cards {
        attention::clear(tx, &Caller::Runner, project, &card.id).await?;
    }
    let changed: Vec<TaskId> = cards.into_iter().map(|card| card.id).collect();
    if changed.is_empty() { Ok(()) } else { tasks_changed(tx, &Caller::Runner, project, &changed).await }
}
