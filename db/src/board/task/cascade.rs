//! What follows from a change by the rules, in the same transaction: dependents of a cancelled task, rounds of orchestration, completion.

use std::collections::BTreeSet;

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::project::{ProjectStatus, is_complete, round_due};
use domain::board::status::Status;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;

use crate::board::goal;
use crate::board::task::{NewTaskRow, insert, read};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Says that `task` needs the person.
pub(crate) async fn request_attention(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId, attention: Attention) -> Result<()> {
    sqlx::query("UPDATE tasks SET attention = $2, updated_at = $3 WHERE id = $1")
        .bind(task.as_str())
        .bind(serde_json::to_string(&attention)?)
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, project, task, Event::AttentionRequested { attention });
    Ok(())
}

/// Says that `task` needs the person no more.
pub(crate) async fn clear_attention(tx: &mut Tx, caller: &Caller, project: &ProjectId, task: &TaskId) -> Result<()> {
    let changed = sqlx::query("UPDATE tasks SET attention = NULL, updated_at = $2 WHERE id = $1 AND attention IS NOT NULL")
        .bind(task.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    if changed.rows_affected() > 0 {
        tx.record_for_task(caller, project, task, Event::AttentionCleared {});
    }
    Ok(())
}

/// Puts before the person every waiting task whose dependency was given up, and takes it back when that is no longer so.
async fn flag_blocked_dependents(tx: &mut Tx, caller: &Caller, project: &ProjectId, cards: &mut [Card]) -> Result<()> {
    let given_up: BTreeSet<TaskId> =
        cards.iter().filter(|card| card.status == Status::Cancelled && !card.satisfies_dependents()).map(|card| card.id.clone()).collect();
    for card in cards.iter_mut().filter(|card| card.status == Status::Backlog) {
        let wanted = card.depends_on.iter().find(|id| given_up.contains(*id)).map(|lost| {
            let detail = format!("{lost}, which it builds on, was given up. Drop the dependency, cancel this task too, or take {lost} up again.");
            Attention::new(AttentionKind::DependencyCancelled, detail)
        });
        // Anything else that the card needs the person for goes first.
        let other = card.attention.as_ref().is_some_and(|known| known.kind != AttentionKind::DependencyCancelled);
        if other || card.attention == wanted {
            continue;
        }
        card.attention.clone_from(&wanted);
        match wanted {
            Some(attention) => request_attention(tx, caller, project, &card.id, attention).await?,
            None => clear_attention(tx, caller, project, &card.id).await?,
        }
    }
    Ok(())
}

/// Everything that follows from a changed card, in the order in which it follows.
pub(crate) async fn after_task_change(tx: &mut Tx, caller: &Caller, id: &ProjectId) -> Result<()> {
    let mut cards = read::cascade_cards(&mut tx.connection, id).await?;
    flag_blocked_dependents(tx, caller, id, &mut cards).await?;
    update_project(tx, caller, id, &cards).await
}

/// The same where no card stands elsewhere than before, so that none waits in vain for it.
pub(crate) async fn after_project_change(tx: &mut Tx, caller: &Caller, id: &ProjectId) -> Result<()> {
    let cards = read::cascade_cards(&mut tx.connection, id).await?;
    update_project(tx, caller, id, &cards).await
}

/// Lets the project's goals follow its cards, begins the round of orchestration that is due, and keeps the project's status true.
async fn update_project(tx: &mut Tx, caller: &Caller, project: &ProjectId, cards: &[Card]) -> Result<()> {
    goal::sync_goal_statuses(tx, caller, project, cards).await?;
    let mut begun = false;
    for root in cards.iter().filter(|card| card.phase == AgentKind::Planner) {
        let children: Vec<&Card> = cards.iter().filter(|card| card.parent_task_id.as_ref() == Some(&root.id)).collect();
        let rounds: Vec<&Card> = cards.iter().filter(|card| card.round_of.as_ref() == Some(&root.id)).collect();
        let Some(round) = round_due(root, &children, &rounds, tx.max_rounds) else { continue };
        let row = NewTaskRow {
            project: project.clone(),
            parent: None,
            title: format!("Look at the whole: {}", root.title),
            description: Some(format!("Round {round}. Every task of {} is finished: judge the project branch as a whole.", root.id)),
            phase: AgentKind::Orchestrator,
            status: Status::InProgress,
            held_by: None,
            priority: 0,
            model: None,
            round: Some((root.id.clone(), round)),
        };
        insert(tx, &Caller::Runner, row).await?;
        begun = true;
    }
    let complete = is_complete(&cards.iter().collect::<Vec<_>>(), begun);
    let (wanted, event) =
        if complete { (ProjectStatus::Complete, Event::ProjectCompleted {}) } else { (ProjectStatus::Active, Event::ProjectReopened {}) };
    let changed = sqlx::query("UPDATE projects SET status = $2, updated_at = $3 WHERE id = $1 AND status <> $2")
        .bind(project.as_str())
        .bind(wanted.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    if changed.rows_affected() > 0 {
        tx.record_for_project(caller, project, event);
    }
    Ok(())
}
