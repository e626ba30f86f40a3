//! The requirements of moves, one function each. Must not decide which move has which requirement.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::dependency::DependencyRefusal;
use domain::board::plan::PlanRefusal;
use domain::board::review_round::repeated_rounds;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::refusal::MoveRefusal;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceResult, HeadEvidence, Sha};
use domain::runs::protected_paths::ProtectedChange;
use domain::team::person::is_person;
use domain::text;
use domain::warroom::oracle::refusal::OracleRefusal;

use crate::board::comment::write as comment;
use crate::board::review_round::{row as rounds, write as round_write};
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::{Change, MoveRequest};
use crate::board::task::write::review_policy;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run::row as runs;
use crate::team::contribution::write as contribution;
use crate::team::contribution::write::Contribution;
use crate::team::hat::write as hat;
use crate::warroom::oracle::row as questions;
use crate::warroom::result::row as results;

pub(crate) fn approved(card: &Card) -> Result<(), Refusal> {
    if card.is_approved() { Ok(()) } else { Err(wrong_status(card, "it is not approved", "Wait for a review.").into()) }
}

pub(crate) async fn dependencies_done(tx: &mut Tx, task: &Task) -> Result<()> {
    if task.card.held_by.is_some() {
        return Err(wrong_status(&task.card, "it is held", "Wait until it is started.").into());
    }
    let mut open = Vec::new();
    for id in &task.card.depends_on {
        if !tasks::card(&mut tx.connection, id).await?.satisfies_dependents() {
            open.push(id.clone());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(DependencyRefusal::Unfinished { task: task.card.id.clone(), open }.into()) }
}

pub(crate) async fn evidence(tx: &mut Tx, caller: &Caller, task: &Task, found: &EvidenceResult) -> Result<()> {
    let id = task.card.id.clone();
    let EvidenceResult::Evidence(evidence) = found else {
        return Err(MoveRefusal::NoCommits { task: id, base: "the project branch".to_owned() }.into());
    };
    if !evidence.is_clean() {
        return Err(MoveRefusal::NotClean { task: id, count: evidence.dirty_count, paths: evidence.dirty_paths.clone() }.into());
    }
    if !evidence.nested.is_empty() {
        return Err(MoveRefusal::NestedRepository { task: id, paths: evidence.nested.clone() }.into());
    }
    if evidence.ahead == 0 && !has_commented(tx, caller, task).await? {
        return Err(MoveRefusal::NoCommits { task: id, base: evidence.base.clone() }.into());
    }
    if evidence.diff_empty && !has_commented(tx, caller, task).await? {
        return Err(MoveRefusal::EmptyDiff { task: id }.into());
    }
    // A person may think that the review was wrong.
    if !caller.is_person() && was_sent_back(tx, &id, &evidence.head).await? {
        return Err(MoveRefusal::AlreadySentBack { task: id, sha: evidence.head.clone() }.into());
    }
    sqlx::query("UPDATE tasks SET submitted_sha = $2, submitted_patch = $3 WHERE id = $1")
        .bind(id.as_str())
        .bind(&evidence.head)
        .bind(&evidence.patch_id)
        .execute(&mut tx.connection)
        .await?;
    mark_protected(tx, &id, evidence.protected.as_ref()).await
}

/// Stores the protected paths that the submitted or approved commit changes. The event of the move shows them.
async fn mark_protected(tx: &mut Tx, task: &TaskId, change: Option<&ProtectedChange>) -> Result<()> {
    sqlx::query("UPDATE tasks SET protected_paths = $2 WHERE id = $1")
        .bind(task.as_str())
        .bind(change.map(serde_json::to_string).transpose()?)
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

async fn was_sent_back(tx: &mut Tx, task: &TaskId, sha: &Sha) -> Result<bool> {
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM verdicts WHERE task_id = $1 AND sha = $2 AND verdict = 'sent_back' LIMIT 1")
        .bind(task.as_str())
        .bind(sha)
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// Whether the calling run commented on the task. Other callers do not have to.
async fn has_commented(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<bool> {
    let Some(run) = caller.run() else { return Ok(true) };
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM comments WHERE task_id = $1 AND run_id = $2 LIMIT 1")
        .bind(task.card.id.as_str())
        .bind(run.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// Returns the attention to request when a planner created no tasks.
pub(crate) async fn children_or_reason(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<Option<Attention>> {
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
    let Some(reason) = reason else { return Err(PlanRefusal::Empty { task: card.id.clone() }.into()) };
    let detail = format!("The planner created no tasks: {}", text::excerpt(reason, 300));
    Ok(Some(Attention::new(AttentionKind::EmptyPlan, detail)))
}

pub(crate) async fn answers(tx: &mut Tx, card: &Card) -> Result<()> {
    let open = questions::open_of_task(&mut tx.connection, &card.id).await?.len();
    let open = u32::try_from(open).unwrap_or(u32::MAX);
    if open == 0 { Ok(()) } else { Err(OracleRefusal::Unanswered { task: card.id.clone(), open }.into()) }
}

pub(crate) async fn verdict(tx: &mut Tx, caller: &Caller, task: &Task, found: &EvidenceResult) -> Result<Sha> {
    let EvidenceResult::Head(HeadEvidence { sha: head, protected }) = found else {
        return Err(MoveRefusal::NothingToApprove { task: task.card.id.clone() }.into());
    };
    if let Some(assignee) = external_assignee(&task.card) {
        let problem = format!("{assignee} did not work on its branch");
        return Err(wrong_status(&task.card, &problem, "Move it to done, or unassign it to have its branch merged.").into());
    }
    if let Some(own) = caller.run() {
        let run = runs::read(&mut tx.connection, own).await?;
        if runs::is_author_session(tx, task, &run).await? {
            return Err(MoveRefusal::SelfReview { task: task.card.id.clone() }.into());
        }
        if run.sha.as_ref() != Some(head) {
            return Err(MoveRefusal::HeadMoved { task: task.card.id.clone(), head: head.clone(), judged: run.sha.unwrap_or_default() }.into());
        }
    }
    let name = caller.name().unwrap_or_default();
    contribution::require_independent(tx, &task.card, &name, &excluded_contributions(caller), "approve").await?;
    review_policy::require_approver(tx, caller, &task.card, Some(head)).await?;
    contribution::record(tx, &task.card.id, &name, Contribution::Approved).await?;
    record_approval(tx, caller, task, head).await?;
    mark_protected(tx, &task.card.id, protected.as_ref()).await?;
    Ok(head.clone())
}

/// The human may approve their own work, because nobody else may be left to ask. They still cannot verify it.
fn excluded_contributions(caller: &Caller) -> Vec<Contribution> {
    if caller.is_person() { Vec::new() } else { vec![Contribution::Built] }
}

/// The assignee that worked on the task in its own checkout. The task's branch then holds earlier work of managed agents.
fn external_assignee(card: &Card) -> Option<&str> {
    let worked = |name: &&str| card.status == Status::InProgress || card.contributors.built_by.iter().any(|builder| builder == name);
    card.contributors.assigned_to.as_deref().filter(worked)
}

async fn record_approval(tx: &mut Tx, caller: &Caller, task: &Task, sha: &str) -> Result<()> {
    sqlx::query("INSERT INTO verdicts (task_id, sha, verdict, actor, run_id, created_at) VALUES ($1, $2, 'approved', $3, $4, $5)")
        .bind(task.card.id.as_str())
        .bind(sha)
        .bind(caller.actor().to_string())
        .bind(caller.run().map(|run| run.as_str()))
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Approves the tip and queues it for the merge, for a move to done by a person or a lead. The task is closed without a merge if it has no
/// branch, if the request says so, or if an assignee did the work.
pub(crate) async fn approval(
    tx: &mut Tx,
    caller: &Caller,
    task: &Task,
    request: &MoveRequest,
    found: &EvidenceResult,
    change: &mut Change,
) -> Result<()> {
    let name = caller.name().unwrap_or_default();
    contribution::require_independent(tx, &task.card, &name, &excluded_contributions(caller), "approve").await?;
    let head = match found {
        EvidenceResult::Head(HeadEvidence { sha, .. }) if request.merge && external_assignee(&task.card).is_none() => Some(sha),
        _ => None,
    };
    review_policy::require_approver(tx, caller, &task.card, head).await?;
    if matches!(caller, Caller::Agent(_)) {
        results::require(&mut tx.connection, &task.card).await?;
    }
    contribution::record(tx, &task.card.id, &name, Contribution::Approved).await?;
    change.approver = Some(name);
    if let (Some(assignee), Some(branch)) = (external_assignee(&task.card), &task.branch) {
        let note = format!("Closed without a merge: {assignee} did not work on `{branch}`. Its unmerged commits are kept.");
        return comment::insert(tx, &Caller::Runner, &task.card.project_id, &task.card.id, &note).await.map(drop);
    }
    match found {
        EvidenceResult::Head(HeadEvidence { sha: head, protected }) if request.merge => {
            record_approval(tx, caller, task, head).await?;
            mark_protected(tx, &task.card.id, protected.as_ref()).await?;
            change.to = Status::InReview;
            change.approved = Some(head.clone());
        }
        // The branch was created after the caller read the repository.
        _ if request.merge && task.branch.is_some() => return Err(MoveRefusal::NothingToApprove { task: task.card.id.clone() }.into()),
        _ => {}
    }
    Ok(())
}

pub(crate) async fn sent_back(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<()> {
    let card = &task.card;
    match reason {
        Some(reason) => {
            comment::insert(tx, caller, &card.project_id, &card.id, reason).await?;
        }
        None if caller.run().is_some() && has_commented(tx, caller, task).await? => {}
        None => return Err(MoveRefusal::CommentNeeded { task: card.id.clone(), to: Status::InProgress }.into()),
    }
    let judged = match caller.run() {
        Some(own) => runs::read(&mut tx.connection, own).await?.sha,
        None => submitted(tx, &card.id).await?,
    };
    if let Some(judged) = judged {
        round_write::record(tx, caller, &card.id, &judged, reason).await?;
    }
    let repeated = repeated_rounds(&rounds::list(&mut tx.connection, &card.id).await?).len();
    sqlx::query("UPDATE tasks SET review_rounds = review_rounds + $2, repeated_rounds = $3 WHERE id = $1")
        .bind(card.id.as_str())
        // The limits count rounds without the human, who resets them.
        .bind(if caller.is_person() { -i64::from(task.review_rounds) } else { 1 })
        .bind(if caller.is_person() { 0 } else { i64::try_from(repeated).unwrap_or(i64::MAX) })
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// The commit that was last submitted for review, unless an assignee submitted it from its own checkout.
async fn submitted(tx: &mut Tx, task: &TaskId) -> Result<Option<Sha>> {
    let found = sqlx::query_scalar("SELECT COALESCE(approved_sha, submitted_sha) FROM tasks WHERE id = $1");
    Ok(found.bind(task.as_str()).fetch_one(&mut tx.connection).await?)
}

/// Lets a participant verify a finished task that it neither built nor approved, unless its hats conflict with testing.
pub(crate) async fn independence(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>, change: &mut Change) -> Result<()> {
    let card = &task.card;
    let name = caller.name().unwrap_or_default();
    require_independent_verifier(tx, card, &name, "verify").await?;
    if card.contributors.verified_by.is_some() {
        return Err(wrong_status(card, "it is already verified", "Leave it as it is, or reject the verification with a reason.").into());
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

/// Three pairs of eyes: a verifier must not have built or approved the task, or worn a conflicting hat in the project.
pub(crate) async fn require_independent_verifier(tx: &mut Tx, card: &Card, name: &str, action: &'static str) -> Result<()> {
    contribution::require_independent(tx, card, name, &[Contribution::Built, Contribution::Approved], action).await?;
    if is_person(name) { Ok(()) } else { hat::require_no_conflict(tx, &card.project_id, name, domain::team::hat::VERIFIER_HAT).await }
}
