//! Features: the optional parts of working together that a project uses. Agents are offered tools only for those.

use domain::context::memory::MemoryOwner;
use domain::id::ProjectId;
use sqlx::Row;

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;

/// Each is true as long as the project uses it.
const IN_USE: &str = "SELECT
    EXISTS (SELECT 1 FROM goals WHERE project_id = $1) AS goals,
    EXISTS (SELECT 1 FROM handshakes h JOIN handshake_acks a ON a.handshake_id = h.id
      WHERE h.project_id = $1 AND h.status = 'pending' AND a.agent_name = $2 AND a.acked_at IS NULL AND a.left_at IS NULL) AS handshakes,
    EXISTS (SELECT 1 FROM claim_waits
      WHERE git_dir = (SELECT git_dir FROM claims WHERE project_id = $1 AND agent_name = $2 LIMIT 1)
        AND NOT (project_id = $1 AND agent_name = $2)) AS claim_waits,
    EXISTS (SELECT 1 FROM agents WHERE project_id = $1 AND left_at IS NULL AND run_id IS NULL) AS external_agents,
    EXISTS (SELECT 1 FROM memories WHERE project_id = $1 AND ($3 IS NULL OR owner = $3)) AS memory,
    EXISTS (SELECT 1 FROM raid_log WHERE project_id = $1) AS raid_log,
    EXISTS (SELECT 1 FROM zones WHERE project_id = $1 AND oracle IS NOT NULL) AS oracles";

/// The features that a project uses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct FeaturesInUse {
    /// It has a goal.
    pub goals: bool,
    /// A handshake waits for the caller.
    pub handshakes: bool,
    /// The caller holds files, and another one waits for a file of the repository.
    pub claim_waits: bool,
    /// An external agent has joined and not left.
    pub external_agents: bool,
    /// An agent kept a value: the caller or one that it succeeds.
    pub memory: bool,
    /// The raid log has an entry.
    pub raid_log: bool,
    /// A zone has an oracle.
    pub oracles: bool,
}

impl Db {
    /// Returns the features that a project uses, and the part of them that concerns `caller`. Reads a few rows of indexes, however
    /// long a project runs.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn features_in_use(&self, project: &ProjectId, caller: Option<&Caller>) -> Result<FeaturesInUse> {
        let owner = caller.map(Caller::reader).transpose()?.map(|reader| MemoryOwner::of_reader(&reader).key);
        let row = sqlx::query(IN_USE).bind(project.as_str()).bind(caller.and_then(Caller::name)).bind(owner).fetch_one(&self.readers).await?;
        Ok(FeaturesInUse {
            goals: row.try_get("goals")?,
            handshakes: row.try_get("handshakes")?,
            claim_waits: row.try_get("claim_waits")?,
            external_agents: row.try_get("external_agents")?,
            memory: row.try_get("memory")?,
            raid_log: row.try_get("raid_log")?,
            oracles: row.try_get("oracles")?,
        })
    }
}
