//! Checks in the store: the results of commands on trees, and how far the checks of a task are. Must not run a command.

pub(crate) mod row;
pub(crate) mod write;

use std::path::PathBuf;

use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::runs::check::{CheckEvent, CheckResult, StageResults, TaskChecks};
use domain::runs::evidence::{EvidenceResult, Sha};

use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::MoveRequest;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::runs::check::write::NewCheckResult;

impl Db {
    /// Lists the results of the commands of one version of a profile on a tree.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn check_results(&self, project: &ProjectId, tree: &Sha, profile_version: u32) -> Result<Vec<CheckResult>> {
        let mut connection = self.readers.acquire().await?;
        row::results(&mut connection, project, tree, profile_version).await
    }

    /// Lists the checks of a task with their results, stage by stage.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn task_checks(&self, id: &TaskId) -> Result<Vec<StageResults>> {
        let mut connection = self.readers.acquire().await?;
        let card = tasks::outline(&mut connection, id).await?;
        let project = projects::read(&mut connection, &card.project_id).await?;
        let mut stages = Vec::with_capacity(card.checks.len());
        for checks in card.checks {
            let mut results = row::results(&mut connection, &card.project_id, &checks.tree, checks.profile_version).await?;
            // Another stage may have run its commands on the same files. Those of an earlier profile are not known.
            if checks.profile_version == project.profile_version {
                let commands = &checks.stage.list(&project.profile.checks).commands;
                results.retain(|result| commands.contains(&result.command));
            }
            stages.push(StageResults { checks, results });
        }
        Ok(stages)
    }

    /// Returns the file with the output of a result. It may be removed already.
    ///
    /// # Errors
    /// When the result does not exist.
    pub async fn check_output(&self, id: i64) -> Result<PathBuf> {
        let found: Option<String> =
            sqlx::query_scalar("SELECT output FROM check_results WHERE id = $1").bind(id).fetch_optional(&self.readers).await?;
        Ok(PathBuf::from(found.ok_or_else(|| Refusal::not_found("check result", id))?))
    }

    /// Records how a command ended that ran for one task, or for the project branch. A later result of the same command on the same tree
    /// replaces an earlier one.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn record_check_result(&self, project: &ProjectId, task: Option<&TaskId>, result: NewCheckResult) -> Result<()> {
        let (project, task) = (project.clone(), task.cloned());
        self.write(move |tx| {
            Box::pin(async move {
                projects::read(&mut tx.connection, &project).await?;
                write::insert(tx, &project, &result).await?;
                let NewCheckResult { command, outcome, .. } = result;
                tx.record_without_card(&Caller::Runner, &project, task.as_ref(), CheckEvent::Ended { command, outcome });
                Ok(())
            })
        })
        .await
    }

    /// Shows on its card how far the checks of a task are.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn set_task_checks(&self, id: &TaskId, checks: TaskChecks) -> Result<()> {
        let id = id.clone();
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::outline(&mut tx.connection, &id).await?;
                if card.checks.contains(&checks) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                write::replace_stage(tx, &card, checks).await
            })
        })
        .await
    }

    /// Records that submitted work failed its quick checks. The task goes back to its coder with the reason, as from a review.
    ///
    /// # Errors
    /// When the task no longer waits for a review of `sha`.
    pub async fn record_failed_checks(&self, id: &TaskId, sha: &str, reason: &str) -> Result<Task> {
        let (id, sha, reason) = (id.clone(), sha.to_owned(), reason.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                if row::submission(&mut tx.connection, &id).await?.as_ref() != Some(&sha) {
                    return Err(wrong_status(&task.card, "it no longer waits for a review of this commit", "Read it again.").into());
                }
                let back = MoveRequest { to: Status::InProgress, reason: Some(reason), merge: false };
                move_task(tx, &Caller::Runner, &task, &back, &EvidenceResult::Nothing).await?;
                task_changed(tx, &Caller::Runner, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Returns the commit of a task that was submitted and waits for its review, if there is one.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn submission_in_review(&self, id: &TaskId) -> Result<Option<Sha>> {
        let mut connection = self.readers.acquire().await?;
        row::submission(&mut connection, id).await
    }

    /// Whether a merge of the approved commit `sha` into files `tree` could be recorded, apart from the branch.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn may_record_merge(&self, id: &TaskId, sha: &str, tree: &str) -> Result<bool> {
        let mut connection = self.readers.acquire().await?;
        let card = tasks::outline(&mut connection, id).await?;
        let project = projects::read(&mut connection, &card.project_id).await?;
        let is_approved = card.is_approved() && card.approved_sha.as_deref() == Some(sha);
        Ok(is_approved && row::not_passed(&mut connection, &project, tree).await?.is_empty())
    }
}
