//! Claims of names with an invite token: which names are free, and how a reclaimed name is released.

use std::time::Duration;

use domain::id::ProjectId;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{Agent, Health, have_same_short_name};
use domain::time::Timestamp;

use crate::caller::{Caller, agent_call_scope};
use crate::consequences::agent_left::{agent_left, name_reclaimed};
use crate::context::memory::write as memory;
use crate::context::session::write::orphan_private_messages;
use crate::engine::tx::Tx;
use crate::error::Result;
use crate::team::agent::row::active_names;
use crate::team::message::write::mark_all_read;
use crate::team::person::row::further_names;
use crate::team::token;
use crate::warroom::handover::write as handover;
use crate::warroom::knowledge::write as knowledge;

/// Time after which a registration without any call no longer reserves its name.
const FIRST_CALL_TIMEOUT: Duration = Duration::from_secs(60);

/// How the holder of an invite token obtains a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameClaim {
    /// No agent ever had the name.
    New,
    /// The caller presents the token of the name's agent.
    Own,
    /// The name's agent left, stopped responding or never called.
    Reclaimed,
}

/// Allows a claim of a name that is free, abandoned, or whose token the caller presents. The name of a trusted agent, or one that could be
/// mistaken for an active agent, cannot be claimed.
pub(super) async fn authorize_claim(tx: &mut Tx, project: &ProjectId, name: &str, known: Option<&Agent>, shown: Option<&str>) -> Result<NameClaim> {
    let taken = || AgentRefusal::NameTaken { name: name.to_owned() };
    let mut claim = NameClaim::New;
    if let Some(known) = known {
        // An agent without any call may have lost the response that contained its token.
        let never_called = known.last_seen.is_none() && !known.connected && tx.now.since(known.registered_at) >= FIRST_CALL_TIMEOUT;
        let is_abandoned = known.left_at.is_some() || known.health == Health::Dead || never_called;
        let owns = match shown {
            Some(shown) => token::terms_of_agent(tx, project, name, shown).await?.is_some(),
            None => false,
        };
        if known.trusted || !(is_abandoned || owns) {
            return Err(taken().into());
        }
        if owns {
            return Ok(NameClaim::Own);
        }
        claim = NameClaim::Reclaimed;
    }
    reject_case_variants(tx, project, name).await?;
    if active_names(&mut tx.connection, project).await?.iter().any(|other| other != name && have_same_short_name(other, name)) {
        return Err(taken().into());
    }
    Ok(claim)
}

/// Returns whether the agent that registered at `since` never sent a heartbeat, so the response with its token may have been lost.
pub(super) fn no_heartbeat_since(known: &Agent, since: Timestamp) -> bool {
    let is_same = known.left_at.is_none() && !known.trusted && known.registered_at <= since;
    is_same && !known.connected && known.last_seen.is_none_or(|seen| seen <= since)
}

/// Names that a new agent `$2` of the project `$1` could be mistaken for. A name that an agent gave up by a rename stays reserved.
const VARIANTS: &str = "SELECT name FROM agents WHERE project_id = $1 AND lower(name) = lower($2) AND name <> $2
  UNION ALL SELECT former FROM former_names WHERE project_id = $1 AND lower(former) = lower($2)";

/// Refuses a name that differs only in case from a current or former one, that of a renamed agent, and that of a person.
pub(super) async fn reject_case_variants(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let other: Option<String> = sqlx::query_scalar(VARIANTS).bind(project.as_str()).bind(name).fetch_optional(&mut tx.connection).await?;
    if let Some(name) = other {
        return Err(AgentRefusal::NameTaken { name }.into());
    }
    let person = further_names(tx).await?.into_iter().find(|person| have_same_short_name(person, name));
    person.map_or(Ok(()), |_| Err(AgentRefusal::NameTaken { name: name.to_owned() }.into()))
}

/// Releases a name before another agent claims it: marks its messages as read, unassigns its tasks, and removes its private notes, its
/// memory and its unread handovers, because they were meant for the earlier agent.
pub(super) async fn release_name(tx: &mut Tx, before: &Agent) -> Result<()> {
    let (project, name) = (&before.project_id, before.name.as_str());
    name_reclaimed(tx, project, name).await?;
    if before.left_at.is_none() {
        agent_left(tx, &Caller::Runner, project, name).await?;
    }
    mark_all_read(tx, project, name).await?;
    orphan_private_messages(tx, project, name).await?;
    memory::delete_of_agent(tx, project, name).await?;
    handover::delete_unread(tx, project, name).await?;
    knowledge::forget_reader(tx, project, name).await?;
    // Without `left_at_message`, the new agent has missed no broadcast.
    sqlx::query(
        "UPDATE agents SET roles = '[]', description = NULL, registered_at = $3, last_seen = NULL, heartbeat_at = NULL, last_inbox_check = NULL,
           left_at_message = NULL, class = NULL, lead_role = NULL, zone = NULL, model = NULL, transport = 'terminal', context = NULL,
           context_tokens = NULL, context_limit = NULL, context_at = NULL, home_project_id = NULL
         WHERE project_id = $1 AND name = $2",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.delete_answers(&agent_call_scope(project, name)).await?;
    tx.presence.reset(project, name);
    Ok(())
}
