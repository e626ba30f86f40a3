//! Features: the optional parts of working together that a project uses. Agents are offered tools only for those.

use domain::id::ProjectId;
use sqlx::Row;

use crate::engine::open::Db;
use crate::error::Result;

/// Each is true as long as the project uses it.
const IN_USE: &str = "SELECT
    EXISTS (SELECT 1 FROM goals WHERE project_id = $1) AS goals,
    EXISTS (SELECT 1 FROM handshakes WHERE project_id = $1 AND status = 'pending') AS handshakes,
    EXISTS (SELECT 1 FROM agents WHERE project_id = $1 AND left_at IS NULL AND run_id IS NULL) AS external_agents,
    EXISTS (SELECT 1 FROM memories WHERE project_id = $1) AS memory,
    EXISTS (SELECT 1 FROM raid_log WHERE project_id = $1) AS raid_log,
    EXISTS (SELECT 1 FROM zones WHERE project_id = $1 AND oracle IS NOT NULL) AS oracles";

/// The features that a project uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeaturesInUse {
    /// It has a goal.
    pub goals: bool,
    /// A handshake is pending.
    pub handshakes: bool,
    /// An external agent has joined and not left.
    pub external_agents: bool,
    /// An agent kept a value.
    pub memory: bool,
    /// The raid log has an entry.
    pub raid_log: bool,
    /// A zone has an oracle.
    pub oracles: bool,
}

impl Db {
    /// Returns the features that a project uses.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn features_in_use(&self, project: &ProjectId) -> Result<FeaturesInUse> {
        let row = sqlx::query(IN_USE).bind(project.as_str()).fetch_one(&self.readers).await?;
        Ok(FeaturesInUse {
            goals: row.try_get("goals")?,
            handshakes: row.try_get("handshakes")?,
            external_agents: row.try_get("external_agents")?,
            memory: row.try_get("memory")?,
            raid_log: row.try_get("raid_log")?,
            oracles: row.try_get("oracles")?,
        })
    }
}
