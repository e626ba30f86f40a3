//! Minions: the helpers that agents start themselves, and how many each agent may run at once.
//!
//! The store counts logged minions. An agent asks for its quota before it starts one.

pub(crate) mod write;

use domain::id::{ProjectId, RunId};
use domain::refusal::Refusal;
use domain::team::agent::{is_short_for, resolve};
use domain::team::minion::{GLOBAL, MAX_MINIONS, Minion, MinionEvent, MinionQuota, MinionRefusal, MinionStatus, SpawnPolicy};
use domain::text;
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use crate::caller::Caller;
use crate::engine::column::{count, optional, parsed};
use crate::engine::open::Db;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::active_names;
use crate::team::participant::row as participant;

/// Maximum number of minions listed. Older ones remain in the event log.
const LISTED: u32 = 200;

impl Db {
    /// Sets how many minions may run at once: for every agent with the scope `global`, or for one agent.
    ///
    /// # Errors
    /// When the caller is not a lead, the scope names no active agent, or the limit exceeds [`MAX_MINIONS`].
    pub async fn set_spawn_policy(&self, caller: &Caller, project: &ProjectId, scope: &str, enabled: bool, max_minions: u32) -> Result<SpawnPolicy> {
        let (project, scope) = (project.clone(), scope.to_owned());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("setting a spawn policy")?;
                if max_minions > MAX_MINIONS {
                    let problem = format!("{max_minions} is too many");
                    return Err(Refusal::invalid("max_minions", problem, format!("Allow at most {MAX_MINIONS}.")).into());
                }
                let scope = match scope.trim() {
                    GLOBAL => GLOBAL.to_owned(),
                    name => {
                        let names = active_names(&mut tx.connection, &project).await?;
                        resolve(name, &participant.name, &names.iter().map(String::as_str).collect::<Vec<_>>())?.to_owned()
                    }
                };
                let policy = SpawnPolicy { scope, enabled, max_minions, set_by: Some(participant.name), set_at: Some(tx.now) };
                write_policy(tx, &project, &policy).await?;
                tx.record_without_card(caller, &project, None, MinionEvent::SpawnPolicySet { scope: policy.scope.clone() });
                Ok(policy)
            })
        })
        .await
    }

    /// Lists the policies of a project: the global one first (the default if it was never set), then by name.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn spawn_policies(&self, project: &ProjectId) -> Result<Vec<SpawnPolicy>> {
        let rows = sqlx::query("SELECT * FROM spawn_policies WHERE project_id = $1 ORDER BY scope <> $2, scope")
            .bind(project.as_str())
            .bind(GLOBAL)
            .fetch_all(&self.readers)
            .await?;
        let mut policies: Vec<SpawnPolicy> = rows.iter().map(policy_of).collect::<Result<_>>()?;
        if policies.first().is_none_or(|first| first.scope != GLOBAL) {
            policies.insert(0, SpawnPolicy::default());
        }
        Ok(policies)
    }

    /// Returns the current quota of an agent, from its own policy, the global one or the default.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn allowance(&self, caller: &Caller, project: &ProjectId, agent: Option<&str>) -> Result<MinionQuota> {
        let mut connection = self.readers.acquire().await?;
        let own = caller.name().unwrap_or_default();
        let name = match agent.map(str::trim).filter(|name| !is_short_for(name, &own)) {
            None => own,
            Some(other) => {
                participant::load(&mut connection, caller, project).await?.require_lead("reading the policy of another agent")?;
                let names = active_names(&mut connection, project).await?;
                resolve(other, &own, &names.iter().map(String::as_str).collect::<Vec<_>>())?.to_owned()
            }
        };
        allowance(&mut connection, project, &name).await
    }

    /// Records that a minion of the caller started or ended. `tool_use_id` identifies the minion; without it, the newest running one ends.
    /// A minion whose failure is logged before its start is stored as failed.
    ///
    /// # Errors
    /// When the policy allows no further minion, the caller has no running minion to end, or a text is invalid.
    pub async fn log_minion(
        &self,
        caller: &Caller,
        project: &ProjectId,
        description: &str,
        status: MinionStatus,
        result: Option<&str>,
        tool_use_id: Option<&str>,
    ) -> Result<Minion> {
        let (project, description) = (project.clone(), description.to_owned());
        let (result, tool_use_id) = (result.map(str::to_owned), tool_use_id.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let pilot = participant::load(&mut tx.connection, caller, &project).await?.name;
                let result = text::validate_optional_body("result", result.as_deref())?;
                let new =
                    NewMinion { project: &project, pilot: &pilot, run: caller.run(), description: &description, tool_use_id: tool_use_id.as_deref() };
                let known = find(&mut tx.connection, &new).await?;
                let minion = match (known, status) {
                    // A late start report does not change a minion that is already logged.
                    (Some(known), MinionStatus::Spawned) => known,
                    (Some(known), _) => end(tx, known, status, result.as_deref()).await?,
                    (None, MinionStatus::Spawned) => begin(tx, &new).await?,
                    (None, MinionStatus::Failed) if tool_use_id.is_some() => {
                        let unborn = insert(tx, &new).await?;
                        end(tx, unborn, status, result.as_deref()).await?
                    }
                    (None, _) => {
                        let none =
                            || Refusal::invalid("status", format!("{pilot} has no running minion"), "Log each minion as spawned before it starts.");
                        let newest = newest(&mut tx.connection, &new).await?.ok_or_else(none)?;
                        end(tx, newest, status, result.as_deref()).await?
                    }
                };
                tx.record_without_card(caller, &project, None, MinionEvent::Logged { minion: minion.id, status: minion.status });
                Ok(minion)
            })
        })
        .await
    }

    /// Lists the latest 200 minions of a project, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn minions(&self, project: &ProjectId) -> Result<Vec<Minion>> {
        let rows = sqlx::query("SELECT * FROM minions WHERE project_id = $1 ORDER BY id DESC LIMIT $2")
            .bind(project.as_str())
            .bind(LISTED)
            .fetch_all(&self.readers)
            .await?;
        rows.iter().map(minion_of).collect()
    }
}

async fn allowance(connection: &mut SqliteConnection, project: &ProjectId, agent: &str) -> Result<MinionQuota> {
    let row = sqlx::query("SELECT * FROM spawn_policies WHERE project_id = $1 AND scope IN ($2, $3) ORDER BY scope = $3 LIMIT 1")
        .bind(project.as_str())
        .bind(agent)
        .bind(GLOBAL)
        .fetch_optional(&mut *connection)
        .await?;
    let policy = row.as_ref().map(policy_of).transpose()?.unwrap_or_default();
    let row = sqlx::query("SELECT COUNT(*) AS active FROM minions WHERE project_id = $1 AND pilot = $2 AND status = 'spawned'")
        .bind(project.as_str())
        .bind(agent)
        .fetch_one(connection)
        .await?;
    Ok(MinionQuota::new(agent, &policy, count(&row, "active")?))
}

/// A minion to insert.
struct NewMinion<'a> {
    project: &'a ProjectId,
    pilot: &'a str,
    run: Option<&'a RunId>,
    description: &'a str,
    tool_use_id: Option<&'a str>,
}

async fn begin(tx: &mut Tx, new: &NewMinion<'_>) -> Result<Minion> {
    let allowed = allowance(&mut tx.connection, new.project, new.pilot).await?;
    if !allowed.can_spawn {
        let problem = if allowed.enabled {
            format!("{} of {} are running", allowed.active_minions, allowed.max_minions)
        } else {
            "the policy allows none".to_owned()
        };
        return Err(MinionRefusal::LimitReached { agent: new.pilot.to_owned(), problem }.into());
    }
    insert(tx, new).await
}

async fn insert(tx: &mut Tx, new: &NewMinion<'_>) -> Result<Minion> {
    let row = sqlx::query(
        "INSERT INTO minions (project_id, pilot, run_id, tool_use_id, task_description, status, spawned_at)
         VALUES ($1, $2, $3, $4, $5, 'spawned', $6) RETURNING *",
    )
    .bind(new.project.as_str())
    .bind(new.pilot)
    .bind(new.run.map(RunId::as_str))
    .bind(new.tool_use_id)
    .bind(text::validate_body("task_description", new.description)?)
    .bind(tx.now.to_string())
    .fetch_one(&mut tx.connection)
    .await?;
    minion_of(&row)
}

/// Finds the minion that the same tool use started.
async fn find(connection: &mut SqliteConnection, new: &NewMinion<'_>) -> Result<Option<Minion>> {
    let row = sqlx::query("SELECT * FROM minions WHERE project_id = $1 AND pilot = $2 AND tool_use_id = $3")
        .bind(new.project.as_str())
        .bind(new.pilot)
        .bind(new.tool_use_id)
        .fetch_optional(connection)
        .await?;
    row.as_ref().map(minion_of).transpose()
}

/// Finds the newest running minion of the pilot. A given tool use id rules out guessing.
async fn newest(connection: &mut SqliteConnection, new: &NewMinion<'_>) -> Result<Option<Minion>> {
    let row =
        sqlx::query("SELECT * FROM minions WHERE project_id = $1 AND pilot = $2 AND status = 'spawned' AND $3 IS NULL ORDER BY id DESC LIMIT 1")
            .bind(new.project.as_str())
            .bind(new.pilot)
            .bind(new.tool_use_id)
            .fetch_optional(connection)
            .await?;
    row.as_ref().map(minion_of).transpose()
}

/// Records the end of a minion. The first report wins.
async fn end(tx: &mut Tx, minion: Minion, status: MinionStatus, result: Option<&str>) -> Result<Minion> {
    let row = sqlx::query("UPDATE minions SET status = $2, result = $3, completed_at = $4 WHERE id = $1 AND status = 'spawned' RETURNING *")
        .bind(minion.id)
        .bind(status.as_str())
        .bind(result)
        .bind(tx.now.to_string())
        .fetch_optional(&mut tx.connection)
        .await?;
    row.as_ref().map_or(Ok(minion), minion_of)
}

fn policy_of(row: &SqliteRow) -> Result<SpawnPolicy> {
    Ok(SpawnPolicy {
        scope: row.try_get("scope")?,
        enabled: row.try_get("enabled")?,
        max_minions: count(row, "max_minions")?,
        set_by: row.try_get("set_by")?,
        set_at: optional(row, "set_at")?,
    })
}

fn minion_of(row: &SqliteRow) -> Result<Minion> {
    Ok(Minion {
        id: row.try_get("id")?,
        pilot: row.try_get("pilot")?,
        task_description: row.try_get("task_description")?,
        status: parsed(row, "status")?,
        result: row.try_get("result")?,
        spawned_at: parsed(row, "spawned_at")?,
        completed_at: optional(row, "completed_at")?,
    })
}

async fn write_policy(tx: &mut Tx, project: &ProjectId, policy: &SpawnPolicy) -> Result<()> {
    sqlx::query(
        "INSERT INTO spawn_policies (project_id, scope, enabled, max_minions, set_by, set_at) VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (project_id, scope) DO UPDATE SET enabled = $3, max_minions = $4, set_by = $5, set_at = $6",
    )
    .bind(project.as_str())
    .bind(&policy.scope)
    .bind(policy.enabled)
    .bind(policy.max_minions)
    .bind(&policy.set_by)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    Ok(())
}
