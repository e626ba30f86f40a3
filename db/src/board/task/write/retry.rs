//! Writes how the next run of a task differs from the one before. Must not start it.

use domain::board::status::Status;
use domain::board::task::event::TaskEvent;
use domain::board::task::retry::RetryOptions;
use domain::board::task::{Task, TaskFields};
use domain::refusal::Refusal;
use domain::runs::evidence::Sha;
use domain::runs::run::RunRefusal;
use domain::text;

use crate::board::comment::write as comment;
use crate::board::task::row::wrong_status;
use crate::board::task::write::update_fields;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::runs::checkpoint::row::checkpoints;

/// How many characters of a commit's id name a checkpoint at least.
const MIN_ABBREVIATION: usize = 7;

/// Applies the options of a retry to an open task.
///
/// # Errors
/// When its agent is still at work, its work is under review and shall be replaced, or the checkpoint is not the task's.
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
    if options.begins_session() {
        sqlx::query(
            "UPDATE tasks SET session_id = NULL,
                    forgotten_run = (SELECT id FROM agent_runs WHERE task_id = $1 ORDER BY length(id) DESC, id DESC LIMIT 1) WHERE id = $1",
        )
        .bind(card.id.as_str())
        .execute(&mut tx.connection)
        .await?;
    }
    if options.replaces_tree() {
        if card.status == Status::InReview {
            return Err(wrong_status(card, "its work is under review", "Send it back first, then retry it with other files.").into());
        }
        let target = match &options.checkpoint {
            Some(wanted) => Some(find_checkpoint(tx, task, options, wanted).await?),
            None => None,
        };
        sqlx::query("UPDATE tasks SET replace_tree = worktree_path IS NOT NULL, rewind_sha = $2 WHERE id = $1")
            .bind(card.id.as_str())
            .bind(target)
            .execute(&mut tx.connection)
            .await?;
    }
    Ok(())
}

/// Finds the checkpoint of a task whose id begins with `wanted`.
async fn find_checkpoint(tx: &mut Tx, task: &Task, options: &RetryOptions, wanted: &str) -> Result<Sha> {
    if options.tree.is_some() {
        return Err(Refusal::invalid("checkpoint", "it comes with \"tree\"", "Send one of the two: both choose the files.").into());
    }
    let found: Vec<Sha> = checkpoints(&mut tx.connection, &task.card.id).await?.into_iter().map(|(_, checkpoint)| checkpoint.sha).collect();
    let mut matching = found.into_iter().filter(|sha| wanted.len() >= MIN_ABBREVIATION && sha.starts_with(wanted));
    match (matching.next(), matching.next()) {
        (Some(sha), None) => Ok(sha),
        _ => {
            let hint =
                format!("Use the \"sha\" of a checkpoint in `GET /api/tasks/{}/runs`, or its first {MIN_ABBREVIATION} characters.", task.card.id);
            Err(Refusal::invalid("checkpoint", format!("\"{wanted}\" is not a checkpoint of this task"), hint).into())
        }
    }
}
