//! Links tasks to goals and updates the status of a goal. Must not decide who may sign a goal off.

use std::collections::BTreeSet;

use domain::board::card::Card;
use domain::board::goal::{Goal, GoalEvent, GoalStatus};
use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::board::transition::{Mover, rule};
use domain::id::GoalId;
use domain::refusal::Refusal;
use domain::team::agent::{HUMAN, RUNNER};
use domain::text;

use crate::board::goal::row::{linked, read};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::team::message::{OutgoingMessage, post};

/// Links a task to a goal of its project. The caller updates the goal's status.
pub(crate) async fn link(tx: &mut Tx, caller: &Caller, card: &Card, goal: Option<&GoalId>) -> Result<()> {
    let Card { id: task, project_id: project, phase, .. } = card;
    if let Some(goal) = goal {
        let found = read(&mut tx.connection, goal).await?;
        if found.project_id != *project {
            return Err(Refusal::not_found("goal", goal).into());
        }
        // A goal with a task that is never verified could never be signed off.
        if rule(*phase, Status::Done, Status::Done, Mover::Verifier).is_none() {
            let problem = format!("{task} is the task of {}, and only those of coders are verified", phase.with_article());
            return Err(Refusal::invalid("task_id", problem, "Link the coder tasks that it creates.").into());
        }
    }
    sqlx::query("UPDATE tasks SET goal_id = $2, updated_at = $3 WHERE id = $1")
        .bind(task.as_str())
        .bind(goal.map(GoalId::as_str))
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(caller, project, task, TaskEvent::Linked { goal: goal.cloned() });
    Ok(())
}

/// Updates a goal's status after its tasks changed, forwards or back.
pub(crate) async fn sync_status(tx: &mut Tx, caller: &Caller, id: &GoalId) -> Result<()> {
    let goal = read(&mut tx.connection, id).await?;
    let to = goal.status.after_progress(goal.progress);
    if to == goal.status {
        return Ok(());
    }
    // The earlier sign-off covered a different set of tasks.
    sqlx::query("UPDATE goals SET status = $2, verified_by = NULL, verified_at = NULL, notes = NULL WHERE id = $1")
        .bind(goal.id.as_str())
        .bind(to.as_str())
        .execute(&mut tx.connection)
        .await?;
    record_move(tx, caller, &goal, to);
    match (goal.status, to) {
        (_, GoalStatus::PendingVerify) => {
            notify(tx, &Caller::Runner, RUNNER, &goal, &[], "every task is verified. A lead signs it off with verify_goal.").await
        }
        (GoalStatus::PendingVerify | GoalStatus::Verified, _) => {
            let linked = linked(tx, &goal).await?;
            notify(tx, &Caller::Runner, RUNNER, &goal, &linked, "active again: not all of its tasks are verified.").await
        }
        _ => Ok(()),
    }
}

/// Records that a goal changed its status.
pub(crate) fn record_move(tx: &mut Tx, caller: &Caller, goal: &Goal, to: GoalStatus) {
    let event = GoalEvent::Moved { goal: goal.id.clone(), from: goal.status, to };
    tx.record_without_card(caller, &goal.project_id, None, event);
}

/// Notifies the leads, the assignees of `cards`, and the human if no external lead could answer.
pub(crate) async fn notify(tx: &mut Tx, caller: &Caller, from: &str, goal: &Goal, cards: &[Card], outcome: &str) -> Result<()> {
    let mut content = format!("[GOAL] {}: {} is {outcome}", goal.id, goal.title);
    content.truncate(content.floor_char_boundary(text::BODY_BYTES));
    let roster = Roster::load(tx, &goal.project_id).await?;
    let mut recipients: BTreeSet<&str> = roster.leads().collect();
    if !roster.has_external_lead() {
        recipients.insert(HUMAN);
    }
    recipients.extend(cards.iter().filter_map(|card| card.contributors.assigned_to.as_deref()));
    for to in recipients.into_iter().filter(|to| *to != from) {
        post(tx, caller, OutgoingMessage { project: &goal.project_id, from, to, content: &content, task: None, reply_to: None }).await?;
    }
    Ok(())
}
