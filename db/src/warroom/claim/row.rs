//! Reads claims and waiting agents. Must not decide who gets a path.

use std::collections::BTreeMap;

use domain::id::{ProjectId, TaskId};
use domain::team::agent::Health;
use domain::time::Timestamp;
use domain::warroom::claim::queue::Claims;
use domain::warroom::claim::{Claim, ClaimMode, ClaimPath, ClaimWait};
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row, SqliteConnection};

use crate::engine::column::{optional, parsed};
use crate::engine::presence::Presence;
use crate::error::{Error, Result};

/// The claims and waits of the repository of a project.
pub(crate) const CLAIMS: &str = "SELECT * FROM claims WHERE git_dir = $1 ORDER BY key";
pub(crate) const ONE: &str = "SELECT * FROM claims WHERE git_dir = $1 AND key = $2";
pub(crate) const HELD: &str = "SELECT COUNT(*) FROM claims WHERE project_id = $1 AND agent_name = $2";
pub(crate) const ANY_WAIT: &str = "SELECT id FROM claim_waits WHERE git_dir = $1 LIMIT 1";
pub(crate) const WAITS: &str = "SELECT * FROM claim_waits WHERE git_dir = $1 ORDER BY id";

/// External agents that hold or wait for a path.
pub(crate) const EXTERNAL: &str = "SELECT a.project_id, a.name, a.last_seen, a.heartbeat_at, h.since
  FROM (SELECT project_id, agent_name, MAX(claimed_at) AS since FROM claims WHERE task_id IS NULL GROUP BY project_id, agent_name
        UNION ALL SELECT project_id, agent_name, MAX(since) FROM claim_waits WHERE task_id IS NULL GROUP BY project_id, agent_name) AS h
  JOIN agents a ON a.project_id = h.project_id AND a.name = h.agent_name WHERE a.left_at IS NULL";

/// The claims that could share a file with a literal path: patterns, those below it, and those of its own name and of the folders above it, of
/// which there are `names`.
pub(crate) fn near_sql(names: usize) -> String {
    let names: Vec<String> = (4..4 + names).map(|number| format!("${number}")).collect();
    format!(
        "SELECT * FROM claims WHERE git_dir = $1 AND is_pattern = 1
  UNION SELECT * FROM claims WHERE git_dir = $1 AND key >= $2 AND key < $3
  UNION SELECT * FROM claims WHERE git_dir = $1 AND key IN ({}) ORDER BY key",
        names.join(", ")
    )
}

/// Where a project's claims count, and how strictly.
pub(crate) struct ClaimScope {
    pub(crate) git_dir: String,
    pub(crate) mode: ClaimMode,
    pub(crate) integration_branch: String,
}

pub(crate) async fn scope(connection: &mut SqliteConnection, project: &ProjectId) -> Result<ClaimScope> {
    let row = sqlx::query("SELECT git_dir, claim_mode, integration_branch FROM projects WHERE id = $1")
        .bind(project.as_str())
        .fetch_one(connection)
        .await?;
    Ok(ClaimScope { git_dir: row.try_get("git_dir")?, mode: parsed(&row, "claim_mode")?, integration_branch: row.try_get("integration_branch")? })
}

/// Reads the claims of a repository, which are bounded by the number of live agents.
pub(crate) async fn load(connection: &mut SqliteConnection, git_dir: &str) -> Result<Claims> {
    let claims = sqlx::query(CLAIMS).bind(git_dir).fetch_all(&mut *connection).await?;
    let waits = sqlx::query(WAITS).bind(git_dir).fetch_all(connection).await?;
    Ok(Claims { claims: claims.iter().map(claim_of).collect::<Result<_>>()?, waits: waits.iter().map(wait_of).collect::<Result<_>>()? })
}

/// Reads the claims that can keep an agent from a path, without the agents in line. Takes the claims of the folders above it and of what is below
/// it, and those of patterns.
pub(crate) async fn near(connection: &mut SqliteConnection, git_dir: &str, path: &ClaimPath) -> Result<Claims> {
    let Some(literal) = path.literal() else { return load(connection, git_dir).await };
    let folders = literal.match_indices('/').map(|(end, _)| &literal[..end]);
    let above: Vec<String> = folders.chain([literal]).flat_map(|name| [name.to_owned(), format!("{name}/**")]).collect();
    let sql = near_sql(above.len());
    let mut query = sqlx::query(AssertSqlSafe(sql)).bind(git_dir).bind(format!("{literal}/"));
    // The character after `/`.
    query = query.bind(format!("{literal}0"));
    for key in above {
        query = query.bind(key);
    }
    let rows = query.fetch_all(connection).await?;
    Ok(Claims { claims: rows.iter().map(claim_of).collect::<Result<_>>()?, waits: Vec::new() })
}

/// Reads the claim of exactly this path.
pub(crate) async fn one(connection: &mut SqliteConnection, git_dir: &str, path: &ClaimPath) -> Result<Option<Claim>> {
    sqlx::query(ONE).bind(git_dir).bind(path.key()).fetch_optional(connection).await?.as_ref().map(claim_of).transpose()
}

/// The managed agents that wait for a path, by task, each with its first path and the agent that holds it.
pub(crate) async fn waiting_tasks(connection: &mut SqliteConnection) -> Result<BTreeMap<TaskId, (ClaimPath, String)>> {
    let folders: Vec<String> =
        sqlx::query_scalar("SELECT DISTINCT git_dir FROM claim_waits WHERE task_id IS NOT NULL").fetch_all(&mut *connection).await?;
    let mut waiting = BTreeMap::new();
    for folder in folders {
        let claims = load(connection, &folder).await?;
        for wait in &claims.waits {
            if let (Some(task), Some(holder)) = (&wait.task_id, claims.holder_for(wait)) {
                waiting.entry(task.clone()).or_insert_with(|| (wait.path.clone(), holder.agent.clone()));
            }
        }
    }
    Ok(waiting)
}

/// External agents with claims that are not connected, and when what they hold and wait for ends.
pub(crate) async fn expiring(connection: &mut SqliteConnection, presence: &Presence) -> Result<Vec<(ProjectId, String, Timestamp)>> {
    let mut expiring = Vec::new();
    for row in &sqlx::query(EXTERNAL).fetch_all(connection).await? {
        let (project, name): (ProjectId, String) = (parsed(row, "project_id")?, row.try_get("name")?);
        let known = presence.of(&project, &name);
        if known.connections == 0 {
            let last = optional(row, "last_seen")?.max(optional(row, "heartbeat_at")?).max(known.last);
            let at = Health::unresponsive_at(last, parsed(row, "since")?, presence.tracking_since());
            expiring.push((project, name, at));
        }
    }
    Ok(expiring)
}

pub(crate) fn claim_of(row: &SqliteRow) -> Result<Claim> {
    Ok(Claim {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        agent: row.try_get("agent_name")?,
        task_id: optional(row, "task_id")?,
        path: path_of(row)?,
        claimed_at: parsed(row, "claimed_at")?,
    })
}

pub(crate) fn wait_of(row: &SqliteRow) -> Result<ClaimWait> {
    Ok(ClaimWait {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        agent: row.try_get("agent_name")?,
        task_id: optional(row, "task_id")?,
        path: path_of(row)?,
        since: parsed(row, "since")?,
    })
}

fn path_of(row: &SqliteRow) -> Result<ClaimPath> {
    row.try_get::<&str, _>("path")?.parse().map_err(|refusal| Error::Unreadable(format!("the path of a claim: {refusal}")))
}
