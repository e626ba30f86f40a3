//! Takeovers: a person stops the agent of a task, works in its worktree, and gives it back. Must not read the worktree: the caller does.

use domain::board::status::HeldBy;
use domain::board::takeover::{HandBack, Takeover};
use domain::board::task::Task;
use domain::board::task::refusal::TaskRefusal;
use domain::id::TaskId;
use domain::runs::evidence::Sha;
use domain::runs::run::RunRefusal;
use sqlx::Row;

use crate::board::comment::write as comment;
use crate::board::task::row as tasks;
use crate::board::task::row::{taken_over, wrong_status};
use crate::board::task::write::{release, take_over};
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Stops the agent of a task and holds the task until [`Self::give_back`]. `head` is the tip of its branch.
    ///
    /// # Errors
    /// When the task is finished, has no worktree, or is taken over already.
    pub async fn take_over(&self, caller: &Caller, id: &TaskId, head: &Sha) -> Result<Task> {
        let (caller, id, head) = (caller.clone(), id.clone(), head.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("taking tasks over")?;
                let task = tasks::task(&mut tx.connection, &id).await?;
                if !task.card.status.is_open() {
                    return Err(wrong_status(&task.card, "it is finished", "Create a new task for any remaining work.").into());
                }
                if task.card.held_by == Some(HeldBy::Takeover) {
                    return Err(taken_over(&task.card).into());
                }
                if task.worktree_path.is_none() {
                    return Err(wrong_status(&task.card, "it has no worktree", "Start it first: its first coder creates the worktree.").into());
                }
                take_over(tx, &caller, &task, &head).await?;
                task_changed(tx, &caller, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Where and how to continue a task that is taken over; nothing while its agent is still ending.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn takeover(&self, task: &Task) -> Result<Option<Takeover>> {
        let card = &task.card;
        let (Some(folder), Some(HeldBy::Takeover), None) = (task.worktree_path.clone(), card.held_by, &card.run) else { return Ok(None) };
        let row = sqlx::query(
            "SELECT resume_command || ' ' || session_id AS command FROM agent_runs
             WHERE task_id = $1 AND phase = $2 AND resume_command IS NOT NULL AND session_id IS NOT NULL
             ORDER BY length(id) DESC, id DESC LIMIT 1",
        )
        .bind(card.id.as_str())
        .bind(card.phase.as_str())
        .fetch_optional(&self.readers)
        .await?;
        let command = row.map(|row| row.try_get("command")).transpose()?;
        Ok(Some(Takeover { folder, command }))
    }

    /// The tip of a task's branch when a person took it over.
    ///
    /// # Errors
    /// When it is not taken over, or its agent is still ending.
    pub async fn takeover_head(&self, id: &TaskId) -> Result<Sha> {
        let mut connection = self.readers.acquire().await?;
        let task = tasks::task(&mut connection, id).await?;
        require_given_back(&task)?;
        let head: Option<String> =
            sqlx::query_scalar("SELECT takeover_sha FROM tasks WHERE id = $1").bind(id.as_str()).fetch_one(&mut *connection).await?;
        head.ok_or_else(|| not_taken_over(&task).into())
    }

    /// Lets agents continue a task that was taken over, and tells them what the person left.
    ///
    /// # Errors
    /// When it is not taken over, or its agent is still ending.
    pub async fn give_back(&self, caller: &Caller, id: &TaskId, work: &HandBack) -> Result<Task> {
        let (caller, id, work) = (caller.clone(), id.clone(), work.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_person("giving tasks back")?;
                let task = tasks::task(&mut tx.connection, &id).await?;
                require_given_back(&task)?;
                let text = work.comment(&caller.name().unwrap_or_default());
                comment::insert(tx, &Caller::Runner, &task.card.project_id, &id, &text).await?;
                release(tx, &caller, &task).await?;
                task_changed(tx, &caller, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}

fn require_given_back(task: &Task) -> Result<()> {
    let card = &task.card;
    if card.held_by != Some(HeldBy::Takeover) {
        return Err(not_taken_over(task).into());
    }
    match &card.run {
        Some(live) => Err(RunRefusal::StillEnding { task: card.id.clone(), run: live.id.clone() }.into()),
        None => Ok(()),
    }
}

fn not_taken_over(task: &Task) -> TaskRefusal {
    wrong_status(&task.card, "it is not taken over", "Press Start or Retry to let an agent work on it.")
}
