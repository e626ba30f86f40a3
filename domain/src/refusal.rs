//! Refusals: a stable code, what was attempted, and the next legal step. Each noun declares its own; this file joins them.
//!
//! Must not know HTTP statuses or MCP wording, which the adapters choose.

pub(crate) mod category;
pub(crate) mod general;

pub use category::Category;
pub use general::{GeneralRefusal, RepositoryRefusal};

use crate::board::transition::Target;
use crate::team::agent::NameError;
use crate::team::agent::refusal::AgentRefusal;

/// Passes the refusals of all nouns to a macro, after an optional name. This is their only list.
#[macro_export]
macro_rules! each_refusal {
    ($macro:path $(, $error:ident)?) => {
        $macro! {
            $($error,)?
            General($crate::refusal::GeneralRefusal),
            Repository($crate::refusal::RepositoryRefusal),
            Project($crate::board::project::refusal::ProjectRefusal),
            Task($crate::board::task::refusal::TaskRefusal),
            Move($crate::board::transition::refusal::MoveRefusal),
            Dependency($crate::board::dependency::DependencyRefusal),
            Plan($crate::board::plan::PlanRefusal),
            Question($crate::board::question::QuestionRefusal),
            Comment($crate::board::comment::CommentRefusal),
            Review($crate::board::review::ReviewRefusal),
            Goal($crate::board::goal::GoalRefusal),
            Run($crate::runs::run::RunRefusal),
            Permission($crate::runs::permission::PermissionRefusal),
            Check($crate::runs::check::CheckRefusal),
            Preview($crate::runs::preview::PreviewRefusal),
            Land($crate::runs::land::LandRefusal),
            Publication($crate::runs::publication::PublicationRefusal),
            Issue($crate::runs::publication::issue::IssueRefusal),
            Agent($crate::team::agent::refusal::AgentRefusal),
            Person($crate::team::person::PersonRefusal),
            Pairing($crate::team::pairing::PairingRefusal),
            Token($crate::team::token::refusal::TokenRefusal),
            Message($crate::team::message::MessageRefusal),
            Handshake($crate::team::handshake::HandshakeRefusal),
            Hat($crate::team::hat::HatRefusal),
            Minion($crate::team::minion::MinionRefusal),
            Session($crate::context::session::SessionRefusal),
            Memory($crate::context::memory::MemoryRefusal),
            Import($crate::context::import::ImportRefusal),
            Claim($crate::warroom::claim::refusal::ClaimRefusal),
            Class($crate::warroom::class::refusal::ClassRefusal),
            Lead($crate::warroom::lead::LeadRefusal),
            Model($crate::warroom::model::ModelRefusal),
            BattlePlan($crate::warroom::battle_plan::BattlePlanRefusal),
            Handover($crate::warroom::handover::HandoverRefusal),
            Result($crate::warroom::result::ResultRefusal),
            Debrief($crate::warroom::debrief::DebriefRefusal),
            OldTask($crate::warroom::old_task::OldTaskRefusal),
            Workload($crate::warroom::workload::refusal::WorkloadRefusal),
            Trigger($crate::warroom::trigger::refusal::TriggerRefusal),
            Knowledge($crate::warroom::knowledge::refusal::KnowledgeRefusal),
            Zone($crate::warroom::zone::refusal::ZoneRefusal),
            Oracle($crate::warroom::oracle::refusal::OracleRefusal),
            CodeMap($crate::warroom::code_map::CodeMapRefusal),
        }
    };
}

macro_rules! join {
    ($($noun:ident($refusal:ty),)+) => {
        /// The reason why a valid request is not allowed. Nothing was changed.
        #[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
        pub enum Refusal {
            $(#[error(transparent)] $noun(#[from] $refusal),)+
        }

        impl Refusal {
            /// The category of this refusal.
            pub fn category(&self) -> Category {
                match self {
                    $(Self::$noun(refusal) => refusal.category(),)+
                }
            }

            /// The code for programs.
            pub fn code(&self) -> &'static str {
                match self {
                    $(Self::$noun(refusal) => refusal.code(),)+
                }
            }

            /// The next legal step.
            pub fn hint(&self) -> String {
                match self {
                    $(Self::$noun(refusal) => refusal.hint(),)+
                }
            }
        }
    };
}

each_refusal!(join);

/// Converts the refusal of each noun to an error type that [`Refusal`] converts to, so that `?` works on all of them.
#[macro_export]
macro_rules! from_refusals {
    ($error:ident) => { $crate::each_refusal!($crate::from_refusals, $error); };
    ($error:ident, $($noun:ident($refusal:ty),)+) => {
        $(impl From<$refusal> for $error {
            fn from(refusal: $refusal) -> Self {
                $crate::refusal::Refusal::from(refusal).into()
            }
        })+
    };
}

impl Refusal {
    pub fn invalid(field: &'static str, problem: impl Into<String>, hint: impl Into<String>) -> Self {
        GeneralRefusal::invalid(field, problem, hint).into()
    }

    pub fn not_found(what: &'static str, id: impl ToString) -> Self {
        GeneralRefusal::NotFound { what, id: id.to_string() }.into()
    }

    /// The seconds until the same request is accepted, if only its rate was refused.
    pub fn retry_after(&self) -> Option<u64> {
        if let Self::General(GeneralRefusal::RateLimited { seconds, .. }) = self { Some(*seconds) } else { None }
    }

    /// The kind of thing that does not exist, if that is the reason.
    pub fn missing(&self) -> Option<&'static str> {
        if let Self::General(GeneralRefusal::NotFound { what, .. }) = self { Some(what) } else { None }
    }

    /// The legal targets of the task, if the move is not in the table.
    pub fn allowed(&self) -> Vec<Target> {
        if let Self::Move(refusal) = self { refusal.allowed() } else { Vec::new() }
    }
}

impl From<NameError> for Refusal {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Invalid { .. } => {
                Self::invalid("agent_name", error.to_string(), "Choose a name such as mara, or mara with the team platform.")
            }
            NameError::Unknown { name, nearest } => AgentRefusal::Unknown { name, nearest }.into(),
            NameError::Ambiguous { name, candidates } => AgentRefusal::Ambiguous { name, candidates }.into(),
        }
    }
}

#[cfg(test)]
mod tests;
