//! Writes landings that happened on the host of a pull request. Must not know how that was noticed.

use domain::board::project::{Project, ProjectEvent};
use domain::id::TaskId;
use domain::runs::evidence::Sha;

use crate::board::finished::write as finished;
use crate::caller::Caller;
use crate::engine::tx::Tx;
use crate::error::Result;

/// A pull request that was merged on its host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MergedPullRequest {
    /// The tip that was merged.
    pub tip: Sha,
    pub base_branch: String,
    /// The tasks whose work the tip has.
    pub tasks: Vec<TaskId>,
    pub commits: u32,
}

/// Records the landing of a merged pull request that `by` opened. Its tasks no longer wait to be landed.
pub(crate) async fn insert_merged(tx: &mut Tx, project: &Project, merged: MergedPullRequest, pull_request: &str, by: &str) -> Result<()> {
    let (id, MergedPullRequest { tip, base_branch, tasks, commits }) = (&project.id, merged);
    let count = u32::try_from(tasks.len()).unwrap_or(u32::MAX);
    let landing: i64 = sqlx::query_scalar(
        "INSERT INTO landings (project_id, base_branch, before_sha, sha, tip, landed_at, landed_by, tasks, commits, pull_request)
         VALUES ($1, $2, $3, $4, $4, $5, $6, $7, $8, $9) RETURNING id",
    )
    .bind(id.as_str())
    .bind(&base_branch)
    .bind(&project.base_head)
    .bind(&tip)
    .bind(tx.now.to_string())
    .bind(by)
    .bind(i64::from(count))
    .bind(i64::from(commits))
    .bind(pull_request)
    .fetch_one(&mut tx.connection)
    .await?;
    for task in &tasks {
        let brought = "UPDATE tasks SET landing_id = $2 WHERE id = $1 AND project_id = $3 AND merged_sha IS NOT NULL AND landing_id IS NULL";
        sqlx::query(brought).bind(task.as_str()).bind(landing).bind(id.as_str()).execute(&mut tx.connection).await?;
    }
    finished::recount_to_land(tx, id).await?;
    let pull_request = pull_request.to_owned();
    tx.record_for_project(&Caller::Runner, id, ProjectEvent::PullRequestMerged { pull_request, base_branch, sha: tip, tasks: count });
    Ok(())
}
