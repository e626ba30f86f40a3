//! Open tasks whose assignee left or stopped responding: flagged, cleared when it returns, unassigned when the name is reclaimed.
//!
//! How long a silence may be is the runner's to judge.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::id::{ProjectId, TaskId};

use crate::board::attention;
use crate::board::task::assign::unassign;
use crate::board::task::read;
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

impl Db {
    /// Puts an open task before the person whose assignee `name` was not heard of for too long. Nothing when somebody else has it
    /// meanwhile, or when it needs the person already.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn flag_unresponsive_assignee(&self, id: &TaskId, name: &str, detail: &str) -> Result<()> {
        let (id, name, attention) = (id.clone(), name.to_owned(), Attention::new(AttentionKind::AssigneeUnresponsive, detail));
        self.write(move |tx| {
            Box::pin(async move {
                let card = read::card(&mut tx.connection, &id).await?;
                if !card.status.is_open() || card.attention.is_some() || card.contributors.assigned_to != Some(name) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::request(tx, &Caller::Runner, &card.project_id, &id, attention).await?;
                consequences::task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }

    /// Takes that back: the assignee was heard of, or nothing is wanted of it now. Nothing where the person is needed for something else.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn clear_unresponsive_assignee(&self, id: &TaskId) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = read::card(&mut tx.connection, &id).await?;
                if !is_flagged(&card) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::clear(tx, &Caller::Runner, &card.project_id, &id).await?;
                // What it hid is asked of the person now.
                consequences::task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }
}

/// Whether the card is flagged because its assignee stopped responding.
fn is_flagged(card: &Card) -> bool {
    card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::AssigneeUnresponsive)
}

/// Says of every open task of an agent that left that the person must find another. What they must look at already goes first.
pub(crate) async fn assignee_left(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = open_tasks_of(tx, project, name).await?;
    cards.retain(|card| card.attention.is_none() || is_flagged(card));
    for card in &cards {
        let detail = format!("{name}, to whom it is assigned, left. Assign it to another agent, or take it back from {name} and press Start.");
        attention::request(tx, &Caller::Runner, project, &card.id, Attention::new(AttentionKind::ReviewLimit, detail)).await?;
    }
    follow(tx, project, cards).await
}

/// Takes that back when the agent is there again.
pub(crate) async fn assignee_returned(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let mut cards = open_tasks_of(tx, project, name).await?;
    // Of a task that is assigned the runner says nothing but that its assignee is silent, so this one says that it left.
    cards.retain(|card| card.attention.as_ref().is_some_and(|attention| attention.kind == AttentionKind::ReviewLimit));
    for card in &cards {
        attention::clear(tx, &Caller::Runner, project, &card.id).await?;
    }
    follow(tx, project, cards).await
}

/// Takes every open task from a name that somebody else is about to have. Each waits for the person, where it stands.
pub(crate) async fn unassign_all(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let cards = open_tasks_of(tx, project, name).await?;
    for card in &cards {
        unassign(tx, &Caller::Runner, card, name).await?;
    }
    follow(tx, project, cards).await
}

async fn follow(tx: &mut Tx, project: &ProjectId, cards: Vec<Card>) -> Result<()> {
    let tasks: Vec<TaskId> = cards.into_iter().map(|card| card.id).collect();
    if tasks.is_empty() { Ok(()) } else { consequences::tasks_changed(tx, &Caller::Runner, project, &tasks).await }
}

/// The open tasks that are assigned to somebody.
async fn open_tasks_of(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<Vec<Card>> {
    let ids: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM tasks WHERE project_id = $1 AND assigned_to = $2 AND status IN ('backlog', 'in_progress', 'in_review') ORDER BY length(id), id",
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
