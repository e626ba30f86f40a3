//! Stores and removes zones. Must not decide who may.

use domain::warroom::zone::Zone;
use sqlx::SqliteConnection;

use crate::error::Result;

/// The zone `$2` of a project `$1`.
pub(crate) const REMOVE: &str = "DELETE FROM zones WHERE project_id = $1 AND name = $2";

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
