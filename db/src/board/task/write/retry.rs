//! Writes how the next run of a task differs from the one before. Must not start it.

use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::board::task::retry::{RetryOptions, RetrySession, RetryTree};
use domain::board::task::{Task, TaskFields};
use domain::runs::run::RunRefusal;
use domain::text;

use crate::board::comment::write as comment;
use crate::board::task::row::wrong_status;
use crate::board::task::write::update_fields;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// Applies the options of a retry to an open task.
///
/// # Errors
/// When its agent is still at work, or its work is under review and shall be replaced.
pub(crate) async fn apply(tx: &mut Tx, caller: &Caller, task: &Task, options: &RetryOptions) -> Result<()> {
    let card = &task.card;
    if let Some(live) = card.run.as_ref().filter(|_| options.changes_run()) {
        return Err(RunRefusal::StillEnding { task: card.id.clone(), run: live.id.clone() }.into());
    }
    if let Some(model) = &options.model {
        let model = text::validate_optional_body("model", Some(model))?;
        if model != task.model {
            update_fields(tx, &card.id, &TaskFields { model, ..TaskFields::from(task) }).await?;
            tx.record_for_task(caller, &card.project_id, &card.id, TaskEvent::Edited { fields: vec!["model".to_owned()] });
        }
    }
    if let Some(note) = text::validate_optional_body("note", options.note.as_deref())? {
        comment::insert(tx, caller, &card.project_id, &card.id, &note).await?;
    }
    if options.session == Some(RetrySession::Fresh) {
        sqlx::query(
            "UPDATE tasks SET session_id = NULL,
                    forgotten_run = (SELECT id FROM agent_runs WHERE task_id = $1 ORDER BY length(id) DESC, id DESC LIMIT 1) WHERE id = $1",
        )
        .bind(card.id.as_str())
        .execute(&mut tx.connection)
        .await?;
    }
    if options.tree == Some(RetryTree::Base) {
        if card.status == Status::InReview {
            return Err(wrong_status(card, "its work is under review", "Send it back first, then retry it from the base.").into());
        }
        sqlx::query("UPDATE tasks SET replace_tree = 1 WHERE id = $1 AND worktree_path IS NOT NULL")
            .bind(card.id.as_str())
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}
