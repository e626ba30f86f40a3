//! Runs: reserved before their process starts, ended once, and fenced as soon as a person intervenes.

pub(crate) mod row;
pub(crate) mod write;

mod end;
mod message;
mod progress;

pub use end::RunEnd;
pub use message::RunMessage;

use std::path::{Path, PathBuf};

use domain::board::status::Status;
use domain::id::{RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::runs::folder;
use domain::runs::run::{Run, RunChange, RunRefusal};
use domain::runs::sandbox::SandboxTier;
use domain::team::token::Permissions;

use crate::board::goal::write as goal;
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::MoveRequest;
use crate::caller::Caller;
use crate::consequences::agent_joined::run_agent_joined;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::runs::pause::row as pauses;
use crate::team::contribution::write as contribution;
use crate::team::contribution::write::Contribution;
use crate::team::token;
use crate::team::token::{StoredTerms, TokenOwner};
use crate::warroom::trigger::row as triggers;

/// A run that the schedule decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    pub task: TaskId,
    pub phase: AgentKind,
    /// The status of the task in the schedule's snapshot. If it changed since, nothing is reserved.
    pub status: Status,
    /// The commit to work from, or to review.
    pub sha: Option<Sha>,
    pub worktree_path: Option<String>,
    /// The folder that holds the folders of all runs.
    pub runs_root: PathBuf,
    pub port: Option<u16>,
    pub sandbox: SandboxTier,
}

/// A run that only the caller may start.
#[derive(Debug, Clone, PartialEq)]
pub struct ReservedRun {
    pub run: Run,
    pub run_dir: PathBuf,
    /// The token of the agent. The store keeps only its hash.
    pub token: String,
}

impl Db {
    /// Reserves a run before its process starts: moves a waiting task to in_progress and creates the agent's token.
    ///
    /// # Errors
    /// When the task moved since the snapshot, is held or paused, needs attention, has a live run, or is not in a status in which an agent of this
    /// kind works; or when the port is taken.
    pub async fn reserve_run(&self, new: NewRun) -> Result<ReservedRun> {
        let token = token::new_token();
        self.write(move |tx| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &new.task).await?;
                let card = &task.card;
                if let Some(live) = &card.run {
                    return Err(RunRefusal::StillEnding { task: card.id.clone(), run: live.id.clone() }.into());
                }
                if card.status != new.status || card.held_by.is_some() || card.attention.is_some() {
                    return Err(wrong_status(card, "it changed since the runner read it", "The runner reads it again.").into());
                }
                let kind = match card.status {
                    // The assignee does it.
                    _ if card.contributors.assigned_to.is_some() => None,
                    Status::Backlog | Status::InProgress => Some(card.phase),
                    Status::InReview if card.approved_sha.is_none() => Some(AgentKind::Reviewer),
                    Status::InReview | Status::Done | Status::Cancelled => None,
                };
                if pauses::is_paused(&mut tx.connection, &card.project_id).await? {
                    return Err(wrong_status(card, "a person paused it", "The runner reads it again.").into());
                }
                triggers::require_no_stop(&mut tx.connection, &card.project_id).await?;
                if kind != Some(new.phase) {
                    return Err(wrong_status(card, &format!("no {} works on it in this status", new.phase), "The runner reads it again.").into());
                }
                if let Some(port) = new.port {
                    require_free_port(tx, port).await?;
                }
                if card.status == Status::Backlog {
                    move_task(tx, &Caller::Runner, &task, &MoveRequest::to(Status::InProgress), &EvidenceResult::Nothing).await?;
                }
                let (id, run_dir) = insert(tx, &new).await?;
                let terms = StoredTerms::for_tools(Permissions::default(), None);
                token::insert(tx, &token::hash(&token), TokenOwner::Run(&id), terms).await?;
                sqlx::query("UPDATE tasks SET wait_reason = NULL WHERE id = $1").bind(card.id.as_str()).execute(&mut tx.connection).await?;
                let run = row::read(&mut tx.connection, &id).await?;
                run_agent_joined(tx, card, &run).await?;
                if run.phase == AgentKind::Coder {
                    contribution::record(tx, &card.id, &Run::agent_name(run.phase, &card.id), Contribution::Built).await?;
                }
                let event = RunChange::Started { phase: run.phase, attempt: run.attempt };
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, event);
                if let Some(goal) = &card.goal_id {
                    goal::sync_status(tx, &Caller::Runner, goal).await?;
                }
                Ok(ReservedRun { run_dir, run, token })
            })
        })
        .await
    }

    /// # Errors
    /// When the run does not exist.
    pub async fn run(&self, id: &RunId) -> Result<Run> {
        let mut connection = self.readers.acquire().await?;
        row::read(&mut connection, id).await
    }

    /// Returns the folder of a run's files.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_dir(&self, id: &RunId) -> Result<PathBuf> {
        let found: Option<Option<String>> =
            sqlx::query_scalar("SELECT run_dir FROM agent_runs WHERE id = $1").bind(id.as_str()).fetch_optional(&self.readers).await?;
        found.flatten().map(PathBuf::from).ok_or_else(|| Error::Refused(Refusal::not_found("run", id)))
    }

    /// Lists the runs of a task, oldest first.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn runs(&self, task: &TaskId) -> Result<Vec<Run>> {
        let mut connection = self.readers.acquire().await?;
        tasks::card(&mut connection, task).await?;
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE task_id = $1 ORDER BY length(id), id")
            .bind(task.as_str())
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(row::run_of).collect()
    }

    /// Lists the runs whose end is not recorded.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn live_runs(&self) -> Result<Vec<Run>> {
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE completed_at IS NULL ORDER BY length(id), id").fetch_all(&self.readers).await?;
        rows.iter().map(row::run_of).collect()
    }

    /// Returns the latest session of this task and agent kind, which the next run resumes. One that is full, or that a person wants
    /// replaced, is not resumed.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_session(&self, task: &TaskId, phase: AgentKind) -> Result<Option<String>> {
        let found: Option<Option<String>> = sqlx::query_scalar(
            "SELECT CASE WHEN r.failure = 'context_full' OR length(r.id) < length(t.forgotten_run)
                       OR (length(r.id) = length(t.forgotten_run) AND r.id <= t.forgotten_run) THEN NULL ELSE r.session_id END
              FROM agent_runs r JOIN tasks t ON t.id = r.task_id
              WHERE r.task_id = $1 AND r.phase = $2 AND r.session_id IS NOT NULL AND COALESCE(r.end_class, '') <> 'not_set_up' ORDER BY length(r.id) DESC, r.id DESC LIMIT 1",
        )
        .bind(task.as_str())
        .bind(phase.as_str())
        .fetch_optional(&self.readers)
        .await?;
        Ok(found.flatten())
    }
}

async fn require_free_port(tx: &mut Tx, port: u16) -> Result<()> {
    let owner: Option<String> = sqlx::query_scalar("SELECT id FROM agent_runs WHERE port = $1 AND completed_at IS NULL")
        .bind(i64::from(port))
        .fetch_optional(&mut tx.connection)
        .await?;
    match owner {
        Some(owner) => Err(Refusal::invalid("port", format!("{port} belongs to {owner}"), "Choose a port that no live run has.").into()),
        None => Ok(()),
    }
}

/// Returns the folder of a new run. Its random suffix makes it new without a look at the disk.
fn new_folder(runs_root: &Path, id: &RunId) -> PathBuf {
    runs_root.join(folder::name_of(id, rand::random()))
}

async fn insert(tx: &mut Tx, new: &NewRun) -> Result<(RunId, PathBuf)> {
    let id = RunId::new(tx.next_number(RunId::PREFIX).await?);
    let run_dir = new_folder(&new.runs_root, &id);
    sqlx::query(
        "INSERT INTO agent_runs (id, task_id, phase, attempt, worktree_path, run_dir, sha, port, started_at, started_uptime_ms, sandbox)
         VALUES ($1, $2, $3, (SELECT COUNT(*) + 1 FROM agent_runs WHERE task_id = $2 AND phase = $3 AND COALESCE(end_class, '') NOT IN ('parked', 'limited', 'not_set_up')), $4, $5, $6, $7, $8, $9, $10)",
    )
    .bind(id.as_str())
    .bind(new.task.as_str())
    .bind(new.phase.as_str())
    .bind(&new.worktree_path)
    .bind(run_dir.to_string_lossy().into_owned())
    .bind(&new.sha)
    .bind(new.port.map(i64::from))
    .bind(tx.now.to_string())
    .bind(crate::uptime())
    .bind(new.sandbox.as_str())
    .execute(&mut tx.connection)
    .await?;
    sqlx::query("UPDATE projects SET agent_started_at = $2 WHERE id = (SELECT project_id FROM tasks WHERE id = $1)")
        .bind(new.task.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok((id, run_dir))
}
