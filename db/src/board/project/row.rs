//! Reads projects. Must not change anything.

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{json, optional, parsed};
use crate::error::{Error, Result};

pub(crate) async fn read(connection: &mut SqliteConnection, id: &ProjectId) -> Result<Project> {
    let row = sqlx::query("SELECT * FROM projects WHERE id = $1").bind(id.as_str()).fetch_optional(connection).await?;
    project_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("project", id)))?)
}

pub(crate) fn project_of(row: &SqliteRow) -> Result<Project> {
    Ok(Project {
        id: parsed(row, "id")?,
        title: row.try_get("title")?,
        description: row.try_get("description")?,
        status: parsed(row, "status")?,
        repo_path: row.try_get("repo_path")?,
        git_dir: row.try_get("git_dir")?,
        base_branch: row.try_get("base_branch")?,
        base_head: row.try_get("base_head")?,
        integration_branch: row.try_get("integration_branch")?,
        integration_head: row.try_get("integration_head")?,
        landed_sha: row.try_get("landed_sha")?,
        merged_at: optional(row, "merged_at")?,
        allowed_access: json(row, "allowed_access")?.unwrap_or_default(),
        paused_at: optional(row, "paused_at")?,
        plan_approval: parsed(row, "plan_approval")?,
        budget_micro_usd: row.try_get("budget_micro_usd")?,
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}
