//! Reads battle plans, and refuses leads that have none. Must not change anything.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanRefusal, BattlePlanScope, BattlePlanStatus};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::caller::Caller;
use crate::engine::column::{optional, parsed};
use crate::error::Result;
use crate::team::participant::row::Participant;

/// Whether a project `$1` has an active plan, whatever its scope.
pub(crate) const ANY_ACTIVE: &str = "SELECT 1 FROM battle_plans WHERE project_id = $1 AND status = 'active' LIMIT 1";
/// All active plans of a project `$1`.
pub(crate) const ALL_ACTIVE: &str = "SELECT * FROM battle_plans WHERE project_id = $1 AND status = 'active'";
/// The active plan of a project `$1` with the scope `$2` and the zone `$3`.
pub(crate) const ACTIVE: &str = "SELECT * FROM battle_plans WHERE project_id = $1 AND scope = $2 AND COALESCE(zone, '') = $3 AND status = 'active'";
/// Plans of a project `$1` before the plan `$2`, newest first, at most `$3`.
pub(crate) const OF_PROJECT: &str = "SELECT * FROM battle_plans WHERE project_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3";
/// Those of them with the status `$4`.
pub(crate) const WITH_STATUS: &str = "SELECT * FROM battle_plans WHERE project_id = $1 AND status = $4 AND id < $2 ORDER BY id DESC LIMIT $3";
/// The active plans of managed agents in a project `$1`.
pub(crate) const OF_MANAGED: &str = "SELECT * FROM battle_plans WHERE project_id = $1 AND status = 'active' AND run_id IS NOT NULL";

/// Refuses an external lead as long as its project has no active plan. Persons and managed agents are never refused.
pub(crate) async fn require(connection: &mut SqliteConnection, caller: &Caller, participant: &Participant, action: &str) -> Result<()> {
    if !matches!(caller, Caller::Agent(_)) || !participant.is_lead {
        return Ok(());
    }
    let found: Option<i64> = sqlx::query_scalar(ANY_ACTIVE).bind(participant.project.as_str()).fetch_optional(connection).await?;
    if found.is_some() {
        return Ok(());
    }
    Err(BattlePlanRefusal::Missing { agent: participant.name.clone(), action: action.to_owned() }.into())
}

pub(crate) async fn read(connection: &mut SqliteConnection, id: i64) -> Result<BattlePlan> {
    let row = sqlx::query("SELECT * FROM battle_plans WHERE id = $1").bind(id).fetch_optional(connection).await?;
    plan_of(&row.ok_or_else(|| Refusal::not_found("battle plan", id))?)
}

pub(crate) async fn active(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    scope: BattlePlanScope,
    zone: Option<&str>,
) -> Result<Option<BattlePlan>> {
    let query = sqlx::query(ACTIVE).bind(project.as_str()).bind(scope.as_str()).bind(zone.unwrap_or_default());
    query.fetch_optional(connection).await?.as_ref().map(plan_of).transpose()
}

pub(super) async fn list(
    connection: &mut SqliteConnection,
    project: &ProjectId,
    status: Option<BattlePlanStatus>,
    before: i64,
    limit: u32,
) -> Result<Vec<BattlePlan>> {
    let query = sqlx::query(if status.is_some() { WITH_STATUS } else { OF_PROJECT }).bind(project.as_str()).bind(before).bind(limit);
    let query = match status {
        Some(status) => query.bind(status.as_str()),
        None => query,
    };
    query.fetch_all(connection).await?.iter().map(plan_of).collect()
}

pub(super) fn plan_of(row: &SqliteRow) -> Result<BattlePlan> {
    Ok(BattlePlan {
        id: row.try_get("id")?,
        project_id: parsed(row, "project_id")?,
        scope: parsed(row, "scope")?,
        zone: row.try_get("zone")?,
        author: row.try_get("author")?,
        derived: row.try_get("derived")?,
        plan: row.try_get("plan")?,
        status: parsed(row, "status")?,
        created_at: parsed(row, "created_at")?,
        ended_at: optional(row, "ended_at")?,
    })
}
