//! Checkpoints in the store: what a run keeps, and the checkpoint to which a task is rewound. Must not know how files are kept.

pub(crate) mod row;

use domain::id::{RunId, TaskId};
use domain::runs::checkpoint::Checkpoint;
use domain::runs::evidence::Sha;
use domain::runs::run::RunChange;

use crate::board::comment::write as comment;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::run::row::read;

use row::{checkpoints, of_run};

impl Db {
    /// Adds a checkpoint to its run, and returns those that the run no longer keeps.
    ///
    /// # Errors
    /// When the run does not exist.
    pub async fn record_checkpoint(&self, id: &RunId, checkpoint: Checkpoint) -> Result<Vec<Sha>> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let mut run = read(&mut tx.connection, &id).await?;
                let event = RunChange::CheckpointTaken { checkpoint: checkpoint.sha.clone(), files: checkpoint.files };
                let dropped = checkpoint.clone().add_to(&mut run.checkpoints);
                sqlx::query("UPDATE agent_runs SET checkpoints = $2 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(serde_json::to_string(&run.checkpoints)?)
                    .execute(&mut tx.connection)
                    .await?;
                let card = tasks::card(&mut tx.connection, &run.task_id).await?;
                tx.record_for_run(&Caller::Runner, &card.project_id, &card.id, &id, event);
                Ok(dropped)
            })
        })
        .await
    }

    /// All checkpoints of a task, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn checkpoints(&self, task: &TaskId) -> Result<Vec<Sha>> {
        let found = checkpoints(&mut *self.readers.acquire().await?, task).await?;
        Ok(found.into_iter().map(|(_, checkpoint)| checkpoint.sha).collect())
    }

    /// The newest checkpoint of a task.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn last_checkpoint(&self, task: &TaskId) -> Result<Option<Sha>> {
        let row = sqlx::query(
            "SELECT id, checkpoints FROM agent_runs WHERE task_id = $1 AND checkpoints <> '[]' ORDER BY length(id) DESC, id DESC LIMIT 1",
        )
        .bind(task.as_str())
        .fetch_optional(&self.readers)
        .await?;
        let last = row.as_ref().map(of_run).transpose()?.and_then(|found| found.into_iter().last());
        Ok(last.map(|(_, checkpoint)| checkpoint.sha))
    }

    /// The checkpoint to which a person wants a task rewound before its next run.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn rewind_target(&self, task: &TaskId) -> Result<Option<Sha>> {
        Ok(sqlx::query_scalar("SELECT rewind_sha FROM tasks WHERE id = $1").bind(task.as_str()).fetch_one(&self.readers).await?)
    }

    /// Records that the worktree of a task has the files of its [`Db::rewind_target`], and tells its agents.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn record_rewound(&self, task: &TaskId) -> Result<()> {
        let task = task.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &task).await?;
                let target: Option<Sha> =
                    sqlx::query_scalar("SELECT rewind_sha FROM tasks WHERE id = $1").bind(task.as_str()).fetch_one(&mut tx.connection).await?;
                let Some(target) = target else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                sqlx::query("UPDATE tasks SET rewind_sha = NULL WHERE id = $1").bind(task.as_str()).execute(&mut tx.connection).await?;
                let found = checkpoints(&mut tx.connection, &task).await?.into_iter().find(|(_, checkpoint)| checkpoint.sha == target);
                match found {
                    Some((run, checkpoint)) => {
                        comment::insert(tx, &Caller::Runner, &card.project_id, &task, &checkpoint.comment(&run)).await?;
                    }
                    None => tx.skip_event(NoEventReason::NothingChanged),
                }
                Ok(())
            })
        })
        .await
    }
}
