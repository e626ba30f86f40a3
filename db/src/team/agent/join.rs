//! Joining a project: by a token that the person makes, by a room's token, or by being a run.

use domain::board::card::Card;
use domain::event::Event;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::runs::run::Run;
use domain::team::agent::{Agent, Registration, full_name};
use domain::team::role::Role;
use domain::text;
use domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::name_claim::{NameClaim, authorize_claim, no_heartbeat_since, reject_case_variants, release_name};
use super::{mark_left, read};
use crate::board::{project, task};
use crate::caller::{AgentCaller, Caller};
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::message;
use crate::team::token;
use crate::team::token::TokenOwner;

/// An agent that joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationResult {
    pub agent: Agent,
    /// The token under which the name is its own from now on. Only with a room's token.
    pub token: Option<String>,
}

/// A row of an agent that was checked.
struct AgentRow<'a> {
    name: &'a str,
    team: Option<&'a str>,
    roles: &'a [Role],
    description: Option<&'a str>,
    verified: bool,
    run: Option<&'a RunId>,
    /// Whether joining so is a sign of its life.
    seen: bool,
}

impl Db {
    /// Makes an agent of the person's choosing, with the only token that opens the project under its name; an earlier token of that name
    /// is worth nothing from then on.
    ///
    /// # Errors
    /// When somebody else than the person asks, or the name is not acceptable, or differs from another in case alone.
    pub async fn create_agent_token(&self, caller: &Caller, project: &ProjectId, who: Registration) -> Result<String> {
        let (caller, project, new) = (caller.clone(), project.clone(), token::new_token());
        let hash = token::hash(&new);
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_human("making tokens")?;
                project::read(&mut tx.connection, &project).await?;
                let name = full_name(&who.name, who.team.as_deref())?;
                reject_case_variants(tx, &project, &name).await?;
                let description = text::validate_optional_body("description", who.description.as_deref())?;
                let roles = sorted_unique(&who.roles);
                let team = name.split_once('/').map(|(team, _)| team);
                // That the person makes a token is no sign of the agent's life.
                let row = AgentRow { name: &name, team, roles: &roles, description: description.as_deref(), verified: true, run: None, seen: false };
                write(tx, &caller, &project, row).await?;
                token::revoke_agent_token(tx, &project, &name).await?;
                token::insert(tx, &hash, TokenOwner::Agent(&project, &name)).await?;
                tx.record_without_card(&caller, &project, None, Event::TokenCreated {});
                Ok(())
            })
        })
        .await?;
        Ok(new)
    }

    /// Makes the token with which anybody may join a project under a name of their own; the earlier one lets nobody in any more.
    ///
    /// # Errors
    /// When somebody else than the person asks, or there is no such project.
    pub async fn create_invite_token(&self, caller: &Caller, project: &ProjectId) -> Result<String> {
        let (caller, project, new) = (caller.clone(), project.clone(), token::new_token());
        let hash = token::hash(&new);
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_human("making tokens")?;
                project::read(&mut tx.connection, &project).await?;
                token::revoke_invite_token(tx, &project).await?;
                token::insert(tx, &hash, TokenOwner::Room(&project)).await?;
                tx.record_without_card(&caller, &project, None, Event::TokenCreated {});
                Ok(())
            })
        })
        .await?;
        Ok(new)
    }

    /// Joins, or says something new about oneself; what is left out stays. With a room's token the answer holds the agent's own. That is
    /// kept nowhere: the same call once more makes a new one, as long as nobody was heard of under the name.
    ///
    /// `own_token` is one that the name's agent was given before: with it a room's bearer takes the name up again, with its inbox and tasks.
    /// Whoever takes up a name without it, which its agent left or fell silent under, begins anew.
    ///
    /// # Errors
    /// When the name is taken, is not the caller's, or is not acceptable; when the caller would make itself a lead.
    pub async fn register(&self, caller: &Caller, project: &ProjectId, who: Registration, own_token: Option<&str>) -> Result<RegistrationResult> {
        let (by, of, new) = (caller.clone(), project.clone(), token::new_token());
        let (hash, shown) = (token::hash(&new), own_token.map(token::hash));
        let (name, is_guest) = self
            .write(move |tx| {
                Box::pin(async move {
                    if by.project().is_some_and(|own| *own != of) {
                        return Err(Refusal::not_found("project", &of).into());
                    }
                    let via_invite = matches!(by, Caller::Invite(_));
                    let before = match tx.stored_answer(&by).await? {
                        Some(joined) => repeated_registration(tx, &by, &of, joined).await?,
                        None => None,
                    };
                    let name = if let Some(name) = before {
                        name
                    } else {
                        tx.require_current_run(&by).await?;
                        let joined = StoredRegistration { name: join(tx, &by, &of, &who, shown.as_deref()).await?, at: tx.now };
                        tx.store_answer(&by, &joined).await?;
                        joined.name
                    };
                    if via_invite {
                        token::insert(tx, &hash, TokenOwner::Agent(&of, &name)).await?;
                    }
                    Ok((name, via_invite))
                })
            })
            .await?;
        Ok(RegistrationResult { agent: self.agent(project, &name).await?, token: is_guest.then_some(new) })
    }
}

/// What is kept of a call that joined: no token, which only its bearer has.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRegistration {
    name: String,
    at: Timestamp,
}

/// The name that the very same call took before; none when its agent left since, and joins anew. In a room its token is made anew, unless
/// somebody was heard of under the name since: then the answer arrived, or the name is another's by now.
async fn repeated_registration(
    tx: &mut Tx,
    caller: &Caller,
    project: &ProjectId,
    StoredRegistration { name, at }: StoredRegistration,
) -> Result<Option<String>> {
    let Some(mut known) = read(&mut tx.connection, project, &name).await? else { return Ok(None) };
    if !matches!(caller, Caller::Invite(_)) {
        if known.left_at.is_some() {
            return Ok(None);
        }
        tx.skip_event(NoEventReason::NothingChanged);
        return Ok(Some(name));
    }
    tx.presence.apply_to(&mut known, tx.now);
    if !no_heartbeat_since(&known, at) {
        return Ok(None);
    }
    token::revoke_agent_token(tx, project, &name).await?;
    tx.record_without_card(&agent_caller(project, &name), project, None, Event::TokenCreated {});
    Ok(Some(name))
}

/// Joins under the name that is the caller's own, or that it may take.
async fn join(tx: &mut Tx, caller: &Caller, project: &ProjectId, who: &Registration, shown: Option<&str>) -> Result<String> {
    let description = text::validate_optional_body("description", who.description.as_deref())?;
    let name = own_name(caller, who)?;
    let mut known = read(&mut tx.connection, project, &name).await?;
    if let Some(known) = &mut known {
        tx.presence.apply_to(known, tx.now);
    }
    let taken = if let Caller::Invite(_) = caller {
        let taken = authorize_claim(tx, project, &name, known.as_ref(), shown).await?;
        token::revoke_agent_token(tx, project, &name).await?;
        Some(taken)
    } else {
        None
    };
    let freed = known.take_if(|_| taken == Some(NameClaim::Reclaimed));
    let before = known.as_ref().map_or(&[][..], |agent| agent.roles.as_slice());
    let roles = roles(caller, &name, before, &who.roles)?;
    if let Some(freed) = freed {
        release_name(tx, &freed).await?;
    }
    let team = name.split_once('/').map(|(team, _)| team);
    // A room's bearer may have lost the answer, and its token with it, until it is heard of under the name.
    let seen = !matches!(taken, Some(NameClaim::New | NameClaim::Reclaimed));
    let (verified, run) = match caller {
        Caller::Run(own) => (true, Some(&own.run_id)),
        Caller::Agent(_) => (known.is_some_and(|agent| agent.trusted), None),
        Caller::Human | Caller::Runner | Caller::Invite(_) => (false, None),
    };
    let row = AgentRow { name: &name, team, roles: &roles, description: description.as_deref(), verified, run, seen };
    write(tx, caller, project, row).await?;
    Ok(name)
}

/// The caller's own name, or, in a room, the one that it chose.
fn own_name(caller: &Caller, who: &Registration) -> Result<String, Refusal> {
    let own = caller.name().unwrap_or_default();
    let claimed = || match (&who.team, who.name.rsplit_once('/')) {
        (Some(team), None) => format!("{team}/{}", who.name),
        // Its own name, and yet in another team.
        (Some(team), Some((_, short))) if who.name == own => format!("{team}/{short}"),
        _ => who.name.clone(),
    };
    match caller {
        Caller::Invite(_) => Ok(full_name(&who.name, who.team.as_deref())?),
        Caller::Run(_) | Caller::Agent(_) => {
            let is_own =
                domain::team::agent::is_short_for(&who.name, &own) && who.team.as_deref().is_none_or(|team| own.starts_with(&format!("{team}/")));
            if is_own { Ok(own) } else { Err(Refusal::WrongIdentity { claimed: claimed(), own }) }
        }
        Caller::Human | Caller::Runner => Err(Refusal::WrongIdentity { claimed: claimed(), own }),
    }
}

/// The roles after registering: those given, or the earlier ones. The lead is the person's to give and stays with whoever has it.
fn roles(caller: &Caller, name: &str, before: &[Role], given: &[Role]) -> Result<Vec<Role>, Refusal> {
    let leads = before.contains(&Role::Lead);
    if given.contains(&Role::Lead) && !leads {
        let (agent, action) = (name.to_owned(), "taking the lead".to_owned());
        return Err(if matches!(caller, Caller::Invite(_)) { Refusal::Untrusted { agent, action } } else { Refusal::LeadOnly { agent, action } });
    }
    if given.is_empty() {
        return Ok(before.to_vec());
    }
    Ok(sorted_unique(&[if leads { vec![Role::Lead] } else { Vec::new() }, given.to_vec()].concat()))
}

fn sorted_unique(roles: &[Role]) -> Vec<Role> {
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    roles
}

/// Writes the row of an agent. Who comes back finds what it had not read, broadcasts since then included, and its tasks.
async fn write(tx: &mut Tx, caller: &Caller, project: &ProjectId, row: AgentRow<'_>) -> Result<()> {
    sqlx::query(
        "INSERT INTO agents (project_id, name, team, roles, description, trusted, run_id, broadcast_cursor, registered_at, last_seen)
         VALUES ($1, $2, $3, $4, $5, $6, $7, (SELECT COALESCE(MAX(id), 0) FROM messages), $8, $9)
         ON CONFLICT (project_id, name) DO UPDATE SET roles = $4, description = COALESCE($5, description), trusted = $6, run_id = $7,
           last_seen = COALESCE($9, last_seen), left_at = NULL",
    )
    .bind(project.as_str())
    .bind(row.name)
    .bind(row.team)
    .bind(serde_json::to_string(row.roles)?)
    .bind(row.description)
    .bind(row.verified)
    .bind(row.run.map(RunId::as_str))
    .bind(tx.now.to_string())
    .bind(row.seen.then(|| tx.now.to_string()))
    .execute(&mut tx.connection)
    .await?;
    task::assignee_returned(tx, project, row.name).await?;
    let event = Event::AgentRegistered { agent: row.name.to_owned(), roles: row.roles.to_vec() };
    // Whoever joins by a room's token does so under the name that it takes.
    let by = if let Caller::Invite(_) = caller { &agent_caller(project, row.name) } else { caller };
    tx.record_without_card(by, project, None, event);
    Ok(())
}

/// Whoever has a name now that a room's token took.
fn agent_caller(project: &ProjectId, name: &str) -> Caller {
    Caller::Agent(AgentCaller { project_id: project.clone(), name: name.to_owned(), call_id: None })
}

/// A run takes part under its own name from the moment it is reserved.
pub(crate) async fn join_run(tx: &mut Tx, card: &Card, run: &Run) -> Result<()> {
    let name = Run::agent_name(run.phase, &card.id);
    let roles = [Role::from(run.phase)];
    let row = AgentRow { name: &name, team: None, roles: &roles, description: Some(&card.title), verified: true, run: Some(&run.id), seen: true };
    write(tx, &Caller::Runner, &card.project_id, row).await
}

/// Once a task is finished, the agents that we ran for it are gone, and who wrote to them in vain is told. One whose run is not over yet may
/// still be given something: that is said at the end of the run.
pub(crate) async fn leave_runs_of(tx: &mut Tx, project: &ProjectId, task: &TaskId) -> Result<()> {
    let mut over = Vec::new();
    for phase in AgentKind::ALL {
        let name = Run::agent_name(*phase, task);
        let ended: Option<bool> = sqlx::query_scalar(
            "SELECT r.completed_at IS NOT NULL FROM agents a LEFT JOIN agent_runs r ON r.id = a.run_id
             WHERE a.project_id = $1 AND a.name = $2 AND a.left_at IS NULL",
        )
        .bind(project.as_str())
        .bind(&name)
        .fetch_optional(&mut tx.connection)
        .await?;
        if let Some(ended) = ended {
            mark_left(tx, &Caller::Runner, project, &name).await?;
            over.extend(ended.then_some(name));
        }
    }
    // Not before all of them are gone, who may have written to each other.
    for name in over {
        message::tell_undelivered(tx, project, task, &name).await?;
    }
    Ok(())
}
