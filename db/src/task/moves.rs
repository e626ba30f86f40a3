//! Moving tasks: the transition table, applied with everything it asks for.

use domain::attention::{Attention, AttentionKind};
use domain::event::Event;
use domain::evidence::{Found, Look, Sha};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::task::{CancelReason, Card, HeldBy, Phase, Status, Task};
use domain::text;
use domain::transition::{Mover, Need, rule};

use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::task::{read, settle};
use crate::tx::{Quiet, Tx};
use crate::{comment, question, run};

/// A wish to move a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Move {
    pub to: Status,
    /// Why. When sending back it is what to change; when cancelling, one of the four reasons.
    pub reason: Option<String>,
    /// With a person's move to done: whether the branch is merged.
    pub merge: bool,
}

impl Move {
    pub fn to(to: Status) -> Self {
        Self { to, reason: None, merge: true }
    }
}

impl Db {
    /// What the caller must look up in the repository before it can ask for this move.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn look(&self, caller: &Caller, id: &TaskId, to: Status) -> Result<Look> {
        let task = self.task(id).await?;
        let Some(branch) = task.branch else { return Ok(Look::Nothing) };
        let project = self.project(&task.card.project_id).await?;
        let to = if approves(caller, to) { Status::InReview } else { to };
        Ok(match rule(task.card.phase, task.card.status, to, caller.mover()).map(|rule| rule.needs) {
            Some(Need::Evidence) => match task.worktree_path {
                Some(worktree) => Look::Evidence { git_dir: project.git_dir, worktree, branch, base: project.integration_branch },
                None => Look::Nothing,
            },
            Some(Need::Verdict | Need::Approval) => Look::Head { git_dir: project.git_dir, branch },
            _ => Look::Nothing,
        })
    }

    /// Moves a task as the table allows.
    ///
    /// # Errors
    /// When the move is not in the table for this caller, or something that it needs is missing.
    pub async fn move_task(&self, caller: &Caller, id: &TaskId, wish: Move, found: Found) -> Result<Task> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                if let Some(task) = tx.replayed(&caller).await? {
                    tx.quiet(Quiet::NothingChanged);
                    return Ok(task);
                }
                tx.admit(&caller).await?;
                let task = read::task(&mut tx.connection, &id).await?;
                own_task(tx, &caller, &task, wish.to).await?;
                apply(tx, &caller, &task, &wish, &found).await?;
                settle::all(tx, &caller, &task.card.project_id).await?;
                let task = read::task(&mut tx.connection, &id).await?;
                tx.remember(&caller, &task).await?;
                Ok(task)
            })
        })
        .await
    }
}

/// An agent moves the task of its run; an orchestrator may also cancel others of its project.
async fn own_task(tx: &mut Tx, caller: &Caller, task: &Task, to: Status) -> Result<()> {
    let Caller::Run(run) = caller else { return Ok(()) };
    if task.card.id == run.task_id {
        return Ok(());
    }
    if run.phase == Phase::Orchestrator && to == Status::Cancelled && task.card.project_id == run.project_id {
        return Ok(());
    }
    // A task of another project is not even admitted to exist.
    let own = read::card(&mut tx.connection, &run.task_id).await?;
    if own.project_id != task.card.project_id {
        return Err(Refusal::not_found("task", &task.card.id).into());
    }
    Err(Refusal::NotYourTask { task: task.card.id.clone(), own: run.task_id.clone() }.into())
}

pub(crate) fn not_now(card: &Card, problem: &str, hint: &str) -> Refusal {
    Refusal::NotNow { task: card.id.clone(), status: card.status, problem: problem.to_owned(), hint: hint.to_owned() }
}

/// A reviewer's "done" is an approval: the runner moves the card when the merge held.
fn approves(caller: &Caller, to: Status) -> bool {
    caller.mover() == Mover::Reviewer && to == Status::Done
}

pub(crate) async fn apply(tx: &mut Tx, caller: &Caller, task: &Task, wish: &Move, found: &Found) -> Result<()> {
    let card = &task.card;
    let to = if approves(caller, wish.to) { Status::InReview } else { wish.to };
    let illegal = || Refusal::IllegalMove { task: card.id.clone(), phase: card.phase, from: card.status, to: wish.to, who: caller.mover() };
    let rule = rule(card.phase, card.status, to, caller.mover()).ok_or_else(illegal)?;
    let reason = text::optional_body("reason", wish.reason.as_deref())?;
    let missing_reason = || Refusal::ReasonNeeded { task: card.id.clone(), to };
    let mut change = Change { to, held_by: None, cancel: None, approved: None, attention: None, reason: reason.clone() };
    match rule.needs {
        Need::Nothing => {}
        Need::Merged => approved(card)?,
        Need::DependenciesDone => dependencies_done(tx, task).await?,
        Need::Evidence => evidence(tx, caller, task, found).await?,
        Need::ChildrenOrReason => change.attention = children_or_reason(tx, caller, task, reason.as_deref()).await?,
        Need::Verdict => change.approved = Some(verdict(tx, caller, task, found).await?),
        Need::Approval => approval(tx, caller, task, wish, found, &mut change).await?,
        Need::Comment => sent_back(tx, caller, task, reason.as_deref()).await?,
        Need::Reason if to == Status::Cancelled => {
            change.cancel = Some(reason.ok_or_else(missing_reason)?.trim().parse::<CancelReason>().map_err(|error| {
                Refusal::invalid("reason", error.to_string(), "Say why it is given up: failed, abandoned, obsolete or duplicate.")
            })?);
        }
        Need::Reason => {
            comment::insert(tx, caller, &card.project_id, &card.id, &reason.ok_or_else(missing_reason)?).await?;
        }
    }
    if to == Status::Backlog {
        change.held_by = Some(HeldBy::Human);
    }
    let own_run = card.run.as_ref().is_some_and(|live| caller.run() == Some(&live.id));
    if *caller == Caller::Human || (to == Status::Cancelled && !own_run) {
        run::fence(tx, caller, card).await?;
    }
    write(tx, caller, task, change).await
}

/// What a legal move writes.
struct Change {
    to: Status,
    held_by: Option<HeldBy>,
    cancel: Option<CancelReason>,
    approved: Option<Sha>,
    attention: Option<Attention>,
    reason: Option<String>,
}

/// Writes the move. Whatever was open about the task is settled by it: attention, failures, an unanswered question, an older approval.
async fn write(tx: &mut Tx, caller: &Caller, task: &Task, change: Change) -> Result<()> {
    let card = &task.card;
    let merged = card.is_approved() && change.to == Status::Done && *caller == Caller::Runner;
    let approved = if merged { card.approved_sha.as_ref() } else { change.approved.as_ref() };
    let changed = sqlx::query(
        "UPDATE tasks SET status = $3, held_by = $4, cancel_reason = $5, approved_sha = $6, attention = $7, why = NULL,
                failures = 0, last_failure = NULL, retry_at = NULL, updated_at = $8
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
    .execute(&mut tx.connection)
    .await?;
    if changed.rows_affected() == 0 {
        return Err(Refusal::IllegalMove { task: card.id.clone(), phase: card.phase, from: card.status, to: change.to, who: caller.mover() }.into());
    }
    if change.to != card.status {
        let event = Event::TaskMoved { from: card.status, to: change.to, reason: change.reason };
        tx.record_for_task(caller, &card.project_id, &card.id, event);
    }
    if let Some(sha) = change.approved {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskApproved { sha });
    }
    if let Some(attention) = change.attention {
        tx.record_for_task(caller, &card.project_id, &card.id, Event::TaskNeedsYou { attention });
    }
    question::withdraw(tx, &card.id).await
}

fn approved(card: &Card) -> Result<(), Refusal> {
    if card.is_approved() { Ok(()) } else { Err(not_now(card, "nobody approved it", "Wait for a review.")) }
}

async fn dependencies_done(tx: &mut Tx, task: &Task) -> Result<()> {
    if task.card.held_by.is_some() {
        return Err(not_now(&task.card, "it is held", "Leave it until it is started.").into());
    }
    let mut open = Vec::new();
    for id in &task.card.depends_on {
        if !read::card(&mut tx.connection, id).await?.satisfies_dependents() {
            open.push(id.clone());
        }
    }
    if open.is_empty() { Ok(()) } else { Err(Refusal::DependenciesOpen { task: task.card.id.clone(), open }.into()) }
}

async fn evidence(tx: &mut Tx, caller: &Caller, task: &Task, found: &Found) -> Result<()> {
    let id = task.card.id.clone();
    let Found::Evidence(evidence) = found else {
        return Err(Refusal::NoCommits { task: id, base: "the project branch".to_owned() }.into());
    };
    if !evidence.is_clean() {
        return Err(Refusal::NotClean { task: id, count: evidence.dirty_count, paths: evidence.dirty_paths.clone() }.into());
    }
    if evidence.ahead == 0 && !spoke(tx, caller, task).await? {
        return Err(Refusal::NoCommits { task: id, base: evidence.base.clone() }.into());
    }
    if evidence.diff_empty && !spoke(tx, caller, task).await? {
        return Err(Refusal::EmptyDiff { task: id }.into());
    }
    Ok(())
}

/// Whether this run left a comment; a person need not.
async fn spoke(tx: &mut Tx, caller: &Caller, task: &Task) -> Result<bool> {
    let Some(run) = caller.run() else { return Ok(true) };
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM comments WHERE task_id = $1 AND run_id = $2 LIMIT 1")
        .bind(task.card.id.as_str())
        .bind(run.as_str())
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// What the person must look at when a planner made nothing.
async fn children_or_reason(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<Option<Attention>> {
    let card = &task.card;
    let children: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tasks WHERE parent_task_id = $1 AND status <> 'cancelled'")
        .bind(card.id.as_str())
        .fetch_one(&mut tx.connection)
        .await?;
    if let Some(reason) = reason {
        comment::insert(tx, caller, &card.project_id, &card.id, reason).await?;
    }
    if children > 0 || card.phase == Phase::Orchestrator || (reason.is_some() && *caller == Caller::Human) {
        return Ok(None);
    }
    let Some(reason) = reason else { return Err(Refusal::EmptyPlan { task: card.id.clone() }.into()) };
    let detail = format!("The planner made no tasks: {}", text::excerpt(reason, 300));
    Ok(Some(Attention::new(AttentionKind::EmptyPlan, detail)))
}

async fn verdict(tx: &mut Tx, caller: &Caller, task: &Task, found: &Found) -> Result<Sha> {
    let Found::Head(head) = found else { return Err(Refusal::NothingToApprove { task: task.card.id.clone() }.into()) };
    if let Some(own) = caller.run() {
        let run = run::read(&mut tx.connection, own).await?;
        if run::wrote(tx, task, &run).await? {
            return Err(Refusal::OwnWork { task: task.card.id.clone() }.into());
        }
        if run.sha.as_ref() != Some(head) {
            return Err(Refusal::HeadMoved { task: task.card.id.clone(), head: head.clone(), judged: run.sha.unwrap_or_default() }.into());
        }
    }
    judge(tx, caller, task, head, "approved").await?;
    Ok(head.clone())
}

async fn judge(tx: &mut Tx, caller: &Caller, task: &Task, sha: &str, verdict: &str) -> Result<()> {
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

/// A person's move to done: the tip is approved and queued; without a branch, or when they say so, the task is simply closed.
async fn approval(tx: &mut Tx, caller: &Caller, task: &Task, wish: &Move, found: &Found, change: &mut Change) -> Result<()> {
    match found {
        Found::Head(head) if wish.merge => {
            judge(tx, caller, task, head, "approved").await?;
            change.to = Status::InReview;
            change.approved = Some(head.clone());
        }
        // A branch that was made since somebody looked is not closed over.
        _ if wish.merge && task.branch.is_some() => return Err(Refusal::NothingToApprove { task: task.card.id.clone() }.into()),
        _ => {}
    }
    Ok(())
}

async fn sent_back(tx: &mut Tx, caller: &Caller, task: &Task, reason: Option<&str>) -> Result<()> {
    let card = &task.card;
    match reason {
        Some(reason) => {
            comment::insert(tx, caller, &card.project_id, &card.id, reason).await?;
        }
        None if caller.run().is_some() && spoke(tx, caller, task).await? => {}
        None => return Err(Refusal::CommentNeeded { task: card.id.clone(), to: Status::InProgress }.into()),
    }
    if let Some(own) = caller.run() {
        let judged = run::read(&mut tx.connection, own).await?.sha.unwrap_or_default();
        judge(tx, caller, task, &judged, "sent_back").await?;
    }
    sqlx::query("UPDATE tasks SET review_rounds = review_rounds + $2 WHERE id = $1")
        .bind(card.id.as_str())
        // Only what goes round without a person counts towards the limit; their word starts it afresh.
        .bind(if *caller == Caller::Human { -i64::from(task.review_rounds) } else { 1 })
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}
