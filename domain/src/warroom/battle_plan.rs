//! Battle plans: what the leads of a project want to reach, and in which order. One is active for each scope.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::zone::name::validate_name;
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::text::{excerpt, validate_body};
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest plan, in bytes.
pub const MAX_PLAN_BYTES: usize = 10_000;
/// How much of a goal and of each title a plan repeats that is derived from tasks, in characters.
const MAX_GOAL: usize = 600;
const MAX_TITLE: usize = 100;

vocabulary! {
    /// The reach of a plan.
    BattlePlanScope, "scope of a battle plan" {
        /// How agents are divided among projects.
        General = "general",
        /// The work on one project.
        Project = "project",
        /// The work on one zone of a project.
        Zone = "zone",
    }
}

vocabulary! {
    /// Whether a plan is what agents work on.
    BattlePlanStatus, "status of a battle plan" {
        /// The aim of the current session.
        Active = "active",
        /// A newer plan replaced it.
        Superseded = "superseded",
        /// The session ended and reached its goals.
        Completed = "completed",
        /// The session ended without reaching them.
        Abandoned = "abandoned",
        /// The requirements changed.
        Obsolete = "obsolete",
    }
}

impl BattlePlanStatus {
    /// Whether a lead may set it by hand. A new plan of the same scope supersedes the active one, and a plan that ended stays ended.
    pub const fn can_become(self, next: Self) -> bool {
        matches!(self, Self::Active) && matches!(next, Self::Completed | Self::Abandoned | Self::Obsolete)
    }
}

/// A plan. At most one is active for each scope, and for each zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct BattlePlan {
    pub id: i64,
    pub project_id: ProjectId,
    pub scope: BattlePlanScope,
    /// The zone, if the scope is one.
    pub zone: Option<String>,
    /// The participant that set it.
    pub author: String,
    /// Whether it only repeats the goal and the tasks of a plan, which the next change of those tasks replaces.
    pub derived: bool,
    pub plan: String,
    pub status: BattlePlanStatus,
    pub created_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// The arguments that set a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewBattlePlan {
    /// Goals, priorities and the order of the work, at most 10,000 bytes.
    pub plan: String,
    /// `project` if it is missing, or `zone` if a zone is named.
    #[serde(default)]
    pub scope: Option<BattlePlanScope>,
    #[serde(default)]
    pub zone: Option<String>,
}

/// A change of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BattlePlanPatch {
    /// How it ended: `completed`, `abandoned` or `obsolete`.
    pub status: BattlePlanStatus,
}

impl NewBattlePlan {
    /// Returns the text of the plan.
    ///
    /// # Errors
    /// When it is blank, too long, or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let plan = validate_body("plan", &self.plan)?;
        if plan.len() > MAX_PLAN_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_PLAN_BYTES} allowed", plan.len());
            return Err(GeneralRefusal::invalid("plan", problem, "Name goals, priorities and the order of the work; put details into tasks."));
        }
        Ok(plan)
    }

    /// Makes a plan of the lead of a zone that names no scope one for that zone.
    #[must_use]
    pub fn in_reach_of(mut self, lead_zone: Option<&str>) -> Self {
        if self.scope.is_none_or(|scope| scope == BattlePlanScope::Zone) && self.zone.as_deref().is_none_or(|zone| zone.trim().is_empty()) {
            self.zone = lead_zone.map(str::to_owned);
        }
        self
    }

    /// Returns the scope with its zone.
    ///
    /// # Errors
    /// When a zone is missing, is not a name, or belongs to no scope with a zone.
    pub fn place(&self) -> Result<(BattlePlanScope, Option<String>), GeneralRefusal> {
        let zone = self.zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty());
        let scope = self.scope.unwrap_or(if zone.is_some() { BattlePlanScope::Zone } else { BattlePlanScope::Project });
        match (scope, zone) {
            (BattlePlanScope::Zone, Some(name)) => validate_name(name).map(|()| (scope, Some(name.to_owned()))),
            (BattlePlanScope::Zone, None) => Err(GeneralRefusal::invalid("zone", "it is missing", "Name the zone that the plan is for.")),
            (BattlePlanScope::General | BattlePlanScope::Project, Some(_)) => {
                let problem = format!("a plan of the scope {scope} has no zone");
                Err(GeneralRefusal::invalid("zone", problem, "Omit the zone, or set the scope to zone."))
            }
            (BattlePlanScope::General | BattlePlanScope::Project, None) => Ok((scope, None)),
        }
    }
}

/// Words the plan that the tasks of a planner are: its goal and their titles, as many as fit.
pub fn of_tasks<'a>(title: &str, description: Option<&str>, tasks: impl ExactSizeIterator<Item = (&'a TaskId, &'a str)>) -> String {
    let mut plan = excerpt(title, MAX_GOAL);
    if let Some(description) = description.map(str::trim).filter(|description| !description.is_empty()) {
        let kept: String = description.chars().take(MAX_GOAL).collect();
        plan += "\n\n";
        plan += kept.trim_end();
        if kept.len() < description.len() {
            plan.push('…');
        }
    }
    plan.push('\n');
    let mut left = tasks.len();
    for (id, title) in tasks {
        let line = format!("\n- {id} {}", excerpt(title, MAX_TITLE));
        let rest = format!("\n- and {left} more");
        if plan.len() + line.len() + rest.len() > MAX_PLAN_BYTES {
            return plan + &rest;
        }
        plan += &line;
        left -= 1;
    }
    plan
}

events! {
    /// A change of a battle plan. It never contains the text.
    BattlePlanEvent {
        Set "battle_plan_set" { plan: i64, scope: BattlePlanScope, zone: Option<String> }
        Ended "battle_plan_ended" { plan: i64, status: BattlePlanStatus }
    }
}

refusals! {
    /// Why a battle plan is missing, or cannot end.
    BattlePlanRefusal {
        #[error("BLOCKED: {action} needs an active battle plan, and {agent} leads without one")]
        Missing { agent: String, action: String } => Conflict "no-battle-plan",
        #[error("battle plan #{plan} is {status}, which is final")]
        Ended { plan: i64, status: BattlePlanStatus } => Conflict "battle-plan-ended",
    }
}

impl BattlePlanRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Missing { .. } => "Call set_battle_plan with goals, priorities and the order of the work first, then repeat the call.".to_owned(),
            Self::Ended { .. } => "Call set_battle_plan for a new plan; get_battle_plan shows the active one.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(scope: Option<BattlePlanScope>, zone: Option<&str>) -> NewBattlePlan {
        NewBattlePlan { plan: "Win".to_owned(), scope, zone: zone.map(str::to_owned) }
    }

    #[test]
    fn scope_follows_from_the_zone() {
        use BattlePlanScope::{General, Project, Zone};
        let place = |scope, zone| new(scope, zone).place().ok();
        assert_eq!(place(None, None), Some((Project, None)));
        assert_eq!(place(None, Some(" ")), Some((Project, None)));
        assert_eq!(place(None, Some("audio")), Some((Zone, Some("audio".to_owned()))));
        assert_eq!(place(Some(General), None), Some((General, None)));
        for (scope, zone) in [(Some(Zone), None), (Some(Project), Some("audio")), (Some(General), Some("audio")), (None, Some("../etc"))] {
            assert_eq!(place(scope, zone), None, "{scope:?} {zone:?}");
        }
    }

    #[test]
    fn plan_is_bounded_text() {
        let text = |plan: String| NewBattlePlan { plan, ..NewBattlePlan::default() }.text();
        assert_eq!(text(" Win ".to_owned()).unwrap(), " Win ");
        assert!(text("x".repeat(MAX_PLAN_BYTES)).is_ok());
        for bad in [String::new(), " \n".to_owned(), "a\0".to_owned(), "x".repeat(MAX_PLAN_BYTES + 1), "x".repeat(1 << 20)] {
            assert!(text(bad).is_err());
        }
    }

    #[test]
    fn derived_plan_lists_as_many_tasks_as_fit() {
        let ids: Vec<TaskId> = (2..200).map(TaskId::new).collect();
        let words =
            |titles: &[&str]| of_tasks("A shop", Some(" Sell things\n"), ids.iter().zip(titles.iter().copied()).collect::<Vec<_>>().into_iter());
        assert_eq!(words(&["Page", "Style"]), "A shop\n\nSell things\n\n- TASK-002 Page\n- TASK-003 Style");
        assert_eq!(of_tasks("A shop", None, std::iter::empty()), "A shop\n");
        let long = "漢".repeat(500);
        let plan = of_tasks(&long, Some(&long.repeat(9)), ids.iter().map(|id| (id, long.as_str())).collect::<Vec<_>>().into_iter());
        assert!(plan.len() <= MAX_PLAN_BYTES, "{}", plan.len());
        assert!(plan.lines().last().is_some_and(|line| line.starts_with("- and ") && line.ends_with(" more")), "{plan}");
    }

    #[test]
    fn only_an_active_plan_ends_by_hand() {
        let all = || BattlePlanStatus::ALL.iter().copied();
        let legal: Vec<(&str, &str)> =
            all().flat_map(|from| all().filter(move |to| from.can_become(*to)).map(move |to| (from.as_str(), to.as_str()))).collect();
        assert_eq!(legal, [("active", "completed"), ("active", "abandoned"), ("active", "obsolete")]);
    }
}
