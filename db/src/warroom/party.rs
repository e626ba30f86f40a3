//! The party: the agents that are present in a project, with their tasks.

pub(crate) mod row;

use std::collections::BTreeMap;

use domain::id::ProjectId;
use domain::warroom::claim::ClaimPath;
use domain::warroom::party::{MAX_CLAIMS, MAX_TASKS, PartyMember, PartyTask};

use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::team::agent::row as agents;
use crate::warroom::agent_activity::row as activity;
use crate::warroom::claim::row as claims;

impl Db {
    /// Lists the agents that are present by name, each with its tasks and claims. Agents that left and finished tasks cost nothing.
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
        let updates = activity::by_assignee(&mut connection, project).await?;
        let git_dir = claims::scope(&mut connection, project).await?.git_dir;
        let mut held: BTreeMap<String, Vec<ClaimPath>> = BTreeMap::new();
        for claim in claims::load(&mut connection, &git_dir).await?.claims.into_iter().filter(|claim| claim.project_id == *project) {
            held.entry(claim.agent).or_default().push(claim.path);
        }
        let now = now();
        let members = present.iter().map(|row| {
            let mut agent = agents::agent_of(row)?;
            agents::apply_presence(&mut agent, &self.presence, now);
            let mut tasks = tasks.remove(&agent.name).unwrap_or_default();
            let further_tasks = u32::try_from(tasks.len().saturating_sub(MAX_TASKS)).unwrap_or(u32::MAX);
            tasks.truncate(MAX_TASKS);
            let mut claims = held.remove(&agent.name).unwrap_or_default();
            let further_claims = u32::try_from(claims.len().saturating_sub(MAX_CLAIMS)).unwrap_or(u32::MAX);
            claims.truncate(MAX_CLAIMS);
            let activity_count = updates.get(&agent.name).copied().unwrap_or_default();
            let is_report_due = agent.last_report().is_some_and(|report| report.is_due(now));
            Ok(PartyMember { agent, tasks, further_tasks, activity_count, claims, further_claims, is_report_due })
        });
        members.collect()
    }
}
