//! A task moves: when it is done, the result of its managed agents is derived; when it is finished, they leave; when it is put back, its claims pass on; when
//! it is submitted, its changes are compared with the claims; the participants concerned are notified; its open question is closed, and so are those
//! to its oracle when it is cancelled.
//!
//! The board alone shows moves of managed agents. [`super::task_changed`] follows once all moves of a use case are made.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::Mover;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::run::Run;
use domain::team::agent::HUMAN;
use domain::warroom::claim::ReleaseReason;

use crate::board::question::write as question;
use crate::board::task::write as tasks;
use crate::board::task::write::change::{Change, MoveRequest};
use crate::board::task::write::moves;
use crate::board::task::write::notice::{notice_text, post_notice};
use crate::caller::Caller;
use crate::consequences::agent_left::task_agents_left;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::roster::Roster;
use crate::warroom::claim::write as claim;
use crate::warroom::oracle::write as oracle;
use crate::warroom::result::write as result;

/// Moves a task as the transition table allows.
pub(crate) async fn move_task(tx: &mut Tx, caller: &Caller, task: &Task, request: &MoveRequest, found: &EvidenceResult) -> Result<()> {
    let card = &task.card;
    let change = moves::check(tx, caller, task, request, found).await?;
    moves::write_status(tx, caller, task, &change).await?;
    if change.to == Status::Done && card.status != Status::Done {
        // Before its agents leave, because they hold the files that they changed.
        result::derive(tx, card).await?;
    }
    if change.to != card.status && !change.to.is_open() {
        task_agents_left(tx, &card.project_id, &card.id).await?;
    }
    if change.to == Status::Backlog {
        let coder = Run::agent_name(AgentKind::Coder, &card.id);
        claim::release_all(tx, caller, &card.project_id, &coder, ReleaseReason::Stopped).await?;
    }
    if let (Status::InReview, EvidenceResult::Evidence(evidence)) = (change.to, found) {
        tasks::record_changed_files(tx, &card.id, &evidence.changed_paths).await?;
        claim::submission::compare_with_claims(tx, caller, task, &evidence.changed_paths).await?;
    }
    if change.to == Status::Cancelled && card.phase == AgentKind::Oracle {
        oracle::fail_open(tx, &card.id, &format!("its task {} was cancelled", card.id)).await?;
    }
    notify_move(tx, caller, task, &change).await?;
    moves::record_decisions(tx, caller, card, change);
    question::withdraw(tx, &card.id).await
}

/// Notifies the leads if the assignee moved its task, and the assignee if another participant did. Unread messages do not block notices.
async fn notify_move(tx: &mut Tx, caller: &Caller, task: &Task, change: &Change) -> Result<()> {
    let card = &task.card;
    let (Some(assignee), Some(from)) = (card.contributors.assigned_to.as_deref(), caller.name()) else { return Ok(()) };
    let Some(tag) = notice_tag(card, change) else { return Ok(()) };
    // The result says more than the reason "failed" or no reason.
    let submits = change.who == Mover::Assignee && change.to != Status::InProgress;
    let reason = change.reason.as_deref().filter(|_| !submits || change.cancel.is_none());
    let content = notice_text(tag, card, reason.or(task.result.as_deref().filter(|_| submits)));
    if change.who != Mover::Assignee {
        return post_notice(tx, caller, card, &from, assignee, &content).await;
    }
    let roster = Roster::load(tx, &card.project_id).await?;
    for lead in roster.leads() {
        post_notice(tx, caller, card, &from, lead, &content).await?;
    }
    let needs_decision = matches!(change.to, Status::InReview | Status::Cancelled);
    if needs_decision && !roster.has_external_lead() {
        post_notice(tx, caller, card, &from, HUMAN, &content).await?;
    }
    Ok(())
}

/// Returns the tag of a notice about a move of an assigned task.
fn notice_tag(card: &Card, change: &Change) -> Option<&'static str> {
    Some(match (card.status, change.to) {
        (Status::InReview, Status::Done) if change.who == Mover::Runner => "MERGED",
        (Status::InReview, Status::InReview) | (Status::InProgress | Status::InReview, Status::Done) => "APPROVED",
        (Status::InReview | Status::Done, Status::InProgress) => "REWORK",
        (Status::Done, Status::Done) => "VERIFIED",
        (_, Status::InProgress) => "STARTED",
        (_, Status::InReview) => "REVIEW",
        (_, Status::Cancelled) => "CANCELLED",
        (Status::InProgress, Status::Backlog) => "PUT BACK",
        // A reassignment has its own notice.
        (_, Status::Backlog | Status::Done) => return None,
    })
}
