//! Reads and stores rows of zones. Must not decide who may change them.

use domain::id::ProjectId;
use domain::warroom::zone::Zone;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::engine::column::parsed;
use crate::error::Result;

/// The zones of a project `$1`.
pub(crate) const OF_PROJECT: &str = "SELECT * FROM zones WHERE project_id = $1 ORDER BY name";
/// The zone `$2` of a project `$1`.
pub(crate) const REMOVE: &str = "DELETE FROM zones WHERE project_id = $1 AND name = $2";

pub(crate) async fn of_project(connection: &mut SqliteConnection, project: &ProjectId) -> Result<Vec<Zone>> {
    sqlx::query(OF_PROJECT).bind(project.as_str()).fetch_all(connection).await?.iter().map(zone_of).collect()
}

/// Inserts a zone, or replaces the one of that name.
pub(super) async fn store(connection: &mut SqliteConnection, zone: &Zone) -> Result<()> {
    sqlx::query(
        "INSERT INTO zones (project_id, name, paths, owner, oracle, author, set_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
         ON CONFLICT (project_id, name) DO UPDATE SET paths = excluded.paths, owner = excluded.owner, oracle = excluded.oracle,
           author = excluded.author, set_at = excluded.set_at",
    )
    .bind(zone.project_id.as_str())
    .bind(&zone.name)
    .bind(serde_json::to_string(&zone.paths)?)
    .bind(zone.owner.as_deref())
    .bind(zone.oracle.as_deref())
    .bind(&zone.author)
    .bind(zone.set_at.to_string())
    .execute(connection)
    .await?;
    Ok(())
}

fn zone_of(row: &SqliteRow) -> Result<Zone> {
    Ok(Zone {
        project_id: parsed(row, "project_id")?,
        name: row.try_get("name")?,
        paths: serde_json::from_str(row.try_get("paths")?)?,
        owner: row.try_get("owner")?,
        oracle: row.try_get("oracle")?,
        author: row.try_get("author")?,
        set_at: parsed(row, "set_at")?,
    })
}
