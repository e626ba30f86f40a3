//! The briefing of an agent that starts without memory. It hands out a handover once, and else changes nothing.

pub(crate) mod row;

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::warroom::battle_plan::BattlePlanScope;
use domain::warroom::briefing::{Briefing, MAX_WAITING};
use domain::warroom::handover::{Handover, HandoverRefusal};

use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::error::Result;
use crate::team::agent::row as agents;
use crate::team::participant::row::{self as participant, Participant};
use crate::warroom::battle_plan::row as battle_plans;
use crate::warroom::claim::row as claims;
use crate::warroom::handover::row as handovers;
use crate::warroom::handover::write as handover;
use crate::warroom::trigger::row as triggers;

impl Db {
    /// Briefs an agent, with what its own earlier session or a `predecessor` left. Nobody gets that a second time.
    ///
    /// # Errors
    /// When the caller has not registered, or the predecessor does not exist, is still present, or left nothing.
    pub async fn cold_start(&self, caller: &Caller, project: &ProjectId, predecessor: Option<&str>) -> Result<Briefing> {
        let (of, predecessor) = (project.clone(), predecessor.map(str::to_owned));
        let (name, is_lead, handover) = self
            .run_once(caller, move |tx, caller| {
                Box::pin(async move {
                    let participant = participant::load(&mut tx.connection, caller, &of).await?;
                    let handover = take(tx, caller, &participant, predecessor.as_deref()).await?;
                    Ok((participant.name, participant.is_lead, handover))
                })
            })
            .await?;
        let mut connection = self.readers.acquire().await?;
        let plan = battle_plans::active(&mut connection, project, BattlePlanScope::Project, None).await?;
        let triggers = triggers::active(&mut connection, project).await?;
        let log = row::newest_entries(&mut connection, project).await?;
        let tasks = row::open_tasks(&mut connection, project, Some(name.as_str()).filter(|_| !is_lead)).await?;
        let git_dir = claims::scope(&mut connection, project).await?.git_dir;
        let mut claims = claims::load(&mut connection, &git_dir).await?;
        claims.claims.retain(|claim| claim.project_id == *project && claim.agent == name);
        claims.waits.retain(|wait| wait.project_id == *project && wait.agent == name);
        let waiting = handovers::waiting(&mut connection, project, MAX_WAITING).await?;
        let knowledge = row::knowledge(&mut connection, project, &name).await?;
        Ok(Briefing { plan, triggers, log, tasks, claims, handover, waiting, knowledge })
    }
}

/// Takes the handover that the caller continues, if there is one.
async fn take(tx: &mut Tx, caller: &Caller, participant: &Participant, predecessor: Option<&str>) -> Result<Option<Handover>> {
    let name = match predecessor {
        Some(given) => {
            let found = agents::read(&mut tx.connection, &participant.project, given.trim()).await?;
            let left = found.ok_or_else(|| Refusal::not_found("agent", given))?;
            if left.left_at.is_none() && left.name != participant.name {
                participant.require_lead(&format!("continuing the work of {}, which is still present", left.name))?;
            }
            left.name
        }
        None => participant.name.clone(),
    };
    let handover = handovers::unread(&mut tx.connection, &participant.project, &name).await?;
    match (&handover, predecessor) {
        (Some(handover), _) => handover::mark_read(tx, caller, handover, &participant.name).await?,
        (None, Some(_)) => return Err(HandoverRefusal::NothingLeft { agent: name }.into()),
        (None, None) => tx.skip_event(NoEventReason::NothingChanged),
    }
    Ok(handover)
}
