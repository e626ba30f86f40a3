//! Moves a task by the transition table: checks the requirement, then writes the status. Must not know the consequences.

use domain::board::card::Card;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::Task;
use domain::board::task::event::TaskEvent;
use domain::board::transition::refusal::MoveRefusal;
use domain::board::transition::{Mover, Requirement, rule};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use crate::board::comment::write as comment;
use crate::board::finished::write as finished;
use crate::board::task::row::mover::movers;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::{Change, MoveRequest};
use crate::board::task::write::{requirement, review_policy};
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run::write::fence_run;
use crate::team::contribution::write as contribution;
use crate::team::contribution::write::Contribution;

/// Whether the plan of a planning task awaits approval.
pub(crate) const PLAN_WAITS: &str = "SELECT EXISTS (SELECT 1 FROM tasks WHERE parent_task_id = $1 AND status = 'backlog' AND held_by = 'plan')";

/// Checks a move against the transition table and its requirement, which records comments, contributions and verdicts. A move by another
/// participant fences the run that works on the task. Returns the change to write.
pub(crate) async fn check(tx: &mut Tx, caller: &Caller, task: &Task, request: &MoveRequest, found: &EvidenceResult) -> Result<Change> {
    let card = &task.card;
    let to = if approves(caller, request.to) { Status::InReview } else { request.to };
    let movers = movers(&mut tx.connection, caller, card).await?;
    let who = movers.first().copied().unwrap_or(Mover::Assignee);
    let illegal = || MoveRefusal::Illegal { task: card.id.clone(), phase: card.phase, from: card.status, to: request.to, who };
    let (rule, who) = movers.iter().find_map(|who| Some((rule(card.phase, card.status, to, *who)?, *who))).ok_or_else(illegal)?;
    if caller.is_person() && decides(rule.requirement, to) {
        caller.require_decision("approving and finishing tasks")?;
    }
    let reason = text::validate_optional_body("reason", request.reason.as_deref())?;
    let missing_reason = || MoveRefusal::ReasonNeeded { task: card.id.clone(), to };
    let mut change = Change {
        to,
        who,
        held_by: None,
        cancel: None,
        approved: None,
        approver: None,
        is_approved_before: false,
        verified: None,
        attention: None,
        reason: reason.clone(),
    };
    match rule.requirement {
        Requirement::Nothing if who == Mover::Lead && card.cancel_reason != Some(CancelReason::Failed) => {
            return Err(wrong_status(card, "a lead can only reassign failed tasks", "Ask the human.").into());
        }
        Requirement::Nothing => {}
        Requirement::Merged => requirement::approved(card)?,
        Requirement::DependenciesDone => requirement::dependencies_done(tx, task).await?,
        Requirement::Evidence => {
            requirement::evidence(tx, caller, task, found).await?;
            review_policy::keep_approval(tx, caller, card, found, &mut change).await?;
        }
        Requirement::ChildrenOrReason => change.attention = requirement::children_or_reason(tx, caller, task, reason.as_deref()).await?,
        Requirement::Answers => requirement::answers(tx, card).await?,
        Requirement::Verdict => {
            change.approved = Some(requirement::verdict(tx, caller, task, found).await?);
            change.approver = caller.name();
        }
        Requirement::Approval => requirement::approval(tx, caller, task, request, found, &mut change).await?,
        Requirement::Comment => requirement::sent_back(tx, caller, task, reason.as_deref()).await?,
        Requirement::Independence => requirement::independence(tx, caller, task, reason.as_deref(), &mut change).await?,
        Requirement::Reason if to == Status::Cancelled => {
            change.cancel = Some(reason.ok_or_else(missing_reason)?.trim().parse::<CancelReason>().map_err(|error| {
                Refusal::invalid("reason", error.to_string(), "Give one of the reasons failed, abandoned, obsolete or duplicate.")
            })?);
            if who == Mover::Assignee && change.cancel != Some(CancelReason::Failed) {
                return Err(
                    Refusal::invalid("reason", "an assignee can only cancel a task as failed", "Give the reason failed, or ask a lead.").into()
                );
            }
        }
        Requirement::Reason => {
            // The human may reopen any task, and the runner one that its pull request brings back.
            if !matches!(who, Mover::Human | Mover::Runner) {
                requirement::require_independent_verifier(tx, card, &caller.name().unwrap_or_default(), "send back").await?;
            }
            comment::insert(tx, caller, &card.project_id, &card.id, &reason.ok_or_else(missing_reason)?).await?;
        }
    }
    if to == Status::Backlog && who == Mover::Human {
        change.held_by = Some(hold_in_backlog(tx, card).await?);
    }
    if counts_as_building(card, who, to) {
        contribution::record(tx, &card.id, &caller.name().unwrap_or_default(), Contribution::Built).await?;
    }
    if let Some(assignee) = card.contributors.assigned_to.as_deref().filter(|_| card.status == Status::InProgress) {
        // The assignee worked on it until now, even if another participant moves it.
        contribution::record(tx, &card.id, assignee, Contribution::Built).await?;
    }
    // A move by anyone else fences the working agent's run. Runner moves do not, because they follow from what agents did.
    let is_own_run = card.run.as_ref().is_some_and(|live| caller.run() == Some(&live.id));
    if who != Mover::Runner && !is_own_run {
        fence_run(tx, caller, card).await?;
    }
    Ok(change)
}

/// Whether a move finishes work, or is a judgement that it may be finished.
fn decides(requirement: Requirement, to: Status) -> bool {
    to == Status::Done || matches!(requirement, Requirement::Verdict | Requirement::Approval | Requirement::Independence)
}

/// The hold of a task that a person moves back. One that was removed from a plan waits again with its plan.
async fn hold_in_backlog(tx: &mut Tx, card: &Card) -> Result<HeldBy> {
    let plan_waits: bool =
        sqlx::query_scalar(PLAN_WAITS).bind(card.parent_task_id.as_ref().map(TaskId::as_str)).fetch_one(&mut tx.connection).await?;
    Ok(if card.status == Status::Cancelled && plan_waits { HeldBy::Plan } else { HeldBy::Human })
}

/// Whether a move to done is an approval: the runner moves a reviewed task after the merge.
pub(crate) fn approves(caller: &Caller, to: Status) -> bool {
    caller.mover() == Some(Mover::Reviewer) && to == Status::Done
}

/// Whether the mover counts as a builder: an assignee that starts or submits, or a person that submits a task without a builder.
fn counts_as_building(card: &Card, who: Mover, to: Status) -> bool {
    match who {
        Mover::Assignee => matches!(to, Status::InProgress | Status::InReview),
        Mover::Human => to == Status::InReview && card.status == Status::InProgress && card.contributors.built_by.is_empty(),
        _ => false,
    }
}

/// Writes the new status. A move also clears attention, failures and an earlier approval.
pub(crate) async fn write_status(tx: &mut Tx, caller: &Caller, task: &Task, change: &Change) -> Result<()> {
    let card = &task.card;
    let stays = card.status == Status::Done && change.to == Status::Done;
    let merged = stays || (card.is_approved() && change.to == Status::Done && *caller == Caller::Runner);
    let approved = if merged { card.approved_sha.as_ref() } else { change.approved.as_ref() };
    let changed = sqlx::query(
        "UPDATE tasks SET status = $3, held_by = $4, cancel_reason = $5, approved_sha = $6, attention = $7, wait_reason = NULL, old = NULL,
                failures = 0, last_failure = NULL, retry_at = NULL, updated_at = $8,
                approved_by = CASE WHEN $3 IN ('backlog', 'in_progress') THEN NULL ELSE COALESCE($9, approved_by) END,
                verified_by = CASE WHEN $3 = 'done' THEN COALESCE($10, verified_by) END,
                verified_at = CASE WHEN $3 <> 'done' THEN NULL WHEN $10 IS NULL THEN verified_at ELSE $8 END,
                completed_at = CASE WHEN $3 = 'done' THEN COALESCE(completed_at, $8) END
         WHERE id = $1 AND status = $2",
    )
    .bind(card.id.as_str())
    .bind(card.status.as_str())
    .bind(change.to.as_str())
    .bind(change.held_by.map(HeldBy::as_str))
    .bind(change.cancel.map(CancelReason::as_str))
    .bind(approved)
    .bind(change.attention.as_ref().map(serde_json::to_string).transpose()?)
    .bind(tx.now.to_string())
    .bind(&change.approver)
    .bind(&change.verified)
    .execute(&mut tx.connection)
    .await?;
    if changed.rows_affected() == 0 {
        return Err(MoveRefusal::Illegal { task: card.id.clone(), phase: card.phase, from: card.status, to: change.to, who: change.who }.into());
    }
    let after = Card { status: change.to, cancel_reason: change.cancel, approved_sha: approved.cloned(), ..card.clone() };
    finished::replace(tx, card, &after).await?;
    // An oracle finishes nothing: it waits for the next question.
    if change.to == Status::Done && !stays && card.phase != AgentKind::Oracle {
        finished::count_finish(tx, card).await?;
    }
    if change.to != card.status {
        let event = TaskEvent::Moved { from: card.status, to: change.to, reason: change.reason.clone() };
        tx.record_for_task(caller, &card.project_id, &card.id, event);
    }
    Ok(())
}

/// Records the approval, the verification and the attention that came with a move.
pub(crate) fn record_decisions(tx: &mut Tx, caller: &Caller, card: &Card, change: Change) {
    if let Some(sha) = change.approved {
        let caller = if change.is_approved_before { &Caller::Runner } else { caller };
        tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Approved { sha });
    }
    if let Some(by) = change.verified {
        tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Verified { by });
    }
    if let Some(attention) = change.attention {
        tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::AttentionRequested { attention });
    }
}
