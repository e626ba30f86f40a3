//! Facts about a run while it lasts: its session, checkout, reminder and usage.

use domain::id::{RunId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::CheckoutEvent;
use domain::runs::checkout::KeptWork;
use domain::runs::run::{Run, RunChange, RunRefusal};
use domain::runs::usage::{Usage, UsageSums};

use crate::board::comment::write as comment;
use crate::board::task::row as tasks;
use crate::board::task::write::stop;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row::read;
use crate::runs::run::write::write_usage;

impl Db {
    /// Stores the session that a run is about to use. A session of the task's own agent kind is also stored with the task.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_session(&self, id: &RunId, session: &str) -> Result<()> {
        let (id, session) = (id.clone(), session.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                if run.session_id.as_deref() == Some(session.as_str()) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                sqlx::query("UPDATE agent_runs SET session_id = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&session)
                    .execute(&mut tx.connection)
                    .await?;
                if run.phase == card.phase {
                    sqlx::query("UPDATE tasks SET session_id = $2 WHERE id = $1")
                        .bind(card.id.as_str())
                        .bind(&session)
                        .execute(&mut tx.connection)
                        .await?;
                }
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::SessionSet { session_id: session });
                Ok(())
            })
        })
        .await
    }

    /// Stores the usage of a run so far. Only what a card shows is recorded as an event: its consumption, and whether its context runs out.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn run_usage(&self, id: &RunId, usage: Usage) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                write_usage(tx, &run, usage).await?;
                let (before, after) = (run.consumed(), UsageSums::from(usage));
                let low_before = run.low_context();
                let context = (usage.context_tokens.or(run.context_tokens), usage.context_limit.or(run.context_limit));
                let run = Run { context_tokens: context.0, context_limit: context.1, ..run };
                let is_same_context = run.low_context() == low_before;
                if is_same_context && (before.cost_micro_usd, before.tokens()) == (after.cost_micro_usd, after.tokens()) {
                    tx.skip_event(NoEventReason::UsageSamples);
                    return Ok(());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                let event = RunChange::UsageReported { cost_micro_usd: after.cost_micro_usd, tokens: after.tokens() };
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, event);
                Ok(())
            })
        })
        .await
    }

    /// Records that a run was reminded of its task. Returns true the first time, because each run gets one reminder.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn mark_reminded(&self, id: &RunId) -> Result<bool> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                let changed = sqlx::query("UPDATE agent_runs SET reminded_at = $2 WHERE id = $1 AND reminded_at IS NULL AND completed_at IS NULL")
                    .bind(id.as_str())
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                if changed.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(false);
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, RunChange::Reminded {});
                Ok(true)
            })
        })
        .await
    }

    /// Stops a run: fences it at once and holds the task in its column.
    ///
    /// # Errors
    /// When the run has ended.
    pub async fn stop_run(&self, caller: &Caller, id: &RunId) -> Result<()> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("stopping runs")?;
                let run = read(&mut tx.connection, &id).await?;
                if !run.is_live() {
                    return Err(RunRefusal::NotLive(id.to_string()).into());
                }
                let project = stop(tx, &caller, &run.task_id).await?;
                task_changed(tx, &caller, &project, &run.task_id).await
            })
        })
        .await
    }

    /// Stores the path of a task's checkout before it is created.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn record_checkout(&self, id: &TaskId, branch: &str, worktree: &str) -> Result<()> {
        let (id, branch, worktree) = (id.clone(), branch.to_owned(), worktree.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                if task.branch.as_ref() == Some(&branch) && task.worktree_path.as_ref() == Some(&worktree) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE tasks SET branch = $2, worktree_path = $3, updated_at = $4 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&branch)
                    .bind(&worktree)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, CheckoutEvent::Created { branch });
                Ok(())
            })
        })
        .await
    }

    /// Records that a task's checkout was removed, and which references keep its unmerged work.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn checkout_removed(&self, id: &TaskId, kept: KeptWork) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                if task.worktree_path.is_none() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE tasks SET worktree_path = NULL, branch = NULL, replace_tree = 0 WHERE id = $1")
                    .bind(id.as_str())
                    .execute(&mut tx.connection)
                    .await?;
                if !task.card.status.is_open() {
                    sqlx::query("UPDATE agent_runs SET checkpoints = '[]' WHERE task_id = $1 AND checkpoints <> '[]'")
                        .bind(id.as_str())
                        .execute(&mut tx.connection)
                        .await?;
                }
                if let Some(note) = kept.note() {
                    comment::insert(tx, &Caller::Runner, &task.card.project_id, &id, &note).await?;
                }
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, CheckoutEvent::Removed { rescue: kept.own });
                Ok(())
            })
        })
        .await
    }

    /// Whether a person wants the worktree of a task replaced before its next run.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn wants_new_tree(&self, id: &TaskId) -> Result<bool> {
        Ok(sqlx::query_scalar("SELECT replace_tree FROM tasks WHERE id = $1").bind(id.as_str()).fetch_one(&self.readers).await?)
    }

    /// Adds a comment of the runner about what a live run did outside of its work.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn note_for_run(&self, run: &RunId, note: &str) -> Result<()> {
        let (run, note) = (run.clone(), note.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &run).await?;
                if !run.is_live() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                comment::insert(tx, &Caller::Runner, &card.project_id, &card.id, &note).await?;
                Ok(())
            })
        })
        .await
    }

    /// Clears every session of `task` in `phase`, because the agent program lost them. The next run starts a new one.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn clear_sessions(&self, task: &TaskId, phase: AgentKind) -> Result<()> {
        let task = task.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &task).await?;
                let cleared = sqlx::query("UPDATE agent_runs SET session_id = NULL WHERE task_id = $1 AND phase = $2 AND session_id IS NOT NULL")
                    .bind(task.as_str())
                    .bind(phase.as_str())
                    .execute(&mut tx.connection)
                    .await?;
                if cleared.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                if card.phase == phase {
                    sqlx::query("UPDATE tasks SET session_id = NULL WHERE id = $1").bind(task.as_str()).execute(&mut tx.connection).await?;
                }
                tx.record_for_task(&Caller::Runner, &card.project_id, &task, RunChange::SessionSet { session_id: String::new() });
                Ok(())
            })
        })
        .await
    }
}
