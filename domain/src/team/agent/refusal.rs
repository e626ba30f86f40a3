//! Refusals of agents: who the caller is, whether it takes part, what it is trusted with, and whom a name means.

use super::TOKEN_COMMAND;
use crate::refusal::category::refusals;
use crate::team::person::is_person;
use crate::time::Timestamp;

refusals! {
    /// Why an agent may not act, or cannot be found.
    AgentRefusal {
        #[error("this token belongs to {own}, not to {claimed}")]
        WrongIdentity { own: String, claimed: String } => Forbidden "not-you",
        #[error("this invite token can only be used to register")]
        NotRegistered => Forbidden "not-registered",
        #[error("{agent} left the project")]
        Left { agent: String } => Forbidden "not-registered",
        #[error("no participant is named {name}")]
        Unknown { name: String, nearest: Vec<String> } => Unprocessable "unknown-agent",
        #[error("{name} could be {}", candidates.join(" or "))]
        Ambiguous { name: String, candidates: Vec<String> } => Unprocessable "ambiguous-agent",
        #[error("{name} is not active{}", since.map(|since| format!(" (last seen {})", since.clock())).unwrap_or_default())]
        Unresponsive { name: String, since: Option<Timestamp> } => Conflict "dead-agent",
        #[error("the name {name} is taken")]
        NameTaken { name: String } => Conflict "name-taken",
        #[error("{action} requires a lead, and {agent} is not one")]
        LeadOnly { agent: String, action: String } => Forbidden "lead-only",
        #[error("{agent} joined with an invite token, but {action} requires a trusted agent")]
        Untrusted { agent: String, action: String } => Forbidden "unverified",
    }
}

impl AgentRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::WrongIdentity { own, .. } if is_person(own) => {
                format!(
                    "Omit the name to act as the person who owns this token. As an agent, ask the human for a token of your own: {TOKEN_COMMAND}."
                )
            }
            Self::WrongIdentity { own, .. } => format!("Write as {own}: your token determines your identity."),
            Self::NotRegistered => "Call register and choose a name; you act under that name from then on.".to_owned(),
            Self::Left { agent } => format!("Call register to return as {agent}; messages to you are kept."),
            Self::Unknown { nearest, .. } if nearest.is_empty() => "Call who to see the names.".to_owned(),
            Self::Unknown { nearest, .. } => format!("Did you mean {}? Call who to see all names.", nearest.join(" or ")),
            Self::Ambiguous { candidates, .. } => format!("Use the full name, such as {}.", candidates.first().map_or("team/name", String::as_str)),
            Self::Unresponsive { .. } => "Call who to see who is active. Put anything that must last into a comment on the task.".to_owned(),
            Self::NameTaken { .. } => "Choose another name, or register with the token of that agent. If you are that agent and its token was \
                                       lost, register again after a minute."
                .to_owned(),
            Self::LeadOnly { .. } => "Ask a lead with send; call who to see the leads.".to_owned(),
            Self::Untrusted { .. } => format!("Ask the human for a token of your own: {TOKEN_COMMAND}."),
        }
    }
}
