//! The gate between work and done: an assignee hands in, a lead or the person approves or sends back.

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{Submission, Task};
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::text;

use super::{finish_change, load_for_participant, move_to_stage, require_assignee, require_status, store_result};
use crate::board::comment;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

impl Db {
    /// Hands a task in; every lead is told, or the person where nobody else leads.
    ///
    /// # Errors
    /// When the caller is not the assignee, the task is not in progress, or a text is not acceptable.
    pub async fn submit_for_review(&self, caller: &Caller, id: &TaskId, submission: Submission) -> Result<Task> {
        let id = id.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                require_assignee(&voice, &task.card, "handing it in")?;
                let summary = text::validate_body("summary", &submission.summary)?;
                let files_changed = text::validate_optional_body("files_changed", submission.files_changed.as_deref())?;
                let test_results = text::validate_optional_body("test_results", submission.test_results.as_deref())?;
                let mut words = format!("Summary: {summary}");
                for (what, given) in [("Files", &files_changed), ("Tests", &test_results)] {
                    if let Some(given) = given {
                        words = format!("{words}\n{what}: {given}");
                    }
                }
                words.truncate(words.floor_char_boundary(text::BODY_BYTES));
                let result = serde_json::to_string(&Submission { summary, files_changed, test_results })?;
                store_result(tx, caller, &voice, &task.card, &result).await?;
                move_to_stage(tx, caller, &voice, &task, Stage::Review, Some(&words), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Accepts what was handed in: the task is done, or, where its branch holds the work, the newest commit joins the merge queue. The
    /// assignee is told. When an assignee did the work, a branch from before is not merged, and a comment says so.
    ///
    /// # Errors
    /// When the caller is no lead or had a hand in the work, or the task is not in review.
    pub async fn approve_task(&self, caller: &Caller, id: &TaskId, notes: Option<&str>, found: EvidenceResult) -> Result<Task> {
        let (id, notes) = (id.clone(), notes.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &voice, &task.card, Status::InReview, Stage::Completed).await?;
                let notes = text::validate_optional_body("notes", notes.as_deref())?;
                move_to_stage(tx, caller, &voice, &task, Stage::Completed, notes.as_deref(), &found).await?;
                if let Some(notes) = notes {
                    comment::insert(tx, caller, &task.card.project_id, &id, &notes).await?;
                }
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }

    /// Sends handed-in work back with what to change; the assignee is told.
    ///
    /// # Errors
    /// When the caller is no lead, the task is not in review, or no reason is given.
    pub async fn reject_task(&self, caller: &Caller, id: &TaskId, reason: &str) -> Result<Task> {
        let (id, reason) = (id.clone(), reason.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let (task, voice) = load_for_participant(tx, caller, &id).await?;
                require_status(tx, caller, &voice, &task.card, Status::InReview, Stage::InProgress).await?;
                let reason = text::validate_body("reason", &reason)?;
                move_to_stage(tx, caller, &voice, &task, Stage::InProgress, Some(&reason), &EvidenceResult::Nothing).await?;
                finish_change(tx, caller, &task).await
            })
        })
        .await
    }
}
