//! Refusals that follow from the class of an agent.

use super::AgentClass;
use crate::refusal::category::refusals;

refusals! {
    /// Why the class of an agent does not permit something.
    ClassRefusal {
        #[error("{agent} has the class {class}, which changes no code")]
        ChangesNoCode { agent: String, class: AgentClass } => Forbidden "wrong-class",
        #[error("{agent} has the class {class}, and only the class lead creates tasks")]
        CreatesNoTasks { agent: String, class: AgentClass } => Forbidden "class-creates-no-tasks",
        #[error("{agent} has the class {class}, and a class never changes")]
        Fixed { agent: String, class: AgentClass } => Conflict "class-is-fixed",
        #[error("BLOCKED: your report about your context is {age_minutes} minutes old, and the class {class} reports every {due_minutes}")]
        ReportDue { class: AgentClass, age_minutes: u64, due_minutes: u64 } => Conflict "report-due",
    }
}

impl ClassRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::ChangesNoCode { .. } => {
                let classes: Vec<&str> = AgentClass::ALL.iter().filter(|class| class.takes_coder_tasks()).map(|class| class.as_str()).collect();
                format!("Leave it to an agent of the class {}; call who to see the classes.", classes.join(" or "))
            }
            Self::CreatesNoTasks { .. } => "Propose the task to a lead with send; call who to see the leads.".to_owned(),
            Self::Fixed { .. } => "Register without agent_class, or under another name.".to_owned(),
            Self::ReportDue { .. } => "Call set_context with tokens_used and tokens_limit, then send again.".to_owned(),
        }
    }
}
