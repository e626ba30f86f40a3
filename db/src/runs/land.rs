//! Landings: recorded once, and kept as the lasting state of a project.

pub(crate) mod row;
mod undo;
pub(crate) mod write;

use domain::board::card::Card;
use domain::board::project::{Project, ProjectEvent};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::runs::land::{Landing, LandingEvidence};
use sqlx::Connection;

use crate::board::finished::write as finished;
use crate::board::project::row as projects;
use crate::board::task::row as tasks;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

/// The newest landings of a project.
pub(crate) const LANDINGS: &str = "SELECT * FROM landings WHERE project_id = $1 ORDER BY id DESC LIMIT 20";

/// The tasks whose merged work waits to be landed.
pub(crate) const WAITING: &str =
    "WHERE t.project_id = $1 AND t.merged_sha IS NOT NULL AND t.landing_id IS NULL AND t.status = 'done' ORDER BY length(t.id), t.id";

/// The tasks that landing `$1` brought.
pub(crate) const BROUGHT: &str = "WHERE t.landing_id = CAST($1 AS INTEGER) ORDER BY length(t.id), t.id";

pub(crate) const OPEN: &str = "WHERE t.project_id = $1 AND t.status IN ('backlog', 'in_progress', 'in_review') ORDER BY length(t.id), t.id";

/// The facts that the store has about a landing.
#[derive(Debug, Clone, PartialEq)]
pub struct LandingFacts {
    pub project: Project,
    /// The tasks that land, or that the landing brought.
    pub tasks: Vec<Card>,
    pub open: Vec<Card>,
    /// The newest landings, newest first.
    pub landings: Vec<Landing>,
    /// The landing that was asked for.
    pub landing: Option<Landing>,
}

impl Db {
    /// Returns what would land, or what the given landing brought.
    ///
    /// # Errors
    /// When the project or the landing does not exist.
    pub async fn landing_facts(&self, id: &ProjectId, landing: Option<i64>) -> Result<LandingFacts> {
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let project = projects::read(&mut snapshot, id).await?;
        let rows = sqlx::query(LANDINGS).bind(id.as_str()).fetch_all(&mut *snapshot).await?;
        let landings = rows.iter().map(row::landing_of).collect::<Result<Vec<_>>>()?;
        let asked = match landing {
            None => None,
            Some(number) => {
                let found = sqlx::query("SELECT * FROM landings WHERE id = $1 AND project_id = $2").bind(number).bind(id.as_str());
                let found = found.fetch_optional(&mut *snapshot).await?;
                Some(row::landing_of(&found.ok_or_else(|| Refusal::not_found("landing", number))?)?)
            }
        };
        let tasks = match &asked {
            Some(asked) => tasks::cards(&mut snapshot, BROUGHT, &asked.id.to_string()).await?,
            None => tasks::cards(&mut snapshot, WAITING, id.as_str()).await?,
        };
        let open = tasks::cards(&mut snapshot, OPEN, id.as_str()).await?;
        snapshot.rollback().await?;
        Ok(LandingFacts { project, tasks, open, landings, landing: asked })
    }

    /// Records that the project branch was merged into the base branch, with all merged tasks that no earlier landing brought.
    ///
    /// # Errors
    /// When the caller is not a person, or the project does not exist.
    pub async fn record_landing(&self, caller: &Caller, id: &ProjectId, landed: LandingEvidence) -> Result<Project> {
        let (caller, id) = (caller.clone(), id.clone());
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_decision("landing")?;
                projects::read(&mut tx.connection, &id).await?;
                let landing: i64 = sqlx::query_scalar(
                    "INSERT INTO landings (project_id, base_branch, before_sha, sha, tip, landed_at, landed_by, tasks, commits)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, 0, $8) RETURNING id",
                )
                .bind(id.as_str())
                .bind(&landed.base_branch)
                .bind(&landed.before_sha)
                .bind(&landed.sha)
                .bind(&landed.tip)
                .bind(tx.now.to_string())
                .bind(caller.actor().to_string())
                .bind(i64::from(landed.commits))
                .fetch_one(&mut tx.connection)
                .await?;
                let brought =
                    "UPDATE tasks SET landing_id = $2 WHERE project_id = $1 AND merged_sha IS NOT NULL AND landing_id IS NULL AND status = 'done'";
                let brought = sqlx::query(brought).bind(id.as_str()).bind(landing).execute(&mut tx.connection).await?.rows_affected();
                finished::recount_to_land(tx, &id).await?;
                let tasks = u32::try_from(brought).unwrap_or(u32::MAX);
                sqlx::query("UPDATE landings SET tasks = $2 WHERE id = $1").bind(landing).bind(i64::from(tasks)).execute(&mut tx.connection).await?;
                sqlx::query("UPDATE projects SET landed_sha = $2, base_head = $3, updated_at = $4 WHERE id = $1")
                    .bind(id.as_str())
                    .bind(&landed.tip)
                    .bind(&landed.sha)
                    .bind(tx.now.to_string())
                    .execute(&mut tx.connection)
                    .await?;
                tx.record_for_project(&caller, &id, ProjectEvent::Landed { sha: landed.sha, base_branch: landed.base_branch, tasks });
                projects::read(&mut tx.connection, &id).await
            })
        })
        .await
    }
}
