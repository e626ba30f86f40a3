//! Moves a task on request, and tells which evidence a move needs.

use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::transition::{Requirement, rule};
use domain::id::TaskId;
use domain::refusal::Refusal;
use domain::runs::evidence::{EvidenceRequest, EvidenceResult};

use crate::board::task::row as tasks;
use crate::board::task::row::mover::{movers, require_own_task};
use crate::board::task::write::change::MoveRequest;
use crate::board::task::write::moves::approves;
use crate::caller::Caller;
use crate::consequences::task_changed::task_changed;
use crate::consequences::task_moved::move_task;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Returns the evidence that the caller must read from the repository before it requests this move.
    ///
    /// # Errors
    /// When the task does not exist.
    pub async fn required_evidence(&self, caller: &Caller, id: &TaskId, to: Status) -> Result<EvidenceRequest> {
        let task = self.task(id).await?;
        if caller.project().is_some_and(|own| *own != task.card.project_id) {
            return Err(Refusal::not_found("task", id).into());
        }
        let Some(branch) = task.branch else { return Ok(EvidenceRequest::Nothing) };
        let Project { git_dir, integration_branch: base, .. } = self.project(&task.card.project_id).await?;
        let protected = self.protected_paths.to_vec();
        let to = if approves(caller, to) { Status::InReview } else { to };
        let movers = movers(&mut *self.readers.acquire().await?, caller, &task.card).await?;
        Ok(match movers.iter().find_map(|who| rule(task.card.phase, task.card.status, to, *who)).map(|rule| rule.requirement) {
            Some(Requirement::Evidence) => match task.worktree_path {
                Some(worktree) => EvidenceRequest::Evidence { git_dir, worktree, branch, base, protected },
                None => EvidenceRequest::Nothing,
            },
            Some(Requirement::Verdict | Requirement::Approval) => EvidenceRequest::Head { git_dir, branch, base, protected },
            _ => EvidenceRequest::Nothing,
        })
    }

    /// Moves a task as the table allows.
    ///
    /// # Errors
    /// When the move is not in the table for this caller, or its requirement is not met.
    pub async fn move_task(&self, caller: &Caller, id: &TaskId, request: MoveRequest, found: EvidenceResult) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let task = tasks::task(&mut tx.connection, &id).await?;
                require_own_task(tx, caller, &task, request.to).await?;
                move_task(tx, caller, &task, &request, &found).await?;
                task_changed(tx, caller, &task.card.project_id, &id).await?;
                tasks::task(&mut tx.connection, &id).await
            })
        })
        .await
    }
}
