//! The gate behind done: somebody who neither built nor approved the work verifies it, or sends it back.

use domain::evidence::Found;
use domain::id::TaskId;
use domain::stage::Stage;
use domain::task::{Status, Task};
use domain::text;

use super::{enter, leave, make, permit, stands_at};
use crate::caller::Caller;
use crate::error::Result;
use crate::open::Db;
use crate::task::moves::independent_eyes;

impl Db {
    /// Vouches for finished work. The goal that it belongs to follows.
    ///
    /// # Errors
    /// When the caller built or approved it, wore a hat that testing excludes, is not vouched for, or the task is not completed.
    pub async fn verify_task(&self, caller: &Caller, id: &TaskId, notes: Option<&str>) -> Result<Task> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = enter(tx, caller, &id).await?;
                let notes = text::optional_body("notes", notes.as_deref())?;
                make(tx, caller, &voice, &task, Stage::Verified, notes.as_deref(), &Found::Nothing).await?;
                leave(tx, caller, &task).await
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
        self.once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = enter(tx, caller, &id).await?;
                stands_at(tx, caller, &voice, &task.card, Status::Done, Stage::InProgress).await?;
                let reason = text::body("reason", &reason)?;
                permit(tx, caller, &voice, &task, Stage::InProgress, false).await?;
                // The person may take back on the board what they approved, and not call it a verification.
                independent_eyes(tx, &task.card, &voice.name, "reject").await?;
                make(tx, caller, &voice, &task, Stage::InProgress, Some(&reason), &Found::Nothing).await?;
                leave(tx, caller, &task).await
            })
        })
        .await
    }
}
