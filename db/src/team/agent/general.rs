//! Generals: leads whose token the owner created for all projects. In each project they are an agent of the same name.
//!
//! This file only lets it join; its rights in a project are those of every lead there.

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::role::Role;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::{LeadPost, LeadRefusal, LeadRole};
use sqlx::SqliteConnection;

use super::name_claim::reject_case_variants;
use super::write::AgentRow;
use crate::board::project::row as projects;
use crate::caller::{AgentCaller, Caller};
use crate::consequences::agent_joined::agent_joined;
use crate::engine::column::optional;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;

const POST: LeadPost = LeadPost { role: LeadRole::General, zone: None };

/// A row if the agent `$2` of the project `$1` holds a token for all projects and has not left.
pub(crate) const REACHES_ALL: &str = "SELECT 1 FROM tokens k JOIN agents a ON a.project_id = k.project_id AND a.name = k.agent_name
  WHERE k.project_id = $1 AND k.agent_name = $2 AND k.reach = 'all' AND a.left_at IS NULL
    AND (k.expires_at IS NULL OR k.expires_at > $3) AND (k.retires_at IS NULL OR k.retires_at > $3) LIMIT 1";

pub(crate) const HOME: &str = "SELECT home_project_id FROM agents WHERE project_id = $1 AND name = $2";

/// A row if the agent `$2` of the project `$1` is a general there, at home or not.
pub(crate) const IS_GENERAL: &str = "SELECT 1 FROM agents WHERE project_id = $1 AND name = $2 AND home_project_id IS NOT NULL
  UNION ALL SELECT 1 FROM tokens WHERE project_id = $1 AND agent_name = $2 AND reach = 'all' LIMIT 1";

impl Db {
    /// Returns a general as the agent that it is in another project, which it joins with its first call there. Both cost reads by index.
    ///
    /// # Errors
    /// When the caller is no general, or the project does not exist or has another agent of its name.
    pub async fn enter_project(&self, general: &AgentCaller, project: &ProjectId) -> Result<Caller> {
        let there = Caller::Agent(AgentCaller { project_id: project.clone(), ..general.clone() });
        let mut connection = self.readers.acquire().await?;
        require_general(&mut connection, general, project).await?;
        if holder(&mut connection, general, project).await? == NameHolder::General {
            return Ok(there);
        }
        drop(connection);
        let (general, project, caller) = (general.clone(), project.clone(), there.clone());
        self.write(move |tx| Box::pin(async move { join(tx, &caller, &general, &project).await })).await?;
        Ok(there)
    }
}

/// Refuses all but generals, as if the other project did not exist.
async fn require_general(connection: &mut SqliteConnection, general: &AgentCaller, project: &ProjectId) -> Result<()> {
    let reaches = sqlx::query(REACHES_ALL)
        .bind(general.project_id.as_str())
        .bind(&general.name)
        .bind(crate::now().to_string())
        .fetch_optional(&mut *connection)
        .await?;
    if reaches.is_none() || projects::read(connection, project).await?.deleted_at.is_some() {
        return Err(Refusal::not_found("project", project).into());
    }
    Ok(())
}

/// The agent that has the name of a general in another project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameHolder {
    Nobody,
    General,
    Other,
}

async fn holder(connection: &mut SqliteConnection, general: &AgentCaller, project: &ProjectId) -> Result<NameHolder> {
    let Some(row) = sqlx::query(HOME).bind(project.as_str()).bind(&general.name).fetch_optional(connection).await? else {
        return Ok(NameHolder::Nobody);
    };
    let home: Option<ProjectId> = optional(&row, "home_project_id")?;
    Ok(if home.as_ref() == Some(&general.project_id) { NameHolder::General } else { NameHolder::Other })
}

async fn join(tx: &mut Tx, caller: &Caller, general: &AgentCaller, project: &ProjectId) -> Result<()> {
    let name = &general.name;
    match holder(&mut tx.connection, general, project).await? {
        // A call at the same time brought it in.
        NameHolder::General => {
            tx.skip_event(NoEventReason::NothingChanged);
            return Ok(());
        }
        NameHolder::Other => return Err(LeadRefusal::NameOfOther { agent: name.clone(), project: project.clone() }.into()),
        NameHolder::Nobody => reject_case_variants(tx, project, name).await?,
    }
    let row = AgentRow {
        name,
        team: name.split_once('/').map(|(team, _)| team),
        roles: &[Role::Lead],
        description: None,
        trusted: true,
        run: None,
        class: Some(AgentClass::Lead),
        post: Some(&POST),
        model: None,
        transport: None,
        seen: true,
    };
    agent_joined(tx, caller, project, row).await?;
    set_home(tx, project, name, Some(&general.project_id)).await
}

/// Sets whose token the agent of a project uses: that of its own project, or that of a general.
pub(crate) async fn set_home(tx: &mut Tx, project: &ProjectId, name: &str, home: Option<&ProjectId>) -> Result<()> {
    sqlx::query("UPDATE agents SET home_project_id = $3 WHERE project_id = $1 AND name = $2 AND home_project_id IS DISTINCT FROM $3")
        .bind(project.as_str())
        .bind(name)
        .bind(home.map(ProjectId::as_str))
        .execute(&mut tx.connection)
        .await?;
    Ok(())
}

/// Refuses what a general cannot do because it has the same name in several projects.
pub(super) async fn require_one_project(connection: &mut SqliteConnection, project: &ProjectId, name: &str) -> Result<()> {
    let general = sqlx::query(IS_GENERAL).bind(project.as_str()).bind(name).fetch_optional(connection).await?;
    general.map_or(Ok(()), |_| Err(LeadRefusal::NameOfGeneral { agent: name.to_owned() }.into()))
}
