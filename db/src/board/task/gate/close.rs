//! The gate at the end of a task: a lead closes it once its result is known.

use domain::board::stage::Stage;
use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;

use super::{finish_change, load_for_participant, move_to_stage};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::warroom::result::row as results;

impl Db {
    /// Closes a task in review: it is done or, if its branch holds the work, its newest commit joins the merge queue. The work of an external
    /// agent needs a result, also if a person closes it here; that of managed agents gets one when it is done.
    ///
    /// # Errors
    /// When the caller is not a lead or built the task, it has no result, or it is not in review.
    pub async fn close_task(&self, caller: &Caller, id: &TaskId, found: EvidenceResult) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                participant.require_lead("closing tasks")?;
                results::require(&mut tx.connection, &task.card).await?;
                move_to_stage(tx, caller, &participant, &task, Stage::Completed, None, &found).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}
