//! Reads results of checks. Must not change anything.

use domain::board::card::Card;
use domain::board::project::Project;
use domain::id::{ProjectId, TaskId};
use domain::runs::check::{CheckOutcome, CheckRefusal, CheckResult};
use domain::runs::evidence::Sha;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::board::project::row as projects;
use crate::engine::column::{count, parsed};
use crate::error::Result;

pub(crate) const RESULTS: &str = "SELECT id, command, outcome, attempts, duration_ms, tail, ended_at FROM check_results
  WHERE project_id = $1 AND tree = $2 AND profile_version = $3 ORDER BY id";

pub(crate) async fn results(connection: &mut SqliteConnection, project: &ProjectId, tree: &str, profile_version: u32) -> Result<Vec<CheckResult>> {
    let rows = sqlx::query(RESULTS).bind(project.as_str()).bind(tree).bind(i64::from(profile_version)).fetch_all(connection).await?;
    rows.iter().map(result_of).collect()
}

fn result_of(row: &SqliteRow) -> Result<CheckResult> {
    Ok(CheckResult {
        id: row.try_get("id")?,
        command: row.try_get("command")?,
        outcome: parsed(row, "outcome")?,
        attempts: count(row, "attempts")?,
        duration_ms: u64::try_from(row.try_get::<i64, _>("duration_ms")?).unwrap_or_default(),
        tail: row.try_get("tail")?,
        ended_at: parsed(row, "ended_at")?,
    })
}

/// The commands that a merge with these files must pass and has not.
pub(crate) async fn not_passed(connection: &mut SqliteConnection, project: &Project, tree: &str) -> Result<Vec<String>> {
    let mut commands = project.profile.checks.full.commands.clone();
    if !commands.is_empty() {
        let results = results(connection, &project.id, tree, project.profile_version).await?;
        let has_passed = |command: &String| results.iter().any(|result| result.command == *command && result.outcome == CheckOutcome::Passed);
        commands.retain(|command| !has_passed(command));
    }
    Ok(commands)
}

/// Refuses a merge that has not passed every check of its project. Nothing was merged if the project branch stays where it was.
pub(crate) async fn require_passed(connection: &mut SqliteConnection, card: &Card, head: &str, tree: &str) -> Result<()> {
    let project = projects::read(connection, &card.project_id).await?;
    if project.integration_head.as_deref() == Some(head) {
        return Ok(());
    }
    let commands = not_passed(connection, &project, tree).await?;
    if commands.is_empty() { Ok(()) } else { Err(CheckRefusal::NotPassed { task: card.id.clone(), commands }.into()) }
}

/// The commit of a task that was submitted and waits for its review.
pub(crate) async fn submission(connection: &mut SqliteConnection, task: &TaskId) -> Result<Option<Sha>> {
    let found = sqlx::query_scalar("SELECT submitted_sha FROM tasks WHERE id = $1 AND status = 'in_review' AND approved_sha IS NULL");
    Ok(found.bind(task.as_str()).fetch_optional(connection).await?.flatten())
}
