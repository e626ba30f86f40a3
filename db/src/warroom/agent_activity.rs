//! The activity of agents: how often they touch their tasks, and which files show that they are at work.
//!
//! Must not look at files: callers find them in the checkout.

pub(crate) mod row;
pub(crate) mod write;

use std::collections::BTreeMap;

use domain::id::{ProjectId, TaskId};
use domain::refusal::Refusal;
use domain::team::agent::{Agent, resolve};
use domain::time::Timestamp;
use domain::warroom::agent_activity::TaskChange;
use domain::warroom::claim::{Claim, ClaimPath};

use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use crate::team::agent::row as agents;
use crate::warroom::claim::row as claims;
use crate::warroom::freshness::row as freshness;
use crate::warroom::zone::row as zones;

/// The files that an agent has to do with, and the signs of its work that the store knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFiles {
    pub agent: Agent,
    /// The paths that it holds.
    pub claims: Vec<ClaimPath>,
    /// The paths of the zones that it owns or answers questions about.
    pub zone: Vec<ClaimPath>,
    /// The planned files of its open tasks.
    pub planned: Vec<ClaimPath>,
    /// The task whose worktree it works in; none for an agent in the checkout of the person.
    pub worktree_of: Option<TaskId>,
    /// When it last loaded files: its report about its context, or the start of its run. None if neither is known.
    pub loaded_at: Option<Timestamp>,
    /// The files that its run has loaded, each with the last time. Empty for an external agent, whose reading nobody sees.
    pub loaded: BTreeMap<String, Timestamp>,
    pub last_task_update: Option<TaskChange>,
    pub activity_count: u32,
}

impl Db {
    /// Returns the files of an agent that is or was in the project. It costs what the agent has: claims, zones and open tasks.
    ///
    /// # Errors
    /// When the project or the agent does not exist, or several agents have this short name.
    pub async fn agent_files(&self, project: &ProjectId, name: &str) -> Result<AgentFiles> {
        self.project(project).await?;
        let mut connection = self.readers.acquire().await?;
        let names = agents::names(&mut connection, project).await?;
        let full = resolve(name, "", &names.iter().map(String::as_str).collect::<Vec<_>>()).map_err(Refusal::from)?;
        let found = agents::read(&mut connection, project, full).await?;
        let mut agent = found.ok_or_else(|| Refusal::not_found("agent", name))?;
        agents::apply_presence(&mut agent, &self.presence, now());
        let git_dir = claims::scope(&mut connection, project).await?.git_dir;
        let held = claims::load(&mut connection, &git_dir).await?.claims;
        let held: Vec<Claim> = held.into_iter().filter(|claim| claim.project_id == *project && claim.agent == agent.name).collect();
        let owns = |of: &Option<String>| of.as_deref() == Some(agent.name.as_str());
        let zone = zones::of_project(&mut connection, project).await?.into_iter().filter(|zone| owns(&zone.owner) || owns(&zone.oracle));
        let zone = zone.flat_map(|zone| zone.paths).collect();
        let tasks = row::of_agent(&mut connection, &agent).await?;
        let run = row::live_run(&mut connection, &agent).await?;
        let loaded_at = run.as_ref().map(|(_, started_at)| *started_at).or(agent.context_reported_at);
        let loaded = match agent.run_id.as_ref().filter(|_| run.is_some()) {
            Some(id) => freshness::of_run(&mut connection, id).await?,
            None => BTreeMap::new(),
        };
        // The claims of a managed agent last until its work is merged.
        let of_claims = held.iter().find_map(|claim| claim.task_id.clone());
        Ok(AgentFiles {
            claims: held.into_iter().map(|claim| claim.path).collect(),
            zone,
            planned: tasks.planned,
            worktree_of: run.map(|(task, _)| task).or(of_claims),
            loaded_at,
            loaded,
            last_task_update: tasks.newest,
            activity_count: tasks.activity_count,
            agent,
        })
    }

    /// Returns the updates of the open tasks of each assignee. Assignees without updates are left out.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn activity_counts(&self, project: &ProjectId) -> Result<BTreeMap<String, u32>> {
        row::by_assignee(&mut *self.readers.acquire().await?, project).await
    }
}
