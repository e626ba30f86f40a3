//! The party: the agents that are present in a project, with their tasks.

pub(crate) mod row;

use std::collections::BTreeMap;

use domain::id::ProjectId;
use domain::warroom::party::{MAX_TASKS, PartyMember, PartyTask};

use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::team::agent::row as agents;

impl Db {
    /// Lists the agents that are present by name, each with its tasks. Agents that left and finished tasks cost nothing.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn party(&self, project: &ProjectId) -> Result<Vec<PartyMember>> {
        self.project(project).await?;
        let mut connection = self.readers.acquire().await?;
        let present = sqlx::query(agents::PRESENT).bind(project.as_str()).fetch_all(&mut *connection).await?;
        let mut tasks: BTreeMap<String, Vec<PartyTask>> = BTreeMap::new();
        for (name, task) in row::tasks_of_present(&mut connection, project).await? {
            tasks.entry(name).or_default().push(task);
        }
        let now = now();
        let members = present.iter().map(|row| {
            let mut agent = agents::agent_of(row)?;
            agents::apply_presence(&mut agent, &self.presence, now);
            let mut tasks = tasks.remove(&agent.name).unwrap_or_default();
            let further_tasks = u32::try_from(tasks.len().saturating_sub(MAX_TASKS)).unwrap_or(u32::MAX);
            tasks.truncate(MAX_TASKS);
            Ok(PartyMember { agent, tasks, further_tasks })
        });
        members.collect()
    }
}
