//! Lead roles: how far a lead reaches. Must not know which task is in which zone.

use serde::{Deserialize, Serialize};

use super::class::AgentClass;
use crate::id::ProjectId;
use crate::refusal::category::refusals;
use crate::refusal::general::GeneralRefusal;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The reach of a lead.
    LeadRole, "lead role" {
        /// Leads in all projects, if its token reaches them, and divides agents among them.
        General = "general",
        /// Leads the work on one project.
        Commander = "commander",
        /// Leads the work on one zone of a project.
        ZoneLead = "zone_lead",
    }
}

/// A lead role with its zone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeadPost {
    pub role: LeadRole,
    /// The zone of a zone lead. Others have none.
    pub zone: Option<String>,
}

impl LeadPost {
    /// The post of a person, who leads in all projects.
    pub const PERSON: Self = Self { role: LeadRole::General, zone: None };
    /// The post of a lead that named none.
    pub const DEFAULT: Self = Self { role: LeadRole::Commander, zone: None };

    /// Reads the post that an agent named, if it named one. A zone alone stands for its lead.
    ///
    /// # Errors
    /// When a zone lead names no zone, or another lead names one.
    pub fn named(role: Option<LeadRole>, zone: Option<&str>) -> Result<Option<Self>, GeneralRefusal> {
        let zone = zone.map(str::trim).filter(|zone| !zone.is_empty());
        match (role, zone) {
            (None, None) => Ok(None),
            (None | Some(LeadRole::ZoneLead), Some(zone)) => Ok(Some(Self { role: LeadRole::ZoneLead, zone: Some(zone.to_owned()) })),
            (Some(LeadRole::ZoneLead), None) => {
                Err(GeneralRefusal::invalid("zone", "it is missing", "Name the zone that you lead; get_zones lists them."))
            }
            (Some(role @ (LeadRole::General | LeadRole::Commander)), Some(_)) => {
                Err(GeneralRefusal::invalid("zone", format!("a {role} leads all zones"), "Omit the zone, or set lead_role to zone_lead."))
            }
            (Some(role), None) => Ok(Some(Self { role, zone: None })),
        }
    }
}

impl std::fmt::Display for LeadPost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.zone {
            Some(zone) => write!(f, "lead of the zone {zone}"),
            None => write!(f, "{}", self.role),
        }
    }
}

refusals! {
    /// Why the role of a lead does not permit something.
    LeadRefusal {
        #[error("{agent} has the class {class}, and only the class lead has a lead role")]
        NotLead { agent: String, class: AgentClass } => Unprocessable "lead-role-of-other-class",
        #[error("{agent} is {post}, and a lead cannot change that itself")]
        Fixed { agent: String, post: LeadPost } => Conflict "lead-role-is-fixed",
        #[error("{agent} leads the zone {zone}, so {action} requires {subject} to be in that zone")]
        OutsideZone { agent: String, zone: String, action: String, subject: String } => Forbidden "outside-zone",
        #[error("{action} concerns the whole project, and {agent} leads the zone {zone} only")]
        WholeProject { agent: String, zone: String, action: String } => Forbidden "commander-only",
        #[error("{agent} leads the zone {zone}, so {action} requires {recipient} to work in that zone")]
        OutsideParty { agent: String, zone: String, action: String, recipient: String, other: Option<String> } => Forbidden "outside-zone-party",
        #[error("a battle plan of the scope general needs a general or a person, and {agent} is a {role}")]
        GeneralOnly { agent: String, role: LeadRole } => Forbidden "general-only",
        #[error("{agent} has the class {class}, and only a lead without a zone acts in all projects")]
        NoGeneral { agent: String, class: AgentClass } => Unprocessable "reach-of-other-class",
        #[error("another agent of {project} has the name {agent}, or {agent} was removed from it")]
        NameOfOther { agent: String, project: ProjectId } => Conflict "name-of-other",
        #[error("{agent} is a general, which has the same name in several projects")]
        NameOfGeneral { agent: String } => Conflict "name-of-general",
    }
}

impl LeadRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotLead { .. } => "Register without lead_role and zone.".to_owned(),
            Self::Fixed { .. } => "Register without lead_role and zone, or ask the human for a new token.".to_owned(),
            Self::OutsideZone { zone, .. } => {
                format!("Name files of the zone {zone}, which get_zones lists, or ask a commander or the human with send. Call who to see the leads.")
            }
            Self::WholeProject { .. } => "Ask a commander or the human with send. Call who to see the leads.".to_owned(),
            Self::OutsideParty { zone, recipient, other, .. } => {
                let ask = other.as_ref().map_or_else(|| "a commander".to_owned(), |other| format!("zone/{other}"));
                format!(
                    "Send it to {ask} instead, or to an agent that owns, knows, holds or works on files of the zone {zone}. {recipient} does once \
                     you assign it a task there."
                )
            }
            Self::NoGeneral { .. } => "Give it the role lead and no zone, or let its token reach one project.".to_owned(),
            Self::NameOfOther { project, .. } => {
                format!("Continue in your own project, or ask the human to rename that agent in {project} or to give you a token under another name.")
            }
            Self::NameOfGeneral { .. } => "Ask the human for a token under the other name.".to_owned(),
            Self::GeneralOnly { .. } => "Set the scope to project, or ask the human for it with send to human.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zone_belongs_to_zone_leads() {
        use LeadRole::{Commander, General, ZoneLead};
        let named = |role, zone| LeadPost::named(role, zone).map(|post| post.map(|post| post.to_string()));
        assert_eq!(named(None, Some(" ")), Ok(None));
        for (role, zone, post) in [
            (None, Some("audio"), "lead of the zone audio"),
            (Some(ZoneLead), Some(" audio "), "lead of the zone audio"),
            (Some(General), None, "general"),
            (Some(Commander), None, "commander"),
        ] {
            assert_eq!(named(role, zone), Ok(Some(post.to_owned())));
        }
        for (role, zone) in [(Some(ZoneLead), None), (Some(ZoneLead), Some(" ")), (Some(General), Some("audio")), (Some(Commander), Some("audio"))] {
            assert!(named(role, zone).is_err(), "{role:?} {zone:?}");
        }
    }
}
