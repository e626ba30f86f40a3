//! The result of merging an approved branch: merged, or sent back with the reason. Must not read the repository.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::task::event::TaskEvent;
use domain::id::TaskId;
use domain::runs::evidence::{EvidenceResult, Sha};

use crate::board::attention::write as attention;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::board::task::row::wrong_status;
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::review_policy;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::runs::branch::write as branch;
use crate::runs::check::row as check;
use crate::runs::land::write::{self as land, MergedPullRequest};

/// A task whose pull request its host merged, once the project branch has followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedTask {
    /// The approved commit.
    pub sha: Sha,
    /// The name of the project branch, its tip, and the files of that.
    pub branch: String,
    pub head: Sha,
    pub tree: Sha,
    /// How many commits the base branch gained.
    pub commits: u32,
    /// The tasks whose work was merged into the project branch before, and which the base branch has now too.
    pub others: Vec<TaskId>,
}

impl Db {
    /// Records that the approved commit was merged into the project branch, which now points to `head`, whose files are `tree`. The task is
    /// done.
    ///
    /// # Errors
    /// When the task is no longer approved at `sha`, the project wants the approval of a person, or a check of it has not passed on `tree`.
    pub async fn record_merge(&self, id: &TaskId, sha: &str, branch: &str, head: &str, tree: &str) -> Result<Task> {
        let (id, sha, tip) = (id.clone(), sha.to_owned(), BranchTip::new(branch, head, tree));
        self.write(move |tx| {
            Box::pin(async move {
                let task = require_mergeable(tx, &id, &sha).await?;
                record_tip(tx, &task, &tip).await?;
                finish(tx, &task, &sha).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Records that approved commits were merged one after another. Only the last of these merges was checked: the project branch points to it,
    /// and was at none of the others. All tasks are done, or none.
    ///
    /// # Errors
    /// As [`Db::record_merge`], for any of the tasks.
    pub async fn record_merges(&self, merged: Vec<(TaskId, Sha)>, branch: &str, head: &str, tree: &str) -> Result<()> {
        let tip = BranchTip::new(branch, head, tree);
        self.write(move |tx| {
            Box::pin(async move {
                let mut tasks = Vec::with_capacity(merged.len());
                for (id, sha) in &merged {
                    tasks.push((require_mergeable(tx, id, sha).await?, sha));
                }
                let Some((last, _)) = tasks.last() else {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                };
                record_tip(tx, last, &tip).await?;
                for (task, sha) in &tasks {
                    finish(tx, task, sha).await?;
                }
                Ok(())
            })
        })
        .await
    }

    /// Records that the host of its pull request merged the approved commit, and that the project branch has followed. The task is done, and its
    /// work has landed.
    ///
    /// # Errors
    /// As [`Db::record_merge`], or when its pull request is not merged.
    pub async fn record_merged_task(&self, id: &TaskId, merged: MergedTask) -> Result<Task> {
        let id = id.clone();
        let MergedTask { sha, branch, head, tree, commits, others } = merged;
        let tip = BranchTip::new(&branch, &head, &tree);
        self.write(move |tx| {
            Box::pin(async move {
                let task = require_mergeable(tx, &id, &sha).await?;
                let merged = task.card.pull_request.as_ref().filter(|pull_request| pull_request.is_merged() && pull_request.sha == sha);
                let pull_request = merged.ok_or_else(|| wrong_status(&task.card, "its pull request is not merged", "Read it again."))?;
                let project = projects::read(&mut tx.connection, &task.card.project_id).await?;
                record_tip(tx, &task, &tip).await?;
                finish(tx, &task, &sha).await?;
                let tasks = [id.clone()].into_iter().chain(others).collect();
                let landed = MergedPullRequest { tip: tip.head.clone(), base_branch: project.base_branch.clone(), tasks, commits };
                land::insert_merged(tx, &project, landed, &pull_request.address, &Caller::Runner.actor().to_string()).await?;
                // Other work may still wait to be landed.
                sqlx::query(
                    "UPDATE projects SET landed_sha = $2 WHERE id = $1
                       AND NOT EXISTS (SELECT 1 FROM tasks WHERE project_id = $1 AND merged_sha IS NOT NULL AND landing_id IS NULL)",
                )
                .bind(project.id.as_str())
                .bind(&tip.head)
                .execute(&mut tx.connection)
                .await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Records that the approved commit cannot be merged. The task goes back to its coder with the reason.
    ///
    /// # Errors
    /// When the task is no longer approved at `sha`.
    pub async fn record_merge_failure(&self, id: &TaskId, sha: &str, reason: &str) -> Result<Task> {
        let (id, sha, reason) = (id.clone(), sha.to_owned(), reason.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let task = require_approved(tx, &id, &sha).await?;
                let back = MoveRequest { to: Status::InProgress, reason: Some(reason), merge: false };
                move_task(tx, &Caller::Runner, &task, &back, &EvidenceResult::Nothing).await?;
                task_changed(tx, &Caller::Runner, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }

    /// Revokes the approval of `sha`, because the tip has a newer commit, and the task waits for another review.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn revoke_approval(&self, id: &TaskId, sha: &str) -> Result<()> {
        let (id, sha) = (id.clone(), sha.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                let changed =
                    sqlx::query("UPDATE tasks SET approved_sha = NULL, updated_at = $3 WHERE id = $1 AND approved_sha = $2 AND status = 'in_review'")
                        .bind(id.as_str())
                        .bind(&sha)
                        .bind(tx.now.to_string())
                        .execute(&mut tx.connection)
                        .await?;
                if changed.rows_affected() == 0 {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                let project = tasks::card(&mut tx.connection, &id).await?.project_id;
                tx.record_for_task(&Caller::Runner, &project, &id, TaskEvent::ApprovalVoided { sha });
                Ok(())
            })
        })
        .await
    }

    /// Requests attention on a task.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn request_attention(&self, id: &TaskId, kind: AttentionKind, detail: &str) -> Result<()> {
        let (id, attention) = (id.clone(), Attention::new(kind, detail));
        self.write(move |tx| {
            Box::pin(async move {
                let card = tasks::card(&mut tx.connection, &id).await?;
                if card.attention.as_ref() == Some(&attention) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(());
                }
                attention::request(tx, &Caller::Runner, &card.project_id, &id, attention).await?;
                task_changed(tx, &Caller::Runner, &card.project_id, &id).await
            })
        })
        .await
    }
}

/// Where the project branch is after a merge.
struct BranchTip {
    name: String,
    head: Sha,
    tree: Sha,
}

impl BranchTip {
    fn new(name: &str, head: &str, tree: &str) -> Self {
        Self { name: name.to_owned(), head: head.to_owned(), tree: tree.to_owned() }
    }
}

async fn require_mergeable(tx: &mut Tx, id: &TaskId, sha: &str) -> Result<Task> {
    let task = require_approved(tx, id, sha).await?;
    review_policy::require_approval_for_merge(tx, &task.card).await?;
    Ok(task)
}

/// Records the branch with its last merge, that of `task`, which has passed the checks.
async fn record_tip(tx: &mut Tx, task: &Task, tip: &BranchTip) -> Result<()> {
    let project = &task.card.project_id;
    check::require_passed(&mut tx.connection, &task.card, &tip.head, &tip.tree).await?;
    branch::record_tip(tx, &Caller::Runner, project, &tip.name, &tip.head).await?;
    sqlx::query("UPDATE projects SET merged_at = $2 WHERE id = $1")
        .bind(project.as_str())
        .bind(tx.now.to_string())
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Ends a task whose work is in the project branch.
async fn finish(tx: &mut Tx, task: &Task, sha: &Sha) -> Result<()> {
    let (id, project) = (&task.card.id, &task.card.project_id);
    // If it is reopened, its work starts from the project branch, of which a squashed commit is not an ancestor.
    sqlx::query("UPDATE tasks SET merged_sha = $2, landing_id = NULL, replace_tree = worktree_path IS NOT NULL WHERE id = $1")
        .bind(id.as_str())
        .bind(sha)
        .execute(&mut tx.connection)
        .await?;
    tx.record_for_task(&Caller::Runner, project, id, TaskEvent::Merged { sha: sha.clone() });
    move_task(tx, &Caller::Runner, task, &MoveRequest::to(Status::Done), &EvidenceResult::Nothing).await?;
    task_changed(tx, &Caller::Runner, project, id).await
}

async fn require_approved(tx: &mut Tx, id: &TaskId, sha: &str) -> Result<Task> {
    let task = tasks::task(&mut tx.connection, id).await?;
    if task.card.is_approved() && task.card.approved_sha.as_deref() == Some(sha) {
        return Ok(task);
    }
    Err(wrong_status(&task.card, "it is no longer approved at this commit", "Read it again.").into())
}
