//! The gate between work and done: an assignee submits, a lead or the human approves or rejects.

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{Submission, Task};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use super::{finish_change, load_for_participant, move_to_stage, require_assignee, require_status, store_result};
use crate::board::comment::write as comment;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Submits a task. Notifies every lead, or the human if no external lead could answer.
    ///
    /// # Errors
    /// When the caller is not the assignee, the task is not in progress, or a text is invalid.
    pub async fn submit_for_review(&self, caller: &Caller, id: &TaskId, submission: Submission) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                require_assignee(&participant, &task.card, "submitting it")?;
                let summary = text::validate_body("summary", &submission.summary)?;
                let files_changed = text::validate_optional_body("files_changed", submission.files_changed.as_deref())?;
                let test_results = text::validate_optional_body("test_results", submission.test_results.as_deref())?;
                let mut content = format!("Summary: {summary}");
                for (label, text) in [("Files", &files_changed), ("Tests", &test_results)] {
                    if let Some(text) = text {
                        content = format!("{content}\n{label}: {text}");
                    }
                }
                content.truncate(content.floor_char_boundary(text::BODY_BYTES));
                let result = serde_json::to_string(&Submission { summary, files_changed, test_results })?;
                store_result(tx, caller, &participant, &task.card, &result).await?;
                move_to_stage(tx, caller, &participant, &task, Stage::Review, Some(&content), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Approves a submission: the task is done or, if its branch holds the work, its newest commit joins the merge queue. Notifies the
    /// assignee. If an assignee did the work, an earlier branch is not merged, and a comment says so.
    ///
    /// # Errors
    /// When the caller is not a lead or built the task, or the task is not in review.
    pub async fn approve_task(&self, caller: &Caller, id: &TaskId, notes: Option<&str>, found: EvidenceResult) -> Result<Task> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &participant, &task.card, Status::InReview, Stage::Completed).await?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                move_to_stage(tx, caller, &participant, &task, Stage::Completed, notes.as_deref(), &found).await?;
                if let Some(notes) = notes {
                    comment::insert(tx, caller, &task.card.project_id, &id, &notes).await?;
                }
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Sends a submission back with the reason, and notifies the assignee.
    ///
    /// # Errors
    /// When the caller is not a lead, the task is not in review, or no reason is given.
    pub async fn reject_task(&self, caller: &Caller, id: &TaskId, reason: &str) -> Result<Task> {
        let (id, reason) = (id.clone(), reason.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, participant) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &participant, &task.card, Status::InReview, Stage::InProgress).await?;
                let reason = text::validate_body("reason", &reason)?;
                move_to_stage(tx, caller, &participant, &task, Stage::InProgress, Some(&reason), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}
