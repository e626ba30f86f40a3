//! The gate behind done: somebody who neither built nor approved the work verifies it, or sends it back.

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use super::{authorize_stage, finish_change, load_for_participant, move_to_stage, require_status};
use crate::board::task::moves::require_independent_verifier;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Vouches for finished work. The goal that it belongs to follows.
    ///
    /// # Errors
    /// When the caller built or approved it, wore a hat that testing excludes, is not vouched for, or the task is not completed.
    pub async fn verify_task(&self, caller: &Caller, id: &TaskId, notes: Option<&str>) -> Result<Task> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                move_to_stage(tx, caller, &voice, &task, Stage::Verified, notes.as_deref(), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Sends finished work back to its assignee, verified or not. The goal that it belongs to follows.
    ///
    /// # Errors
    /// When the caller could not have verified it, the task is not done, or no reason is given.
    pub async fn reject_verification(&self, caller: &Caller, id: &TaskId, reason: &str) -> Result<Task> {
        let (id, reason) = (id.clone(), reason.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &voice, &task.card, Status::Done, Stage::InProgress).await?;
                let reason = text::validate_body("reason", &reason)?;
                authorize_stage(tx, caller, &voice, &task, Stage::InProgress, false).await?;
                // The person may take back on the board what they approved, and not call it a verification.
                require_independent_verifier(tx, &task.card, &voice.name, "reject").await?;
                move_to_stage(tx, caller, &voice, &task, Stage::InProgress, Some(&reason), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}
