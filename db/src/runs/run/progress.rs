//! What becomes known of a run while it lasts: session, checkout, process, consumption.

use domain::event::Event;
use domain::id::{RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Usage;

use crate::board::comment;
use crate::board::task;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::run::read;

impl Db {
    /// Stores the session that a run is about to use, before it is used. The author's sessions are the task's own.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn run_session(&self, id: &RunId, session: &str) -> Result<()> {
        let (id, session) = (id.clone(), session.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                if run.session_id.as_deref() == Some(session.as_str()) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let card = task::read::card(&mut tx.connection, &run.task_id).await?;
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
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, Event::RunSessionSet { session_id: session });
                Ok(())
            })
        })
        .await
    }

    /// Stores what a run consumed so far. The cost is told to everybody, the samples only to those who look.
    ///
    /// # Errors
    /// When there is no such run.
    pub async fn run_usage(&self, id: &RunId, usage: Usage) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let run = read(&mut tx.connection, &id).await?;
                write_usage(tx, &id, usage).await?;
                if run.cost_micro_usd == usage.cost_micro_usd {
                    tx.skip_event(NoEventReason::UsageSamples);
                    return Ok(());
                }
                let card = task::read::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, Event::RunUsage { cost_micro_usd: usage.cost_micro_usd });
                Ok(())
            })
        })
        .await
    }

    /// Marks that a run was reminded of its card. True the first time: there is one reminder a run.
    ///
    /// # Errors
    /// When there is no such run.
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
                let card = task::read::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, Event::RunReminded {});
                Ok(true)
            })
        })
        .await
    }

    /// Stops a run for the person: its token is fenced at once, the card keeps its column and is held.
    ///
    /// # Errors
    /// When the run is over.
    pub async fn stop_run(&self, caller: &Caller, id: &RunId) -> Result<()> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("stopping runs")?;
                let run = read(&mut tx.connection, &id).await?;
                if !run.is_live() {
                    return Err(Refusal::NoLiveRun(id.to_string()).into());
                }
                task::stop(tx, &caller, &run.task_id).await
            })
        })
        .await
    }

    /// Stores where a task's checkout is, before it is made.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn record_checkout(&self, id: &TaskId, branch: &str, worktree: &str) -> Result<()> {
        let (id, branch, worktree) = (id.clone(), branch.to_owned(), worktree.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let task = task::read::task(&mut tx.connection, &id).await?;
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
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, Event::CheckoutCreated { branch });
                Ok(())
            })
        })
        .await
    }

    /// Stores that a task's checkout is gone, and what keeps the work that was not merged.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn checkout_removed(&self, id: &TaskId, rescue: Option<String>) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let task = task::read::task(&mut tx.connection, &id).await?;
                if task.worktree_path.is_none() {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                sqlx::query("UPDATE tasks SET worktree_path = NULL, branch = NULL WHERE id = $1")
                    .bind(id.as_str())
                    .execute(&mut tx.connection)
                    .await?;
                if let Some(reference) = &rescue {
                    let words = format!("What was not merged is kept as `{reference}`; `git branch NAME {reference}` brings it back.");
                    comment::insert(tx, &Caller::Runner, &task.card.project_id, &id, &words).await?;
                }
                tx.record_for_task(&Caller::Runner, &task.card.project_id, &id, Event::CheckoutRemoved { rescue });
                Ok(())
            })
        })
        .await
    }

    /// Forgets every session of `task` in `phase`, because the agent's program does not know them any more: the next run begins a new one.
    ///
    /// # Errors
    /// When there is no such task.
    pub async fn clear_sessions(&self, task: &TaskId, phase: AgentKind) -> Result<()> {
        let task = task.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = task::read::card(&mut tx.connection, &task).await?;
                let forgotten = sqlx::query("UPDATE agent_runs SET session_id = NULL WHERE task_id = $1 AND phase = $2 AND session_id IS NOT NULL")
                    .bind(task.as_str())
                    .bind(phase.as_str())
                    .execute(&mut tx.connection)
                    .await?;
                if forgotten.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                if card.phase == phase {
                    sqlx::query("UPDATE tasks SET session_id = NULL WHERE id = $1").bind(task.as_str()).execute(&mut tx.connection).await?;
                }
                tx.record_for_task(&Caller::Runner, &card.project_id, &task, Event::RunSessionSet { session_id: String::new() });
                Ok(())
            })
        })
        .await
    }
}

pub(crate) async fn write_usage(tx: &mut Tx, id: &RunId, usage: Usage) -> Result<()> {
    sqlx::query(
        "UPDATE agent_runs SET cost_micro_usd = $2, input_tokens = $3, output_tokens = $4, context_tokens = COALESCE($5, context_tokens),
                context_limit = COALESCE($6, context_limit), turns = $7 WHERE id = $1",
    )
    .bind(id.as_str())
    .bind(usage.cost_micro_usd)
    .bind(usage.input_tokens)
    .bind(usage.output_tokens)
    .bind(usage.context_tokens)
    .bind(usage.context_limit)
    .bind(usage.turns)
    .execute(&mut tx.connection)
    .await?;
    // Kept on the task, so that a board sums nothing over runs.
    sqlx::query(
        "UPDATE tasks SET cost_micro_usd = (SELECT CAST(COALESCE(SUM(r.cost_micro_usd), 0) AS BIGINT) FROM agent_runs r WHERE r.task_id = tasks.id)
         WHERE id = (SELECT task_id FROM agent_runs WHERE id = $1)",
    )
    .bind(id.as_str())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}
