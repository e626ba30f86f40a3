//! Runs: reserved before anything is started, ended once, and fenced the moment a person steps in.

mod end;
mod message;
mod progress;

pub use end::RunEnd;
pub use message::RunMessage;

use std::path::{Path, PathBuf};

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::event::Event;
use domain::id::{RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{EvidenceResult, Sha};
use domain::runs::run::Run;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::board::goal;
use crate::board::task::read;
use crate::board::task::read::{count, optional, parsed};
use crate::board::task::{MoveRequest, apply, wrong_status};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::team::agent;
use crate::team::contribution;
use crate::team::contribution::Contribution;
use crate::team::token;
use crate::team::token::TokenOwner;

/// A run that the plan decided on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRun {
    pub task: TaskId,
    pub phase: AgentKind,
    /// Where the plan saw the task; if it stands elsewhere by now, nothing is reserved.
    pub status: Status,
    /// The commit to work from, or to judge.
    pub sha: Option<Sha>,
    pub worktree_path: Option<String>,
    /// The folder that holds the folders of all runs.
    pub runs_root: PathBuf,
    pub port: Option<u16>,
}

/// A run that may be started now, by nobody else.
#[derive(Debug, Clone, PartialEq)]
pub struct ReservedRun {
    pub run: Run,
    pub run_dir: PathBuf,
    /// What the agent shows as its own. Known nowhere else.
    pub token: String,
}

impl Db {
    /// Reserves a run: the task is moved to in_progress where it was waiting, and the agent's token is made, all before any process.
    ///
    /// # Errors
    /// When the task moved since the plan looked, is held or needs the person, has a live run already, or is not where an agent of the
    /// phase works; when the port is taken.
    pub async fn reserve_run(&self, new: NewRun) -> Result<ReservedRun> {
        let token = token::new_token();
        self.write(move |tx| {
            Box::pin(async move {
                let task = read::task(&mut tx.connection, &new.task).await?;
                let card = &task.card;
                if let Some(live) = &card.run {
                    return Err(Refusal::RunEnding { task: card.id.clone(), run: live.id.clone() }.into());
                }
                if card.status != new.status || card.held_by.is_some() || card.attention.is_some() {
                    return Err(wrong_status(card, "it changed since the runner looked", "The runner looks again.").into());
                }
                let works = match card.status {
                    // Whoever it is assigned to does it.
                    _ if card.contributors.assigned_to.is_some() => None,
                    Status::Backlog | Status::InProgress => Some(card.phase),
                    Status::InReview if card.approved_sha.is_none() => Some(AgentKind::Reviewer),
                    Status::InReview | Status::Done | Status::Cancelled => None,
                };
                if works != Some(new.phase) {
                    return Err(wrong_status(card, &format!("no {} works on it there", new.phase), "The runner looks again.").into());
                }
                if let Some(port) = new.port {
                    port_is_free(tx, port).await?;
                }
                if card.status == Status::Backlog {
                    apply(tx, &Caller::Runner, &task, &MoveRequest::to(Status::InProgress), &EvidenceResult::Nothing).await?;
                }
                let (id, run_dir) = insert(tx, &new).await?;
                token::insert(tx, &token::hash(&token), TokenOwner::Run(&id)).await?;
                sqlx::query("UPDATE tasks SET wait_reason = NULL WHERE id = $1").bind(card.id.as_str()).execute(&mut tx.connection).await?;
                let run = read(&mut tx.connection, &id).await?;
                agent::join_run(tx, card, &run).await?;
                if run.phase == AgentKind::Coder {
                    contribution::record(tx, &card.id, &Run::agent_name(run.phase, &card.id), Contribution::Built).await?;
                }
                let event = Event::RunStarted { phase: run.phase, attempt: run.attempt };
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
    /// When there is no such run.
    pub async fn run(&self, id: &RunId) -> Result<Run> {
        let mut connection = self.readers.acquire().await?;
        read(&mut connection, id).await
    }

    /// The folder of a run's files.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn run_dir(&self, id: &RunId) -> Result<PathBuf> {
        let found: Option<Option<String>> =
            sqlx::query_scalar("SELECT run_dir FROM agent_runs WHERE id = $1").bind(id.as_str()).fetch_optional(&self.readers).await?;
        found.flatten().map(PathBuf::from).ok_or_else(|| Error::Refused(Refusal::not_found("run", id)))
    }

    /// Every run of a task, oldest first.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn runs(&self, task: &TaskId) -> Result<Vec<Run>> {
        let mut connection = self.readers.acquire().await?;
        read::card(&mut connection, task).await?;
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE task_id = $1 ORDER BY length(id), id")
            .bind(task.as_str())
            .fetch_all(&mut *connection)
            .await?;
        rows.iter().map(run_of).collect()
    }

    /// Every run whose end is not recorded.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn live_runs(&self) -> Result<Vec<Run>> {
        let rows = sqlx::query("SELECT * FROM agent_runs WHERE completed_at IS NULL ORDER BY length(id), id").fetch_all(&self.readers).await?;
        rows.iter().map(run_of).collect()
    }

    /// Whether an attempt of this task and phase had a session that the next one resumes.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_session(&self, task: &TaskId, phase: AgentKind) -> Result<Option<String>> {
        let found: Option<Option<String>> = sqlx::query_scalar(
            "SELECT session_id FROM agent_runs WHERE task_id = $1 AND phase = $2 AND session_id IS NOT NULL ORDER BY length(id) DESC, id DESC LIMIT 1",
        )
        .bind(task.as_str())
        .bind(phase.as_str())
        .fetch_optional(&self.readers)
        .await?;
        Ok(found.flatten())
    }
}

async fn port_is_free(tx: &mut Tx, port: u16) -> Result<()> {
    let owner: Option<String> = sqlx::query_scalar("SELECT id FROM agent_runs WHERE port = $1 AND completed_at IS NULL")
        .bind(i64::from(port))
        .fetch_optional(&mut tx.connection)
        .await?;
    match owner {
        Some(owner) => Err(Refusal::invalid("port", format!("{port} belongs to {owner}"), "Choose a port that no live run has.").into()),
        None => Ok(()),
    }
}

/// Whether the session of `run` is one of those that worked on `task` itself.
pub(crate) async fn is_author_session(tx: &mut Tx, task: &Task, run: &Run) -> Result<bool> {
    let found: Option<i64> = sqlx::query_scalar("SELECT 1 FROM agent_runs WHERE task_id = $1 AND phase = $2 AND session_id = $3 LIMIT 1")
        .bind(task.card.id.as_str())
        .bind(task.card.phase.as_str())
        .bind(&run.session_id)
        .fetch_optional(&mut tx.connection)
        .await?;
    Ok(found.is_some())
}

/// The folder of a new run. The random suffix keeps it apart from what another database, or this one before a restore, left in `runs_root`,
/// so the writer need not look at the disk.
fn folder_name(runs_root: &Path, id: &RunId) -> PathBuf {
    runs_root.join(format!("{id}-{:08x}", rand::random::<u32>()))
}

async fn insert(tx: &mut Tx, new: &NewRun) -> Result<(RunId, PathBuf)> {
    let id = RunId::new(tx.next_number(RunId::PREFIX).await?);
    let run_dir = folder_name(&new.runs_root, &id);
    sqlx::query(
        "INSERT INTO agent_runs (id, task_id, phase, attempt, worktree_path, run_dir, sha, port, started_at)
         VALUES ($1, $2, $3, (SELECT COUNT(*) + 1 FROM agent_runs WHERE task_id = $2 AND phase = $3 AND end_class IS DISTINCT FROM 'parked'), $4, $5, $6, $7, $8)",
    )
    .bind(id.as_str())
    .bind(new.task.as_str())
    .bind(new.phase.as_str())
    .bind(&new.worktree_path)
    .bind(run_dir.to_string_lossy().into_owned())
    .bind(&new.sha)
    .bind(new.port.map(i64::from))
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok((id, run_dir))
}

/// Takes the right to write from a card's live run, because a person stepped in. Its process is ended by the runner.
pub(crate) async fn fence_run(tx: &mut Tx, caller: &Caller, card: &Card) -> Result<()> {
    let Some(live) = card.run.as_ref().filter(|live| !live.stopping) else { return Ok(()) };
    sqlx::query("UPDATE agent_runs SET stop_requested_at = $2 WHERE id = $1")
        .bind(live.id.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_run(caller, &card.project_id, &card.id, &live.id, Event::RunStopRequested {});
    Ok(())
}

pub(crate) async fn read(connection: &mut SqliteConnection, id: &RunId) -> Result<Run> {
    let row = sqlx::query("SELECT * FROM agent_runs WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?;
    run_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("run", id)))?)
}

pub(crate) fn run_of(row: &SqliteRow) -> Result<Run> {
    Ok(Run {
        id: parsed(row, "id")?,
        task_id: parsed(row, "task_id")?,
        phase: parsed(row, "phase")?,
        attempt: count(row, "attempt")?,
        session_id: row.try_get("session_id")?,
        worktree_path: row.try_get("worktree_path")?,
        sha: row.try_get("sha")?,
        port: row.try_get::<Option<i64>, _>("port")?.and_then(|port| u16::try_from(port).ok()),
        started_at: parsed(row, "started_at")?,
        completed_at: optional(row, "completed_at")?,
        stop_requested_at: optional(row, "stop_requested_at")?,
        exit_code: row.try_get("exit_code")?,
        end_class: optional(row, "end_class")?,
        failure: optional(row, "failure")?,
        error: row.try_get("error")?,
        cost_micro_usd: row.try_get("cost_micro_usd")?,
        input_tokens: row.try_get("input_tokens")?,
        output_tokens: row.try_get("output_tokens")?,
        context_tokens: row.try_get("context_tokens")?,
        context_limit: row.try_get("context_limit")?,
        turns: row.try_get("turns")?,
    })
}
