//! Labels and colours of the area *warroom*: classes of agents, and the context that they have left.
//!
//! Must not decide anything.

use domain::warroom::class::AgentClass;
use domain::warroom::context_left::Condition;

use super::Tone;

pub(crate) const fn class_label(class: AgentClass) -> &'static str {
    match class {
        AgentClass::Lead => "Lead",
        AgentClass::Coder => "Coder",
        AgentClass::Builder => "Builder",
        AgentClass::Oracle => "Expert",
        AgentClass::Recon => "Investigator",
    }
}

/// The meaning of the context that is left.
pub(crate) const fn condition_badge(condition: Condition) -> (&'static str, Tone) {
    match condition {
        Condition::Healthy => ("enough", Tone::Good),
        Condition::Wounded => ("light tasks only", Tone::Warn),
        Condition::Critical => ("should hand over", Tone::Bad),
    }
}
