//! Reads projects. Must not change anything.

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::land::Landing;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::{count, json, optional, parsed};
use crate::error::{Error, Result};

/// Projects, which are named `p`, with their last landings that were not undone.
macro_rules! select_project {
    () => {
        "SELECT p.*, l.id AS landing_id, l.base_branch AS landed_branch, l.before_sha AS landed_before, l.sha AS landed_at_sha, l.tip AS landed_tip,
    l.landed_at, l.landed_by, l.tasks AS landed_tasks, l.commits AS landed_commits, l.pull_request AS landed_pull_request
  FROM projects p LEFT JOIN landings l ON l.id = (SELECT n.id FROM landings n WHERE n.project_id = p.id AND n.undone_at IS NULL ORDER BY n.id DESC LIMIT 1) "
    };
}

pub(crate) use select_project;

pub(crate) const ONE: &str = concat!(select_project!(), "WHERE p.id = $1");

/// The projects that are not archived, newest first.
pub(crate) const CURRENT: &str = concat!(select_project!(), "WHERE p.archived_at IS NULL ORDER BY length(p.id) DESC, p.id DESC");

pub(crate) const ARCHIVED: &str = concat!(select_project!(), "WHERE p.archived_at IS NOT NULL ORDER BY length(p.id) DESC, p.id DESC");

pub(crate) const ALL: &str = concat!(select_project!(), "ORDER BY length(p.id) DESC, p.id DESC");

/// The deleted projects without a live run, a checkout of a task, or a checkout that could not be removed.
pub(crate) const REMOVABLE: &str = "SELECT p.id FROM projects p WHERE p.deleted_at IS NOT NULL
    AND (p.preview IS NULL OR p.preview ->> 'state' = 'failed')
    AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.project_id = p.id AND t.worktree_path IS NOT NULL)
    AND NOT EXISTS (SELECT 1 FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.completed_at IS NULL AND t.project_id = p.id)
    AND NOT EXISTS (SELECT 1 FROM agent_runs r JOIN tasks t ON t.id = r.task_id WHERE r.checkout_left IS NOT NULL AND t.project_id = p.id)";

pub(crate) async fn read(connection: &mut SqliteConnection, id: &ProjectId) -> Result<Project> {
    let row = sqlx::query(ONE).bind(id.as_str()).fetch_optional(connection).await?;
    project_of(&row.ok_or_else(|| Error::Refused(Refusal::not_found("project", id)))?)
}

/// Reads the ids of the projects whose rows can be removed.
pub(crate) async fn removable(connection: &mut SqliteConnection) -> Result<Vec<ProjectId>> {
    let found: Vec<String> = sqlx::query_scalar(REMOVABLE).fetch_all(connection).await?;
    Ok(found.iter().map(|id| id.parse()).collect::<std::result::Result<_, _>>()?)
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
        landed: landing_of(row)?,
        published: json(row, "published")?,
        fetch_problem: json(row, "fetch_problem")?,
        issue: row.try_get("issue")?,
        preview: json(row, "preview")?,
        merged_at: optional(row, "merged_at")?,
        profile: json(row, "profile")?.unwrap_or_default(),
        profile_version: count(row, "profile_version")?,
        allowed_access: json(row, "allowed_access")?.unwrap_or_default(),
        paused_at: optional(row, "paused_at")?,
        archived_at: optional(row, "archived_at")?,
        deleted_at: optional(row, "deleted_at")?,
        plan_approval: parsed(row, "plan_approval")?,
        review: parsed(row, "review")?,
        claim_mode: parsed(row, "claim_mode")?,
        knowledge: parsed(row, "knowledge")?,
        budget_micro_usd: row.try_get("budget_micro_usd")?,
        max_coders: row.try_get::<Option<i64>, _>("max_coders")?.and_then(|most| u32::try_from(most).ok()),
        created_at: parsed(row, "created_at")?,
        updated_at: parsed(row, "updated_at")?,
    })
}

fn landing_of(row: &SqliteRow) -> Result<Option<Landing>> {
    let Some(id) = row.try_get("landing_id")? else { return Ok(None) };
    Ok(Some(Landing {
        id,
        base_branch: row.try_get("landed_branch")?,
        sha: row.try_get("landed_at_sha")?,
        before_sha: row.try_get("landed_before")?,
        tip: row.try_get("landed_tip")?,
        at: parsed(row, "landed_at")?,
        by: row.try_get::<String, _>("landed_by")?.into(),
        tasks: count(row, "landed_tasks")?,
        commits: count(row, "landed_commits")?,
        undone_at: None,
        pull_request: row.try_get("landed_pull_request")?,
    }))
}
