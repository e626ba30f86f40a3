//! What a move needs, one function a need.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::team::person::is_person;
use domain::text;

use super::{Change, MoveRequest, wrong_status};
use crate::board::comment;
use crate::board::task::read;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run;
use crate::team::contribution;
use crate::team::contribution::Contribution;
use crate::team::hat;

pub(super) fn approved(card: &Card) -> Result<(), Refusal> {
    if card.is_approved() { Ok(()) } else { Err(wrong_status(card, "nobody approved it", "Wait for a review.")) }
}

pub(super) async fn dependencies_done(tx: &mut Tx, task: &Task) -> Result<()> {
    if task.card.held_by.is_some() {
        return Err(wrong_status(&task.card, "it is held", "Leave it until it is started.").into());
    }
    let mut open = Vec::new();
    for id in &task.card.depends_on {
        if !read::card(&mut tx.connection, id).await?.satisfies_dependents() {
            open.push(id.clone());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(Refusal::DependenciesUnfinished { task: task.card.id.clone(), open }.into()) }
}

pub(super) async fn evidence(tx: &mut Tx, caller: &Caller, task: &Task, found: &EvidenceResult) -> Result<()> {
    let id = task.card.id.clone();
    let EvidenceResult::Evidence(evidence) = found else {
        return Err(Refusal::NoCommits { task: id, base: "the project branch".to_owned() }.into());
    };
    if !evidence.is_clean() {
        return Err(Refusal::NotClean { task: id, count: evidence.dirty_count, paths: evidence.dirty_paths.clone() }.into());
    }
    if evidence.ahead == 0 && !has_commented(tx, caller, task).await? {
        return Err(Refusal::NoCommits { task: id, base: evidence.base.clone() }.into());
    }
    if evidence.diff_empty && !has_commented(tx, caller, task).await? {
        return Err(Refusal::EmptyDiff { task: id }.into());
    }
    Ok(())
}

/// Whether this run left a comment; a person need not.
async fn has_commented(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<bool> {
    let Some(run) = caller.run() else { return Ok(true) };
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM comments WHERE task_id = $1 AND run_id = $2 LIMIT 1")
        .bind(task.card.id.as_str())
        .bind(run.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// What the person must look at when a planner made nothing.
pub(super) async fn children_or_reason(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<Option<Attention>> {
    let card = &task.card;
    let children: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE parent_task_id = $1 AND status <> 'cancelled'")
        .bind(card.id.as_str())
        .fetch_one(&mut tx.connection)
        .await?;
    if let Some(reason) = reason {
        comment::insert(tx, caller, &card.project_id, &card.id, reason).await?;
    }
    if children > 0 || card.phase == AgentKind::Orchestrator || (reason.is_some() && caller.is_person()) {
        return Ok(None);
    }
    let Some(reason) = reason else { return Err(Refusal::EmptyPlan { task: card.id.clone() }.into()) };
    let detail = format!("The planner made no tasks: {}", text::excerpt(reason, 300));
    Ok(Some(Attention::new(AttentionKind::EmptyPlan, detail)))
}

pub(super) async fn verdict(tx: &mut Tx, caller: &Caller, task: &Task, found: &EvidenceResult) -> Result<Sha> {
    let EvidenceResult::Head(head) = found else { return Err(Refusal::NothingToApprove { task: task.card.id.clone() }.into()) };
    if let Some(assignee) = external_assignee(&task.card) {
        let problem = format!("its branch is not what {assignee} made");
        return Err(wrong_status(&task.card, &problem, "Move it to done, or take it back from its assignee to have its branch merged.").into());
    }
    if let Some(own) = caller.run() {
        let run = run::read(&mut tx.connection, own).await?;
        if run::is_author_session(tx, task, &run).await? {
            return Err(Refusal::SelfReview { task: task.card.id.clone() }.into());
        }
        if run.sha.as_ref() != Some(head) {
            return Err(Refusal::HeadMoved { task: task.card.id.clone(), head: head.clone(), judged: run.sha.unwrap_or_default() }.into());
        }
    }
    let name = caller.name().unwrap_or_default();
    contribution::require_independent(tx, &task.card, &name, &excluded_contributions(caller), "approve").await?;
    contribution::record(tx, &task.card.id, &name, Contribution::Approved).await?;
    record_verdict(tx, caller, task, head, "approved").await?;
    Ok(head.clone())
}

/// The person may close what they built themselves: nobody else is left to ask. They still cannot verify it.
fn excluded_contributions(caller: &Caller) -> Vec<Contribution> {
    if caller.is_person() { Vec::new() } else { vec![Contribution::Built] }
}

/// The assignee whose work this is. It has a checkout of its own: a branch here is what our own agents did before.
fn external_assignee(card: &Card) -> Option<&str> {
    let worked = |name: &&str| card.status == Status::InProgress || card.contributors.built_by.iter().any(|builder| builder == name);
    card.contributors.assigned_to.as_deref().filter(worked)
}

async fn record_verdict(tx: &mut Tx, caller: &Caller, task: &Task, sha: &str, verdict: &str) -> Result<()> {
    sqlx::query("INSERT INTO verdicts (task_id, sha, verdict, actor, run_id, created_at) VALUES ($1, $2, $3, $4, $5, $6)")
        .bind(task.card.id.as_str())
        .bind(sha)
        .bind(verdict)
        .bind(caller.actor().to_string())
        .bind(caller.run().map(|run| run.as_str()))
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// A person's or a lead's move to done: the tip is approved and queued. Without a branch, when they say so, or when the work is
/// an assignee's, the task is simply closed.
pub(super) async fn approval(
    tx: &mut Tx,
    caller: &Caller,
    task: &Task,
    wish: &MoveRequest,
    found: &EvidenceResult,
    change: &mut Change,
) -> Result<()> {
    let name = caller.name().unwrap_or_default();
    contribution::require_independent(tx, &task.card, &name, &excluded_contributions(caller), "approve").await?;
    contribution::record(tx, &task.card.id, &name, Contribution::Approved).await?;
    change.approver = Some(name);
    if let (Some(assignee), Some(branch)) = (external_assignee(&task.card), &task.branch) {
        let words = format!("Closed without a merge: {assignee} did not work on `{branch}`. What is on it that was not merged is kept.");
        return comment::insert(tx, &Caller::Runner, &task.card.project_id, &task.card.id, &words).await.map(drop);
    }
    match found {
        EvidenceResult::Head(head) if wish.merge => {
            record_verdict(tx, caller, task, head, "approved").await?;
            change.to = Status::InReview;
            change.approved = Some(head.clone());
        }
        // A branch that was made since somebody looked is not closed over.
        _ if wish.merge && task.branch.is_some() => return Err(Refusal::NothingToApprove { task: task.card.id.clone() }.into()),
        _ => {}
    }
    Ok(())
}

pub(super) async fn sent_back(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<()> {
    let card = &task.card;
    match reason {
        Some(reason) => {
            comment::insert(tx, caller, &card.project_id, &card.id, reason).await?;
        }
        None if caller.run().is_some() && has_commented(tx, caller, task).await? => {}
        None => return Err(Refusal::CommentNeeded { task: card.id.clone(), to: Status::InProgress }.into()),
    }
    if let Some(own) = caller.run() {
        let judged = run::read(&mut tx.connection, own).await?.sha.unwrap_or_default();
        record_verdict(tx, caller, task, &judged, "sent_back").await?;
    }
    sqlx::query("UPDATE tasks SET review_rounds = review_rounds + $2 WHERE id = $1")
        .bind(card.id.as_str())
        // Only what goes round without a person counts towards the limit; their word starts it afresh.
        .bind(if caller.is_person() { -i64::from(task.review_rounds) } else { 1 })
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Somebody who neither built nor approved a finished task, and wore no hat that keeps them from testing, verifies it.
pub(super) async fn independence(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>, change: &mut Change) -> Result<()> {
    let card = &task.card;
    let name = caller.name().unwrap_or_default();
    require_independent_verifier(tx, card, &name, "verify").await?;
    if card.contributors.verified_by.is_some() {
        return Err(wrong_status(card, "it is verified already", "Leave it as it is, or reject the verification with a reason.").into());
    }
    if let Some(notes) = reason {
        comment::insert(tx, caller, &card.project_id, &card.id, notes).await?;
    }
    contribution::record(tx, &card.id, &name, Contribution::Verified).await?;
    if !caller.is_person() {
        hat::record(tx, &card.project_id, &card.id, &name, domain::team::hat::VERIFIER_HAT).await?;
    }
    change.verified = Some(name);
    Ok(())
}

/// The rule of three: who judges finished work has neither built nor approved it, and wore no conflicting hat in the project.
pub(crate) async fn require_independent_verifier(tx: &mut Tx, card: &Card, name: &str, action: &'static str) -> Result<()> {
    contribution::require_independent(tx, card, name, &[Contribution::Built, Contribution::Approved], action).await?;
    if is_person(name) { Ok(()) } else { hat::require_no_conflict(tx, &card.project_id, name, domain::team::hat::VERIFIER_HAT).await }
}
