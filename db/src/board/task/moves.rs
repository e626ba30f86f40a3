//! Moving tasks: the transition table, applied with everything it asks for.

mod notice;
mod requirement;

pub(crate) use notice::{notice_text, post_notice};
pub(crate) use requirement::require_independent_verifier;

use domain::board::attention::Attention;
use domain::board::card::Card;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::task::Task;
use domain::board::transition::{Mover, Requirement, rule};
use domain::event::Event;
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceRequest, EvidenceResult, Sha};
use domain::text;
use sqlx::SqliteConnection;

use crate::board::task::read;
use crate::board::{comment, question};
use crate::caller::Caller;
use crate::consequences;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::run;
use crate::team::contribution;
use crate::team::contribution::Contribution;
use crate::team::{agent, participant};

/// A wish to move a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MoveRequest {
    pub to: Status,
    /// Why. When sending back it is what to change; when cancelling, one of the four reasons.
    pub reason: Option<String>,
    /// With a person's move to done: whether the branch is merged.
    pub merge: bool,
}

impl MoveRequest {
    pub fn to(to: Status) -> Self {
        Self { to, reason: None, merge: true }
    }
}

impl Db {
    /// What the caller must look up in the repository before it can ask for this move.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn required_evidence(&self, caller: &Caller, id: &TaskId, to: Status) -> Result<EvidenceRequest> {
        let task = self.task(id).await?;
        if caller.project().is_some_and(|own| *own != task.card.project_id) {
            return Err(Refusal::not_found("task", id).into());
        }
        let Some(branch) = task.branch else { return Ok(EvidenceRequest::Nothing) };
        let project = self.project(&task.card.project_id).await?;
        let to = if approves(caller, to) { Status::InReview } else { to };
        let movers = movers(&mut *self.readers.acquire().await?, caller, &task.card).await?;
        Ok(match movers.iter().find_map(|who| rule(task.card.phase, task.card.status, to, *who)).map(|rule| rule.requirement) {
            Some(Requirement::Evidence) => match task.worktree_path {
                Some(worktree) => EvidenceRequest::Evidence { git_dir: project.git_dir, worktree, branch, base: project.integration_branch },
                None => EvidenceRequest::Nothing,
            },
            Some(Requirement::Verdict | Requirement::Approval) => EvidenceRequest::Head { git_dir: project.git_dir, branch },
            _ => EvidenceRequest::Nothing,
        })
    }

    /// Moves a task as the table allows.
    ///
    /// # Errors
    /// When the move is not in the table for this caller, or something that it needs is missing.
    pub async fn move_task(&self, caller: &Caller, id: &TaskId, wish: MoveRequest, found: EvidenceResult) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let task = read::task(&mut tx.connection, &id).await?;
                require_own_task(tx, caller, &task, wish.to).await?;
                apply(tx, caller, &task, &wish, &found).await?;
                consequences::task_changed(tx, caller, &task.card.project_id, &id).await?;
                read::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

/// An agent moves the task of its run; an orchestrator may also cancel others of its project.
pub(super) async fn require_own_task(tx: &mut Tx, caller: &Caller, task: &Task, to: Status) -> Result<()> {
    if caller.project().is_some_and(|own| *own != task.card.project_id) {
        // A task of another project is not even admitted to exist.
        return Err(Refusal::not_found("task", &task.card.id).into());
    }
    let Caller::Run(run) = caller else {
        // Whoever is from outside has to be there.
        return participant::load(&mut tx.connection, caller, &task.card.project_id).await.map(drop);
    };
    if task.card.id == run.task_id {
        return Ok(());
    }
    if run.phase == AgentKind::Orchestrator && to == Status::Cancelled {
        return Ok(());
    }
    Err(Refusal::WrongTask { task: task.card.id.clone(), own: run.task_id.clone() }.into())
}

pub(crate) fn wrong_status(card: &Card, problem: &str, hint: &str) -> Refusal {
    Refusal::WrongStatus { task: card.id.clone(), status: card.status, problem: problem.to_owned(), hint: hint.to_owned() }
}

/// A reviewer's "done" is an approval: the runner moves the card when the merge held.
fn approves(caller: &Caller, to: Status) -> bool {
    caller.mover() == Some(Mover::Reviewer) && to == Status::Done
}

/// As what the caller moves this task. An agent from outside may be several things to it; the first whose rule fits counts.
pub(crate) async fn movers(connection: &mut SqliteConnection, caller: &Caller, card: &Card) -> Result<Vec<Mover>> {
    if let Some(mover) = caller.mover() {
        return Ok(vec![mover]);
    }
    let voice = participant::load(connection, caller, &card.project_id).await?;
    let assigned = card.contributors.assigned_to.as_deref() == Some(voice.name.as_str());
    let movers = [(assigned, Mover::Assignee), (voice.is_lead, Mover::Lead), (voice.trusted, Mover::Verifier)];
    Ok(movers.into_iter().filter(|(is, _)| *is).map(|(_, mover)| mover).collect())
}

pub(crate) async fn apply(tx: &mut Tx, caller: &Caller, task: &Task, wish: &MoveRequest, found: &EvidenceResult) -> Result<()> {
    let card = &task.card;
    let to = if approves(caller, wish.to) { Status::InReview } else { wish.to };
    let movers = movers(&mut tx.connection, caller, card).await?;
    let who = movers.first().copied().unwrap_or(Mover::Assignee);
    let illegal = || Refusal::IllegalMove { task: card.id.clone(), phase: card.phase, from: card.status, to: wish.to, who };
    let (rule, who) = movers.iter().find_map(|who| Some((rule(card.phase, card.status, to, *who)?, *who))).ok_or_else(illegal)?;
    let reason = text::validate_optional_body("reason", wish.reason.as_deref())?;
    let missing_reason = || Refusal::ReasonNeeded { task: card.id.clone(), to };
    let mut change =
        Change { to, who, held_by: None, cancel: None, approved: None, approver: None, verified: None, attention: None, reason: reason.clone() };
    match rule.requirement {
        Requirement::Nothing if who == Mover::Lead && card.cancel_reason != Some(CancelReason::Failed) => {
            return Err(wrong_status(card, "a lead gives out again only what failed", "Leave it to the person.").into());
        }
        Requirement::Nothing => {}
        Requirement::Merged => requirement::approved(card)?,
        Requirement::DependenciesDone => requirement::dependencies_done(tx, task).await?,
        Requirement::Evidence => requirement::evidence(tx, caller, task, found).await?,
        Requirement::ChildrenOrReason => change.attention = requirement::children_or_reason(tx, caller, task, reason.as_deref()).await?,
        Requirement::Verdict => {
            change.approved = Some(requirement::verdict(tx, caller, task, found).await?);
            change.approver = caller.name();
        }
        Requirement::Approval => requirement::approval(tx, caller, task, wish, found, &mut change).await?,
        Requirement::Comment => requirement::sent_back(tx, caller, task, reason.as_deref()).await?,
        Requirement::Independence => requirement::independence(tx, caller, task, reason.as_deref(), &mut change).await?,
        Requirement::Reason if to == Status::Cancelled => {
            change.cancel = Some(reason.ok_or_else(missing_reason)?.trim().parse::<CancelReason>().map_err(|error| {
                Refusal::invalid("reason", error.to_string(), "Say why it is given up: failed, abandoned, obsolete or duplicate.")
            })?);
            if who == Mover::Assignee && change.cancel != Some(CancelReason::Failed) {
                return Err(Refusal::invalid("reason", "an assignee can only say that it failed", "Give the reason failed, or ask a lead.").into());
            }
        }
        Requirement::Reason => {
            // The person takes back whatever they like.
            if who != Mover::Human {
                requirement::require_independent_verifier(tx, card, &caller.name().unwrap_or_default(), "send back").await?;
            }
            comment::insert(tx, caller, &card.project_id, &card.id, &reason.ok_or_else(missing_reason)?).await?;
        }
    }
    if to == Status::Backlog && who == Mover::Human {
        change.held_by = Some(HeldBy::Human);
    }
    if counts_as_building(card, who, to) {
        contribution::record(tx, &card.id, &caller.name().unwrap_or_default(), Contribution::Built).await?;
    }
    if let Some(assignee) = card.contributors.assigned_to.as_deref().filter(|_| card.status == Status::InProgress) {
        // Whoever moves it on: until now it was the assignee's.
        contribution::record(tx, &card.id, assignee, Contribution::Built).await?;
    }
    // Whoever decides over the head of an agent at work takes its right to write; what the runner moves follows from what agents did.
    let own_run = card.run.as_ref().is_some_and(|live| caller.run() == Some(&live.id));
    if who != Mover::Runner && !own_run {
        run::fence_run(tx, caller, card).await?;
    }
    write(tx, caller, task, change).await
}

/// Whether the mover works on the task itself: an assignee who begins or hands in, a person who hands in what nobody else built.
fn counts_as_building(card: &Card, who: Mover, to: Status) -> bool {
    match who {
        Mover::Assignee => matches!(to, Status::InProgress | Status::InReview),
        Mover::Human => to == Status::InReview && card.status == Status::InProgress && card.contributors.built_by.is_empty(),
        _ => false,
    }
}

/// What a legal move writes.
struct Change {
    to: Status,
    /// As what the caller moves it.
    who: Mover,
    held_by: Option<HeldBy>,
    cancel: Option<CancelReason>,
    approved: Option<Sha>,
    approver: Option<String>,
    verified: Option<String>,
    attention: Option<Attention>,
    reason: Option<String>,
}

/// Writes the move. Whatever was open about the task is settled by it: attention, failures, an unanswered question, an older approval.
async fn write(tx: &mut Tx, caller: &Caller, task: &Task, change: Change) -> Result<()> {
    let card = &task.card;
    let stays = card.status == Status::Done && change.to == Status::Done;
    let merged = stays || (card.is_approved() && change.to == Status::Done && *caller == Caller::Runner);
    let approved = if merged { card.approved_sha.as_ref() } else { change.approved.as_ref() };
    let changed = sqlx::query(
        "UPDATE tasks SET status = $3, held_by = $4, cancel_reason = $5, approved_sha = $6, attention = $7, wait_reason = NULL,
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
        return Err(Refusal::IllegalMove { task: card.id.clone(), phase: card.phase, from: card.status, to: change.to, who: change.who }.into());
    }
    if change.to != card.status {
        let event = Event::TaskMoved { from: card.status, to: change.to, reason: change.reason.clone() };
        tx.record_for_task(caller, &card.project_id, &card.id, event);
        if !change.to.is_open() {
            agent::leave_runs_of(tx, &card.project_id, &card.id).await?;
        }
    }
    notice::notify_move(tx, caller, task, &change).await?;
    if let Some(sha) = change.approved {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskApproved { sha });
    }
    if let Some(by) = change.verified {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskVerified { by });
    }
    if let Some(attention) = change.attention {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::AttentionRequested { attention });
    }
    question::withdraw(tx, &card.id).await
}
