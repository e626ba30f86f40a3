//! Open tasks whose assignee is not there any more: put before the person, settled when it returns, taken from a name that others have now.

use domain::attention::{Attention, AttentionKind};
use domain::id::{ProjectId, TaskId};
use domain::task::Card;

use crate::caller::Caller;
use crate::error::Result;
use crate::task::assign::unassign;
use crate::task::{read, settle};
use crate::tx::Tx;

/// Says of every open task of an agent that left that the person must find another. What they must look at already goes first.
pub(crate) async fn assignee_left(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = of(tx, project, name).await?;
    cards.retain(|card| card.attention.is_none());
    for card in &cards {
        let detail = format!("{name}, to whom it is assigned, left. Assign it to another agent, or take it back from {name} and press Start.");
        settle::need_person(tx, &Caller::Runner, project, &card.id, Attention::new(AttentionKind::Stalled, detail)).await?;
    }
    if cards.is_empty() { Ok(()) } else { settle::project(tx, &Caller::Runner, project).await }
}

/// Takes that back when the agent is there again.
pub(crate) async fn assignee_returned(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = of(tx, project, name).await?;
    // The runner judges no task that is assigned, so this one says that its assignee left.
    cards.retain(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::Stalled));
    for card in &cards {
        settle::need_nobody(tx, &Caller::Runner, project, &card.id).await?;
    }
    if cards.is_empty() { Ok(()) } else { settle::project(tx, &Caller::Runner, project).await }
}

/// Takes every open task from a name that somebody else is about to have. Each waits for the person, where it stands.
pub(crate) async fn take_from(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let cards = of(tx, project, name).await?;
    for card in &cards {
        unassign(tx, &Caller::Runner, card, name).await?;
    }
    if cards.is_empty() { Ok(()) } else { settle::all(tx, &Caller::Runner, project).await }
}

/// The open tasks that are assigned to somebody.
async fn of(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Vec<Card>> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE project_id = $1 AND assigned_to = $2 AND status NOT IN ('done', 'cancelled') ORDER BY length(id), id",
    )
    .bind(project.as_str())
    .bind(name)
    .fetch_all(&mut tx.connection)
    .await?;
    let mut cards = Vec::with_capacity(ids.len());
    for id in &ids {
        cards.push(read::card(&mut tx.connection, &id.parse::<TaskId>()?).await?);
    }
    Ok(cards)
}
