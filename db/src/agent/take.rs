//! Names taken by a room's token: which are free, and what becomes of what their earlier agents left behind.

use std::time::Duration;

use domain::agent::{Agent, Health, share_short};
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::time::Timestamp;

use super::{leave, present};
use crate::caller::{Caller, agent_key};
use crate::error::Result;
use crate::tx::Tx;
use crate::{task, token};

/// How long after registering an agent is waited for that never called.
const LOST_AFTER: Duration = Duration::from_secs(60);

/// How a room's bearer comes to a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Taken {
    /// Nobody had it.
    New,
    /// It shows the token of the name's agent, so that is who it is.
    Own,
    /// The name's agent left, fell silent, or never came: somebody else may be meant by it now.
    Freed,
}

/// A room's bearer takes a name that nobody has, that its agent left or fell silent under, or whose token it shows. What the person
/// vouches for is never taken so, nor a name by which somebody who is there could be meant.
pub(super) async fn may_take(tx: &mut Tx, project: &ProjectId, name: &str, known: Option<&Agent>, shown: Option<&str>) -> Result<Taken> {
    let taken = || Refusal::NameTaken { name: name.to_owned() };
    let mut way = Taken::New;
    if let Some(known) = known {
        // Whoever registered and was never heard of since may have lost the answer, and the token in it.
        let never_came = known.last_seen.is_none() && !known.connected && tx.now.since(known.registered_at) >= LOST_AFTER;
        let silent = known.left_at.is_some() || known.health == Health::Dead || never_came;
        let owns = match shown {
            Some(shown) => token::opens(tx, project, name, shown).await?,
            None => false,
        };
        if known.verified || !(silent || owns) {
            return Err(taken().into());
        }
        if owns {
            return Ok(Taken::Own);
        }
        way = Taken::Freed;
    }
    no_other_case(tx, project, name).await?;
    if present(&mut tx.connection, project).await?.iter().any(|other| other != name && share_short(other, name)) {
        return Err(taken().into());
    }
    Ok(way)
}

/// Whether whoever took the name at `since` was not heard of under it any more: then the answer may have been lost, and the token with it.
pub(super) fn unheard_since(known: &Agent, since: Timestamp) -> bool {
    let is_same = known.left_at.is_none() && !known.verified && known.registered_at <= since;
    is_same && !known.connected && known.last_seen.is_none_or(|seen| seen <= since)
}

/// Refuses a name that differs in case alone from one that somebody has or had.
pub(super) async fn no_other_case(tx: &mut Tx, project: &ProjectId, name: &str) -> Result<()> {
    let other: Option<String> = sqlx::query_scalar("SELECT name FROM agents WHERE project_id = $1 AND name = $2 COLLATE NOCASE AND name <> $2")
        .bind(project.as_str())
        .bind(name)
        .fetch_optional(&mut tx.connection)
        .await?;
    other.map_or(Ok(()), |name| Err(Refusal::NameTaken { name }.into()))
}

/// Takes from a name what was its earlier agent's before somebody else has it: what was written to that agent and what it promised to do
/// is not for a stranger, who hears what is said from now on.
pub(super) async fn vacate(tx: &mut Tx, before: &Agent) -> Result<()> {
    let (project, name) = (&before.project_id, before.name.as_str());
    task::take_from(tx, project, name).await?;
    if before.left_at.is_none() {
        leave(tx, &Caller::Runner, project, name).await?;
    }
    sqlx::query(
        "UPDATE messages SET read_at = $3 WHERE project_id = $1 AND to_agent = $2 AND read_at IS NULL;
         UPDATE agents SET roles = '[]', description = NULL, registered_at = $3, last_seen = NULL, heartbeat_at = NULL, last_inbox_check = NULL,
           broadcasts_after = (SELECT COALESCE(MAX(id), 0) FROM messages) WHERE project_id = $1 AND name = $2",
    )
    .bind(project.as_str())
    .bind(name)
    .bind(tx.now.to_string())
    .execute(&mut tx.connection)
    .await?;
    tx.forget_calls(&agent_key(project, name)).await?;
    tx.presence.forget(project, name);
    Ok(())
}
