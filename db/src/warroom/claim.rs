//! Claims: an agent asks for a path before it edits it. One agent gets it, others wait in line, and a released path passes to the first of them.
//!
//! Must not read the repository: callers resolve symbolic links and name checkouts.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::{ProjectId, TaskId};
use domain::team::agent::is_short_for;
use domain::text::validate_body;
use domain::warroom::claim::queue::{Claims, Decision};
use domain::warroom::claim::refusal::ClaimRefusal;
use domain::warroom::claim::{Claim, ClaimMode, ClaimOutcome, ClaimPath, EditDecision, MAX_CLAIMS, MAX_WAITS, ReleaseReason};

use self::row::{load, scope};
use self::write::{Claimant, enqueue, grant, release, release_all};
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::message::{OutgoingMessage, post};
use crate::team::participant::row as participant;
use crate::warroom::lead::row as lead;

impl Db {
    /// Claims a path for the caller, or puts it in line behind the holder.
    ///
    /// # Errors
    /// When the caller has not registered, claims the whole repository without being a lead, or has too many claims or waits.
    pub async fn claim_file(&self, caller: &Caller, project: &ProjectId, path: &ClaimPath) -> Result<ClaimOutcome> {
        let (project, path) = (project.clone(), path.clone());
        self.run_once(caller, move |tx, caller| Box::pin(async move { Ok(claim(tx, caller, &project, &path).await?.0) })).await
    }

    /// Claims a file that a managed agent is about to edit, and decides whether it may.
    ///
    /// # Errors
    /// As [`Self::claim_file`].
    pub async fn claim_for_edit(&self, caller: &Caller, project: &ProjectId, path: &ClaimPath) -> Result<EditDecision> {
        let (project, path) = (project.clone(), path.clone());
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                Ok(match claim(tx, caller, &project, &path).await? {
                    (ClaimOutcome::Held { .. }, _) => EditDecision::Allowed,
                    (outcome, ClaimMode::Advisory) => EditDecision::Warned { outcome },
                    (outcome, ClaimMode::Enforced) => EditDecision::Refused { outcome },
                })
            })
        })
        .await
    }

    /// Releases a claim of the caller, or takes it from another agent, which needs a lead and a reason. The first agent in line gets the path.
    ///
    /// # Errors
    /// When nobody holds exactly this path, another agent holds it and the caller may not take it away, or the reason is missing.
    pub async fn release_file(&self, caller: &Caller, project: &ProjectId, path: &ClaimPath, force: Option<&str>) -> Result<Claim> {
        let (project, path, force) = (project.clone(), path.clone(), force.map(str::to_owned));
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                let git_dir = scope(&mut tx.connection, &project).await?.git_dir;
                let not_held = || ClaimRefusal::NotHeld { agent: participant.name.clone(), path: path.to_string() };
                let found = row::one(&mut tx.connection, &git_dir, &path).await?.ok_or_else(not_held)?;
                if found.project_id == project && found.agent == participant.name {
                    release(tx, caller, &found, &git_dir, ReleaseReason::Released).await?;
                    return Ok(found);
                }
                let holder = found.agent.clone();
                let (true, Some(reason)) = (participant.is_lead, force) else {
                    return Err(ClaimRefusal::HeldByOther { path: path.to_string(), holder }.into());
                };
                lead::require_paths(&mut tx.connection, &participant, std::slice::from_ref(&path), "taking a file").await?;
                if reason.trim().is_empty() {
                    return Err(ClaimRefusal::ReasonNeeded { path: path.to_string(), holder }.into());
                }
                let content = format!("[CLAIM] {path} was taken from you by {}: {}", participant.name, validate_body("reason", &reason)?);
                let to = OutgoingMessage {
                    project: &found.project_id,
                    from: &participant.name,
                    to: &holder,
                    content: &content,
                    task: found.task_id.as_ref(),
                    reply_to: None,
                };
                post(tx, caller, to).await?;
                release(tx, caller, &found, &git_dir, ReleaseReason::Forced).await?;
                Ok(found)
            })
        })
        .await
    }

    /// Lists the claims of a project's repository, also those of other projects, and the agents in line.
    ///
    /// # Errors
    /// When the project does not exist, or `agent` names no agent with a claim or a wait.
    pub async fn claims(&self, project: &ProjectId, agent: Option<&str>) -> Result<Claims> {
        let mut connection = self.readers.acquire().await?;
        crate::board::project::row::read(&mut connection, project).await?;
        let git_dir = scope(&mut connection, project).await?.git_dir;
        let mut claims = load(&mut connection, &git_dir).await?;
        if let Some(agent) = agent {
            claims.claims.retain(|claim| is_short_for(agent, &claim.agent));
            claims.waits.retain(|wait| is_short_for(agent, &wait.agent));
        }
        Ok(claims)
    }

    /// Whether the agent of a task is in line for a file.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn waits_for_claim(&self, task: &TaskId) -> Result<bool> {
        let found: Option<i64> =
            sqlx::query_scalar("SELECT id FROM claim_waits WHERE task_id = $1 LIMIT 1").bind(task.as_str()).fetch_optional(&self.readers).await?;
        Ok(found.is_some())
    }

    /// Ends the claims and waits of an external agent that no longer answers. One that answered since keeps them.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn expire_claims(&self, project: &ProjectId, agent: &str) -> Result<()> {
        let (project, agent) = (project.clone(), agent.to_owned());
        self.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::NothingChanged);
                let expiring = row::expiring(&mut tx.connection, &tx.presence).await?;
                if expiring.iter().any(|(of, name, at)| *of == project && *name == agent && *at <= tx.now) {
                    release_all(tx, &Caller::Runner, &project, &agent, ReleaseReason::Expired).await?;
                }
                Ok(())
            })
        })
        .await
    }
}

/// Claims a path. Also returns the mode of the project.
async fn claim(tx: &mut Tx, caller: &Caller, project: &ProjectId, path: &ClaimPath) -> Result<(ClaimOutcome, ClaimMode)> {
    let participant = participant::load(&mut tx.connection, caller, project).await?;
    let scope = scope(&mut tx.connection, project).await?;
    if path.is_whole_repository() && !participant.is_lead {
        return Err(ClaimRefusal::WholeRepository.into());
    }
    let agent = participant.name.as_str();
    let task = match caller {
        Caller::Run(run) => Some(&run.task_id),
        Caller::Agent(_) | Caller::Person(_) | Caller::Runner | Caller::Invite(_) => None,
    };
    let who = Claimant { git_dir: &scope.git_dir, project, agent, task };
    let mut claims = row::near(&mut tx.connection, &scope.git_dir, path).await?;
    if let Decision::Taken { .. } | Decision::Deadlock { .. } = claims.decide(project, agent, path) {
        // The agents in line decide the rest, and what they wait for.
        claims = load(&mut tx.connection, &scope.git_dir).await?;
    }
    let outcome = match claims.decide(project, agent, path) {
        Decision::Held(claim) => {
            tx.skip_event(NoEventReason::NothingChanged);
            ClaimOutcome::Held { claim: claim.clone() }
        }
        Decision::Free => {
            let held: i64 = sqlx::query_scalar(row::HELD).bind(project.as_str()).bind(agent).fetch_one(&mut tx.connection).await?;
            let held = usize::try_from(held).unwrap_or(usize::MAX);
            if held >= MAX_CLAIMS {
                return Err(ClaimRefusal::TooMany { agent: agent.to_owned(), claims: held }.into());
            }
            ClaimOutcome::Held { claim: grant(tx, caller, who, path).await? }
        }
        Decision::Taken { holder, ahead } => {
            let waits = claims.waits.iter().filter(|wait| wait.project_id == *project && wait.agent == agent).count();
            if waits >= MAX_WAITS {
                return Err(ClaimRefusal::TooManyWaits { agent: agent.to_owned(), waits }.into());
            }
            if !enqueue(tx, caller, who, path, &holder.agent).await? {
                tx.skip_event(NoEventReason::NothingChanged);
            }
            ClaimOutcome::Waiting { holder: holder.clone(), ahead }
        }
        Decision::Deadlock { holder, wanted } => {
            tx.skip_event(NoEventReason::NothingChanged);
            ClaimOutcome::Deadlock { holder: holder.clone(), wanted: wanted.clone() }
        }
    };
    Ok((outcome, scope.mode))
}
