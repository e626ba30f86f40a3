//! Renames of external agents: the new name gets everything that is live. History keeps the old name, which stays reserved for its agent.

use domain::board::task::event::TaskEvent;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{Agent, AgentEvent, full_name, have_same_short_name};

use crate::board::task::row::open_tasks_of;
use crate::caller::{Caller, agent_call_scope};
use crate::context::memory::write as memory;
use crate::context::session::write as sessions;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::{general, row};
use crate::team::participant::row as participant;
use crate::team::person::row::further_names;

/// The rows that move from the name `$2` to the name `$3` in the project `$1`. The tokens follow the row of their agent.
pub(crate) const MOVES: &[&str] = &[
    "UPDATE claims SET agent_name = $3 WHERE project_id = $1 AND agent_name = $2",
    "UPDATE claim_waits SET agent_name = $3 WHERE project_id = $1 AND agent_name = $2",
    "UPDATE deliveries SET recipient = $3 WHERE project_id = $1 AND recipient = $2 AND read_at IS NULL",
    "UPDATE hats SET agent_name = $3 WHERE project_id = $1 AND agent_name = $2",
    "UPDATE handshakes SET initiated_by = $3 WHERE project_id = $1 AND initiated_by = $2 AND status = 'pending'",
    "UPDATE handshake_acks SET agent_name = $3
       WHERE agent_name = $2 AND handshake_id IN (SELECT id FROM handshakes WHERE project_id = $1 AND status = 'pending')",
    "UPDATE contracts SET owner = $3 WHERE project_id = $1 AND owner = $2",
    "UPDATE spawn_policies SET scope = $3 WHERE project_id = $1 AND scope = $2",
    "UPDATE minions SET pilot = $3 WHERE project_id = $1 AND pilot = $2",
    "UPDATE context_sessions SET created_by = $3 WHERE project_id = $1 AND created_by = $2 AND closed_at IS NULL",
    "UPDATE zones SET owner = $3 WHERE project_id = $1 AND owner = $2",
    "UPDATE zones SET oracle = $3 WHERE project_id = $1 AND oracle = $2",
    "UPDATE oracle_questions SET oracle = $3 WHERE project_id = $1 AND oracle = $2 AND answered_at IS NULL",
    "UPDATE oracle_questions SET asker = $3 WHERE project_id = $1 AND asker = $2 AND answered_at IS NULL",
    "UPDATE triggers SET target = $3
       WHERE project_id = $1 AND target = $2 AND ended_at IS NULL AND word IN ('fenix_down', 'stand_down', 'sitrep', 'recon')",
    "UPDATE handovers SET agent_name = $3 WHERE project_id = $1 AND agent_name = $2 AND continued_at IS NULL",
    "UPDATE knowledge SET topic = $3, stored = 0 WHERE project_id = $1 AND kind = 'note' AND topic = $2 AND closed_at IS NULL",
    "UPDATE knowledge_read SET reader = $3
       WHERE reader = $2 AND knowledge_id IN (SELECT id FROM knowledge WHERE project_id = $1 AND closed_at IS NULL)",
    "UPDATE imported_records SET reference = $3 WHERE project_id = $1 AND kind = 'agent' AND reference = $2",
    "DELETE FROM former_names WHERE project_id = $1 AND former = $3",
    "UPDATE former_names SET name = $3 WHERE project_id = $1 AND name = $2",
    "INSERT INTO former_names (project_id, former, name) VALUES ($1, $2, $3)",
];

/// The rows of an open task `$1` that move from its assignee `$2` to the name `$3`. The builder of a task is compared with its assignee.
const OPEN_TASK: &[&str] = &[
    "UPDATE tasks SET assigned_to = $3 WHERE id = $1 AND assigned_to = $2",
    "UPDATE contributions SET agent_name = $3 WHERE task_id = $1 AND agent_name = $2",
];

impl Db {
    /// Gives an external agent another name: the caller itself, or any if the caller is a lead. An agent of a team stays in it, unless the
    /// new name names another. Its token goes on under the new name.
    ///
    /// # Errors
    /// When no external agent has this name, the caller may not rename it, or the new name is invalid, reserved, or was ever another agent's.
    pub async fn rename_agent(&self, caller: &Caller, project: &ProjectId, name: &str, new_name: &str) -> Result<Agent> {
        let (of, name, new_name) = (project.clone(), name.to_owned(), new_name.to_owned());
        let renamed = self
            .run_once(caller, move |tx, caller| {
                Box::pin(async move {
                    let participant = participant::load(&mut tx.connection, caller, &of).await?;
                    let names = row::active_names(&mut tx.connection, &of).await?;
                    let names: Vec<&str> = names.iter().map(String::as_str).collect();
                    let old = match row::current_name(&mut tx.connection, &of, name.trim()).await? {
                        Some(current) => current,
                        None => domain::team::agent::resolve(&name, &participant.name, &names)?.to_owned(),
                    };
                    if old != participant.name {
                        participant.require_lead(&format!("renaming {old}"))?;
                    }
                    let agent = row::read(&mut tx.connection, &of, &old).await?.ok_or_else(|| Refusal::not_found("agent", &old))?;
                    if agent.run_id.is_some() {
                        let hint = "Name an agent that who lists without a run.";
                        return Err(Refusal::invalid("agent_name", format!("{old} is named after its task"), hint).into());
                    }
                    general::require_one_project(&mut tx.connection, &of, &old).await?;
                    let team = agent.team.as_deref().filter(|_| !new_name.contains('/'));
                    let new = full_name(new_name.trim(), team)?;
                    if new == old {
                        tx.skip_event(NoEventReason::NothingChanged);
                        return Ok(new);
                    }
                    require_free(tx, &of, &old, &new).await?;
                    move_name(tx, caller, &of, &old, &new).await?;
                    Ok(new)
                })
            })
            .await?;
        self.agent(project, &renamed).await
    }
}

/// Refuses a name that another participant has or had, and one that could be mistaken for another active agent.
async fn require_free(tx: &mut Tx, project: &ProjectId, old: &str, new: &str) -> Result<()> {
    let known = row::names(&mut tx.connection, project).await?;
    let active = row::active_names(&mut tx.connection, project).await?;
    let persons = further_names(tx).await?;
    let is_taken = known.iter().any(|name| name != old && name.eq_ignore_ascii_case(new))
        || active.iter().chain(&persons).any(|name| name != old && have_same_short_name(name, new))
        || row::current_name(&mut tx.connection, project, new).await?.is_some_and(|owner| owner != old);
    if is_taken { Err(AgentRefusal::NameTaken { name: new.to_owned() }.into()) } else { Ok(()) }
}

async fn move_name(tx: &mut Tx, caller: &Caller, project: &ProjectId, old: &str, new: &str) -> Result<()> {
    let open = open_tasks_of(tx, project, old).await?;
    let team = new.split_once('/').map(|(team, _)| team);
    sqlx::query("UPDATE agents SET name = $3, team = $4 WHERE project_id = $1 AND name = $2")
        .bind(project.as_str())
        .bind(old)
        .bind(new)
        .bind(team)
        .execute(&mut tx.connection)
        .await?;
    for statement in MOVES {
        sqlx::query(*statement).bind(project.as_str()).bind(old).bind(new).execute(&mut tx.connection).await?;
    }
    memory::rename_owner(tx, project, old, new).await?;
    sessions::rename_reader(tx, project, old, new).await?;
    let (before, after) = (agent_call_scope(project, old), agent_call_scope(project, new));
    sqlx::query("UPDATE calls SET caller = $2 WHERE caller = $1").bind(before).bind(after).execute(&mut tx.connection).await?;
    for card in &open {
        for statement in OPEN_TASK {
            sqlx::query(*statement).bind(card.id.as_str()).bind(old).bind(new).execute(&mut tx.connection).await?;
        }
        tx.record_for_task(caller, project, &card.id, TaskEvent::Assigned { to: Some(new.to_owned()) });
    }
    tx.record_without_card(caller, project, None, AgentEvent::Renamed { agent: old.to_owned(), new_name: new.to_owned() });
    tx.presence.rename(project, old, new);
    // Its token identifies it by another name from now on.
    tx.tokens_revoked = true;
    Ok(())
}
