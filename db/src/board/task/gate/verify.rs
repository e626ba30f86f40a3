//! The gate after done: a participant that neither built nor approved the work verifies it, or sends it back.

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use super::{authorize_stage, finish_change, load_for_participant, move_to_stage, require_status};
use crate::board::task::write::requirement::require_independent_verifier;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Verifies a finished task. Its goal is updated.
    ///
    /// # Errors
    /// When the caller built or approved it, had a hat that conflicts with testing, or is not trusted, or the task is not done.
    pub async fn verify_task(&self, caller: &Caller, id: &TaskId, notes: Option<&str>) -> Result<Task> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                move_to_stage(tx, caller, &participant, &task, Stage::Verified, notes.as_deref(), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Sends a finished task back to its assignee, verified or not. Its goal is updated.
    ///
    /// # Errors
    /// When the caller could not have verified it, the task is not done, or no reason is given.
    pub async fn reject_verification(&self, caller: &Caller, id: &TaskId, reason: &str) -> Result<Task> {
        let (id, reason) = (id.clone(), reason.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &participant, &task.card, Status::Done, Stage::InProgress).await?;
                let reason = text::validate_body("reason", &reason)?;
                authorize_stage(tx, caller, &participant, &task, Stage::InProgress, false).await?;
                // The human may reopen their own approval on the board, but that is not a verification.
                require_independent_verifier(tx, &task.card, &participant.name, "reject").await?;
                move_to_stage(tx, caller, &participant, &task, Stage::InProgress, Some(&reason), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}
