//! Joining a project: with a token that the human created, with an invite token, or as a run.

use std::sync::Arc;

use domain::config::ModelRestrictions;
use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{Agent, Registration, full_name};
use domain::team::role::Role;
use domain::team::token::{Permissions, TokenEvent, TokenReach, TokenTerms, validate_lifetime};
use domain::text;
use domain::time::Timestamp;
use domain::warroom::class::AgentClass;
use domain::warroom::class::refusal::ClassRefusal;
use domain::warroom::lead::{LeadPost, LeadRefusal, LeadRole};
use domain::warroom::model::ModelRole;
use domain::warroom::zone::Zone;
use serde::{Deserialize, Serialize};

use super::general;
use super::name_claim::{NameClaim, authorize_claim, no_heartbeat_since, reject_case_variants, release_name};
use crate::board::project::row as projects;
use crate::caller::{AgentCaller, Caller};
use crate::consequences::agent_joined::agent_joined;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::row::{self, Declared, apply_presence, read};
use crate::team::agent::write::AgentRow;
use crate::team::token;
use crate::team::token::{StoredTerms, TokenOwner};
use crate::warroom::zone::row as zones;

/// An agent that joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistrationResult {
    pub agent: Agent,
    /// The agent's own token. Present only when the caller used an invite token.
    pub token: Option<String>,
}

impl Db {
    /// Creates a trusted agent and its token. Any earlier token for that name is revoked.
    ///
    /// # Errors
    /// When the caller is not the owner, the lifetime is out of range, the name is invalid or differs from another one only in case, or an agent
    /// that does not lead is to act in all projects.
    pub async fn create_agent_token(&self, caller: &Caller, project: &ProjectId, who: Registration, terms: TokenTerms) -> Result<String> {
        let (caller, project, new) = (caller.clone(), project.clone(), token::new_token());
        let (hash, restrictions) = (token::hash(&new), Arc::clone(&self.model_restrictions));
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("creating tokens")?;
                projects::read(&mut tx.connection, &project).await?;
                let name = full_name(&who.name, who.team.as_deref())?;
                reject_case_variants(tx, &project, &name).await?;
                let description = text::validate_optional_body("description", who.description.as_deref())?;
                let roles = sorted_unique(&who.roles);
                let who = general_if(terms.reach, who, &name, &roles)?;
                let team = name.split_once('/').map(|(team, _)| team);
                // With a new token, its agent may name another class, lead role and model.
                let declared = declare(tx, &project, &who, &name, &roles, Declared::default(), &restrictions).await?;
                // Creating a token is not a heartbeat of its agent.
                let row = AgentRow {
                    name: &name,
                    team,
                    roles: &roles,
                    description: description.as_deref(),
                    trusted: true,
                    run: None,
                    class: declared.class,
                    post: declared.post.as_ref(),
                    model: declared.model.as_deref(),
                    transport: who.transport,
                    seen: false,
                };
                agent_joined(tx, &caller, &project, row).await?;
                general::set_home(tx, &project, &name, None).await?;
                token::revoke_agent_token(tx, &project, &name).await?;
                let expires_at = terms.expires_in.map(|seconds| validate_lifetime(seconds, tx.now)).transpose()?;
                let stored = StoredTerms { reach: terms.reach, ..StoredTerms::for_tools(terms.permissions, expires_at) };
                token::insert(tx, &hash, TokenOwner::Agent(&project, &name), stored).await?;
                tx.record_without_card(&caller, &project, None, TokenEvent::Created {});
                Ok(())
            })
        })
        .await?;
        Ok(new)
    }

    /// Creates the token that lets agents register under names they choose. The project's previous invite token is revoked.
    ///
    /// # Errors
    /// When the caller is not the owner, or the project does not exist.
    pub async fn create_invite_token(&self, caller: &Caller, project: &ProjectId) -> Result<String> {
        let (caller, project, new) = (caller.clone(), project.clone(), token::new_token());
        let hash = token::hash(&new);
        self.write(move |tx| {
            Box::pin(async move {
                caller.require_owner("creating tokens")?;
                projects::read(&mut tx.connection, &project).await?;
                token::revoke_invite_token(tx, &project).await?;
                token::insert(tx, &hash, TokenOwner::Invite(&project), StoredTerms::for_tools(Permissions::default(), None)).await?;
                tx.record_without_card(&caller, &project, None, TokenEvent::Created {});
                Ok(())
            })
        })
        .await?;
        Ok(new)
    }

    /// Joins the project or updates the caller's registration; omitted fields stay. For an invite token the result contains the agent's
    /// own token, which is not stored: repeating the call creates a new one until the agent's first heartbeat.
    ///
    /// `own_token` is an earlier token of the name's agent: with it, the holder of an invite token resumes that name with its inbox and
    /// tasks. Without it, a name whose agent left or stopped responding starts with an empty inbox.
    ///
    /// # Errors
    /// When the name is taken, invalid or not the caller's, the caller asks for the lead role, or its model or zone does not permit its role.
    pub async fn register(&self, caller: &Caller, project: &ProjectId, who: Registration, own_token: Option<&str>) -> Result<RegistrationResult> {
        let (by, of, new) = (caller.clone(), project.clone(), token::new_token());
        let (hash, shown, restrictions) = (token::hash(&new), own_token.map(token::hash), Arc::clone(&self.model_restrictions));
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
                    let mut terms = match &by {
                        Caller::Invite(invite) => StoredTerms::for_tools(invite.permissions, invite.expires_at),
                        _ => StoredTerms::for_tools(Permissions::default(), None),
                    };
                    let name = if let Some(name) = before {
                        name
                    } else {
                        by.require_may_write("changing the board")?;
                        tx.require_current_run(&by).await?;
                        if let (true, Some(shown)) = (via_invite, &shown) {
                            // An agent that resumes its name is permitted what it was before.
                            let name = own_name(&by, &who)?;
                            terms = token::terms_of_agent(tx, &of, &name, shown).await?.unwrap_or(terms);
                        }
                        let joined = StoredRegistration { name: join(tx, &by, &of, &who, shown.as_deref(), &restrictions).await?, at: tx.now };
                        tx.store_answer(&by, &joined).await?;
                        joined.name
                    };
                    if via_invite {
                        token::insert(tx, &hash, TokenOwner::Agent(&of, &name), terms).await?;
                    }
                    Ok((name, via_invite))
                })
            })
            .await?;
        Ok(RegistrationResult { agent: self.agent(project, &name).await?, token: is_guest.then_some(new) })
    }
}

/// The stored answer to a registration. It contains no token, because only the agent may have it.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRegistration {
    name: String,
    at: Timestamp,
}

/// Returns the name that the same call registered before, or `None` if its agent left since. A repeated call with an invite token revokes
/// the lost token, unless the agent sent a heartbeat since: then the response arrived, or another agent has the name.
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
    apply_presence(&mut known, &tx.presence, tx.now);
    if !no_heartbeat_since(&known, at) {
        return Ok(None);
    }
    token::revoke_agent_token(tx, project, &name).await?;
    tx.record_without_card(&agent_caller(project, &name), project, None, TokenEvent::Created {});
    Ok(Some(name))
}

/// Joins under the caller's own name, or under one that it may claim.
async fn join(
    tx: &mut Tx,
    caller: &Caller,
    project: &ProjectId,
    who: &Registration,
    shown: Option<&str>,
    restrictions: &ModelRestrictions,
) -> Result<String> {
    let description = text::validate_optional_body("description", who.description.as_deref())?;
    let name = own_name(caller, who)?;
    let mut known = read(&mut tx.connection, project, &name).await?;
    if let Some(known) = &mut known {
        apply_presence(known, &tx.presence, tx.now);
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
    let before = match known {
        Some(_) => row::declared(&mut tx.connection, project, &name).await?,
        None => Declared::default(),
    };
    let declared = declare(tx, project, who, &name, &roles, before, restrictions).await?;
    if let Some(freed) = freed {
        release_name(tx, &freed).await?;
    }
    let team = name.split_once('/').map(|(team, _)| team);
    // Until the agent's first heartbeat, the response with its token may have been lost.
    let seen = !matches!(taken, Some(NameClaim::New | NameClaim::Reclaimed));
    let (trusted, run) = match caller {
        Caller::Run(own) => (true, Some(&own.run_id)),
        Caller::Agent(_) => (known.is_some_and(|agent| agent.trusted), None),
        Caller::Person(_) | Caller::Runner | Caller::Invite(_) => (false, None),
    };
    let transport = who.transport;
    let (class, post, model) = (declared.class, declared.post.as_ref(), declared.model.as_deref());
    let row = AgentRow { name: &name, team, roles: &roles, description: description.as_deref(), trusted, run, class, post, model, transport, seen };
    // An agent that joins with an invite token is recorded under the name that it claims.
    let by = if let Caller::Invite(_) = caller { &agent_caller(project, &name) } else { caller };
    agent_joined(tx, by, project, row).await?;
    Ok(name)
}

/// Returns the caller's own name, or the chosen one for an invite token.
fn own_name(caller: &Caller, who: &Registration) -> Result<String, Refusal> {
    let own = caller.name().unwrap_or_default();
    let claimed = || match (&who.team, who.name.rsplit_once('/')) {
        (Some(team), None) => format!("{team}/{}", who.name),
        // The caller's own name in another team.
        (Some(team), Some((_, short))) if who.name == own => format!("{team}/{short}"),
        _ => who.name.clone(),
    };
    match caller {
        Caller::Invite(_) => Ok(full_name(&who.name, who.team.as_deref())?),
        Caller::Run(_) | Caller::Agent(_) => {
            let is_own =
                domain::team::agent::is_short_for(&who.name, &own) && who.team.as_deref().is_none_or(|team| own.starts_with(&format!("{team}/")));
            if is_own { Ok(own) } else { Err(AgentRefusal::WrongIdentity { claimed: claimed(), own }.into()) }
        }
        Caller::Person(_) | Caller::Runner => Err(AgentRefusal::WrongIdentity { claimed: claimed(), own }.into()),
    }
}

/// Returns the roles after registration: the given or the earlier ones. Only the human grants the lead role, and a lead keeps it.
fn roles(caller: &Caller, name: &str, before: &[Role], given: &[Role]) -> Result<Vec<Role>, AgentRefusal> {
    let leads = before.contains(&Role::Lead);
    if given.contains(&Role::Lead) && !leads {
        let (agent, action) = (name.to_owned(), "taking the lead role".to_owned());
        return Err(if matches!(caller, Caller::Invite(_)) {
            AgentRefusal::Untrusted { agent, action }
        } else {
            AgentRefusal::LeadOnly { agent, action }
        });
    }
    if given.is_empty() {
        return Ok(before.to_vec());
    }
    Ok(sorted_unique(&[if leads { vec![Role::Lead] } else { Vec::new() }, given.to_vec()].concat()))
}

/// Makes an agent that may act in all projects a general.
fn general_if(reach: TokenReach, who: Registration, name: &str, roles: &[Role]) -> Result<Registration, LeadRefusal> {
    if reach == TokenReach::Project {
        return Ok(who);
    }
    let class = AgentClass::of_external(who.class, roles);
    if class != AgentClass::Lead || who.zone.is_some() || who.lead_role.is_some_and(|role| role != LeadRole::General) {
        return Err(LeadRefusal::NoGeneral { agent: name.to_owned(), class });
    }
    Ok(Registration { lead_role: Some(LeadRole::General), ..who })
}

/// Returns the class after registration: the given or the earlier one. A class that was named never changes.
fn class(before: Option<AgentClass>, name: &str, given: Option<AgentClass>) -> Result<Option<AgentClass>, ClassRefusal> {
    match (before, given) {
        (Some(before), Some(given)) if before != given => Err(ClassRefusal::Fixed { agent: name.to_owned(), class: before }),
        (before, given) => Ok(before.or(given)),
    }
}

/// Returns what an agent is after registration: what it says, or said before.
async fn declare(
    tx: &mut Tx,
    project: &ProjectId,
    who: &Registration,
    name: &str,
    roles: &[Role],
    before: Declared,
    restrictions: &ModelRestrictions,
) -> Result<Declared> {
    let named = class(before.class, name, who.class)?;
    let class = AgentClass::of_external(named, roles);
    let given = LeadPost::named(who.lead_role, who.zone.as_deref())?;
    if given.is_some() && class != AgentClass::Lead {
        return Err(LeadRefusal::NotLead { agent: name.to_owned(), class }.into());
    }
    let post = match (before.post.filter(|_| class == AgentClass::Lead), given) {
        (Some(post), Some(given)) if post != given => return Err(LeadRefusal::Fixed { agent: name.to_owned(), post }.into()),
        (None, Some(given)) => {
            let zones = zones::of_project(&mut tx.connection, project).await?;
            if let Some(zone) = given.zone.as_ref().filter(|given| zones.iter().all(|zone| zone.name != **given)) {
                return Err(unknown_zone(zone, &zones).into());
            }
            Some(given)
        }
        (post, _) => post,
    };
    let model = match who.model.as_deref().map(str::trim).filter(|model| !model.is_empty()) {
        Some(model) => Some(text::validate_title("model", model)?),
        None => before.model,
    };
    if let Some(model) = &model {
        let lead = post.as_ref().map_or(LeadRole::Commander, |post| post.role);
        restrictions.require(ModelRole::of(class, lead), model)?;
    }
    Ok(Declared { class: named, post, model })
}

fn unknown_zone(zone: &str, zones: &[Zone]) -> Refusal {
    let names: Vec<&str> = zones.iter().map(|zone| zone.name.as_str()).collect();
    let hint = if names.is_empty() {
        "The project has no zones; a lead sets one with set_zone.".to_owned()
    } else {
        format!("The zones are {}.", names.join(", "))
    };
    Refusal::invalid("zone", format!("there is no zone {zone}"), hint)
}

fn sorted_unique(roles: &[Role]) -> Vec<Role> {
    let mut roles = roles.to_vec();
    roles.sort_unstable();
    roles.dedup();
    roles
}

/// Returns the caller for a name that was registered with an invite token.
fn agent_caller(project: &ProjectId, name: &str) -> Caller {
    Caller::Agent(AgentCaller { project_id: project.clone(), name: name.to_owned(), permissions: Permissions::default(), call_id: None })
}
