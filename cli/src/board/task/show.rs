//! Shows one task. Must not know what belongs to a task; the board answers with it.

use domain::board::task::Task;
use domain::id::TaskId;
use domain::runs::checkpoint::Checkpoint;
use domain::runs::evidence::short;
use domain::runs::run::Run;
use domain::runs::usage::consumption;
use domain::wire::{CommentView, List, TaskView};
use serde::Serialize;

use crate::board::project;
use crate::client::Client;
use crate::error::CliError;
use crate::output;

/// A task with everything that `task show` prints.
#[derive(Debug, Serialize)]
struct WholeTask {
    task: TaskView,
    comments: Vec<CommentView>,
    runs: Vec<Run>,
}

/// Prints a task with its comments, runs and open question.
///
/// # Errors
/// When the board is not running, or the task does not exist.
pub(super) async fn show(client: &Client, id: &TaskId) -> Result<(), CliError> {
    let task: TaskView = client.get(&format!("/api/tasks/{id}")).await?;
    let comments: List<CommentView> = client.get(&format!("/api/tasks/{id}/comments")).await?;
    let runs: List<Run> = client.get(&format!("/api/tasks/{id}/runs")).await?;
    let whole = WholeTask { task, comments: comments.items, runs: runs.items };
    output::data(&whole, print);
    Ok(())
}

/// The fields that people set or that say where the work is, a line for each that differs from what is usual.
fn facts(task: &Task) -> Vec<String> {
    let Task { card, model, branch, from_branch, worktree_path, .. } = task;
    let depends_on = card.depends_on.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ");
    let facts = [
        ("project", Some(card.project_id.to_string())),
        ("cancelled", card.cancel_reason.map(|reason| format!("as {reason}"))),
        ("priority", (card.priority != 0).then(|| card.priority.to_string())),
        ("depends on", (!depends_on.is_empty()).then_some(depends_on)),
        ("assigned to", card.contributors.assigned_to.clone()),
        ("model", model.clone()),
        ("starts from", from_branch.clone()),
        ("branch", branch.clone()),
        ("worktree", worktree_path.clone()),
        ("limit", card.near_limit.map(|limit| limit.sentence())),
    ];
    facts.into_iter().filter_map(|(name, value)| Some(format!("{name:11} {}", value?))).collect()
}

fn print(whole: &WholeTask) {
    let WholeTask { task: view, comments, runs } = whole;
    let card = &view.task.card;
    output::line(format!("{} ({})", project::line(card).trim(), card.status));
    facts(&view.task).iter().for_each(output::line);
    if let Some(change) = &card.protected_paths {
        output::line(format!("changes protected paths: {}", change.named()));
    }
    if let Some(description) = &view.task.description {
        output::line("");
        output::quoted(description);
    }
    for comment in comments {
        output::line(format!("\n[{}] {}", comment.comment.author(), comment.comment.created_at));
        output::quoted(&comment.comment.content);
    }
    for run in runs {
        let end = run.end_class.map_or("running", |end| end.as_str());
        let error = run.error.as_ref().map(|error| format!(": {error}")).unwrap_or_default();
        let used = run.consumed();
        let cost = consumption(used.cost_micro_usd, used.tokens()).map(|cost| format!(", {} requests, {cost}", used.turns)).unwrap_or_default();
        output::line(format!("\n{} {} attempt {}: {end}{cost}{error}", run.id, run.phase, run.attempt));
        for checkpoint in &run.checkpoints {
            let Checkpoint { sha, taken_at, files, action, .. } = checkpoint;
            output::line(format!("checkpoint {} at {}, {files} files changed: {action}", short(sha), taken_at.clock()));
        }
        if let Some(why) = &run.checkout_left {
            output::line(format!("its checkout could not be removed; the runner retries every hour: {why}"));
        }
    }
    if let Some(question) = &view.question {
        output::line(format!("\nQuestion: {}", question.question));
        question.options.iter().for_each(|option| output::line(format!("  - {option}")));
        output::line(format!("Answer with `vibe-relay task answer {} TEXT`.", card.id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_are_what_people_set_and_where_the_work_is() {
        let mut task: Task = serde_json::from_value(serde_json::json!({
            "id": "TASK-004", "project_id": "PROJ-001", "parent_task_id": null, "title": "Menu", "phase": "coder", "status": "backlog",
            "held_by": null, "attention": null, "wait_reason": null, "cancel_reason": null, "depends_on": [], "priority": 0, "approved_sha": null,
            "verified_by": null, "round_of": null, "round": null, "run": null, "comments": 0, "runs": 0, "cost_micro_usd": 0,
            "created_at": "2026-01-02T03:04:05Z", "updated_at": "2026-01-02T03:04:05Z", "description": null, "worktree_path": null,
            "branch": null, "session_id": null, "model": null, "merged_sha": null, "review_rounds": 0
        }))
        .unwrap();
        assert_eq!(facts(&task), ["project     PROJ-001"]);
        task.card.depends_on = vec![TaskId::new(2), TaskId::new(3)];
        task.card.priority = -1;
        (task.model, task.branch, task.from_branch) = (Some("opus".to_owned()), Some("vr/TASK-004/work".to_owned()), Some("topic".to_owned()));
        insta::assert_snapshot!(facts(&task).join("\n"), @r"
        project     PROJ-001
        priority    -1
        depends on  TASK-002, TASK-003
        model       opus
        starts from topic
        branch      vr/TASK-004/work
        ");
    }
}
