//! The work on the files of a project. A reading costs the open tasks, and a bounded number of those that ended lately.

pub(crate) mod row;

use std::time::Duration;

use domain::id::ProjectId;
use domain::warroom::heat_map::{DAYS, HeatFacts, MAX_FINISHED};

use crate::board::project::row as projects;
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::warroom::zone::row as zones;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

impl Db {
    /// Returns the zones of a project, and what its tasks took: the open ones, and the last that ended within the period of a heat map.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn heat_facts(&self, project: &ProjectId) -> Result<HeatFacts> {
        let since = now().before(DAY * DAYS);
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let zones = zones::of_project(&mut connection, project).await?;
        let mut tasks = row::open(&mut connection, project).await?;
        let mut ended = row::ended(&mut connection, project, &since).await?;
        let is_cut = ended.len() > MAX_FINISHED;
        ended.truncate(MAX_FINISHED);
        tasks.append(&mut ended);
        Ok(HeatFacts { since, is_cut, zones, tasks })
    }
}
