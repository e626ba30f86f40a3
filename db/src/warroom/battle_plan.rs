//! Battle plans: what leads want to reach. A new plan supersedes the active one of its scope, and those that ended stay.

pub(crate) mod row;
pub(crate) mod write;

use domain::id::ProjectId;
use domain::refusal::Refusal;
use domain::warroom::battle_plan::{BattlePlan, BattlePlanRefusal, BattlePlanScope, BattlePlanStatus, NewBattlePlan};
use domain::warroom::lead::{LeadRefusal, LeadRole};

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::engine::tx::NoEventReason;
use crate::error::Result;
use crate::team::participant::row::{self as participant, Participant};
use crate::warroom::lead::row as lead;

/// The most plans that one call returns.
const MAX_PLANS: u32 = 50;

/// The plans of a project that a call asks for, newest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BattlePlanQuery {
    pub status: Option<BattlePlanStatus>,
    /// Only plans before this one.
    pub before: Option<i64>,
    /// At most 50, which is the default.
    pub limit: Option<u32>,
}

impl Db {
    /// Sets the plan of a scope, which supersedes the active one. Repeating the active plan changes nothing.
    ///
    /// # Errors
    /// When the caller is not a lead with this reach, or the plan, its scope or its zone is not acceptable.
    pub async fn set_battle_plan(&self, caller: &Caller, project: &ProjectId, new: NewBattlePlan) -> Result<BattlePlan> {
        let project = project.clone();
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let participant = participant::load(&mut tx.connection, caller, &project).await?;
                participant.require_lead("setting the battle plan")?;
                let new = new.in_reach_of(participant.lead_zone());
                let ((scope, zone), plan) = (new.place()?, new.text()?);
                require_reach(&participant, scope, zone.as_deref(), "setting the battle plan")?;
                let before = row::active(&mut tx.connection, &project, scope, zone.as_deref()).await?;
                if let Some(same) = before.as_ref().filter(|before| before.plan == plan && !before.derived) {
                    tx.skip_event(NoEventReason::NothingChanged);
                    return Ok(same.clone());
                }
                let new = write::NewRow { project: &project, scope, zone: zone.as_deref(), derived: false, plan: &plan };
                write::replace(tx, caller, new, before.as_ref()).await
            })
        })
        .await
    }

    /// Ends a plan as completed, abandoned or obsolete.
    ///
    /// # Errors
    /// When the plan does not exist or has ended, the caller is not a lead, or the status does not end a plan.
    pub async fn end_battle_plan(&self, caller: &Caller, id: i64, status: BattlePlanStatus) -> Result<BattlePlan> {
        self.run_once(caller, move |tx, caller| {
            Box::pin(async move {
                let plan = row::read(&mut tx.connection, id).await?;
                if caller.project().is_some_and(|own| *own != plan.project_id) {
                    return Err(Refusal::not_found("battle plan", id).into());
                }
                let participant = participant::load(&mut tx.connection, caller, &plan.project_id).await?;
                participant.require_lead("ending a battle plan")?;
                require_reach(&participant, plan.scope, plan.zone.as_deref(), "ending a battle plan")?;
                if plan.status != BattlePlanStatus::Active {
                    return Err(BattlePlanRefusal::Ended { plan: id, status: plan.status }.into());
                }
                if !plan.status.can_become(status) {
                    let hint = "Give completed, abandoned or obsolete. set_battle_plan supersedes the active plan.";
                    return Err(Refusal::invalid("status", format!("an active plan cannot be made {status}"), hint).into());
                }
                write::end(tx, caller, &plan, status).await?;
                row::read(&mut tx.connection, id).await
            })
        })
        .await
    }

    /// Lists plans of a project, newest first.
    ///
    /// # Errors
    /// When the project does not exist.
    pub async fn battle_plans(&self, project: &ProjectId, query: &BattlePlanQuery) -> Result<Vec<BattlePlan>> {
        let mut connection = self.readers.acquire().await?;
        projects::read(&mut connection, project).await?;
        let limit = query.limit.unwrap_or(MAX_PLANS).clamp(1, MAX_PLANS);
        row::list(&mut connection, project, query.status, query.before.unwrap_or(i64::MAX), limit).await
    }
}

/// Refuses a plan beyond the reach of a lead. A general plans for all projects, a commander for one, and the lead of a zone for that zone.
fn require_reach(planner: &Participant, scope: BattlePlanScope, zone: Option<&str>, action: &str) -> std::result::Result<(), LeadRefusal> {
    lead::require_zone(planner, zone, action)?;
    match (scope, planner.post.role) {
        (BattlePlanScope::General, role @ (LeadRole::Commander | LeadRole::ZoneLead)) => {
            Err(LeadRefusal::GeneralOnly { agent: planner.name.clone(), role })
        }
        _ => Ok(()),
    }
}
