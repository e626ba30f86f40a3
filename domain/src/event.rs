//! Events: every change that the log records, the board replays and clients receive. Each noun declares its own; this file joins them.
//!
//! The envelope of an event carries the card and the project after the change, so readers need no second query.

pub(crate) mod kinds;
pub mod live;
pub mod sentence;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::board::card::Card;
use crate::board::comment::CommentEvent;
use crate::board::goal::GoalEvent;
use crate::board::plan::PlanEvent;
use crate::board::project::{Project, ProjectEvent};
use crate::board::question::QuestionEvent;
use crate::board::task::event::TaskEvent;
use crate::context::import::ImportEvent;
use crate::context::memory::MemoryEvent;
use crate::context::session::SessionEvent;
use crate::id::{ProjectId, RunId, TaskId};
use crate::runs::check::CheckEvent;
use crate::runs::checkout::CheckoutEvent;
use crate::runs::interrupt::InterruptEvent;
use crate::runs::limit::LimitEvent;
use crate::runs::parking::ParkingEvent;
use crate::runs::pause::PauseEvent;
use crate::runs::permission::PermissionEvent;
use crate::runs::preview::PreviewEvent;
use crate::runs::rescue::RescueEvent;
use crate::runs::run::RunChange;
use crate::runs::sandbox::SandboxEvent;
use crate::team::agent::AgentEvent;
use crate::team::browser_session::BrowserSessionEvent;
use crate::team::contract::ContractEvent;
use crate::team::handshake::HandshakeEvent;
use crate::team::hat::HatEvent;
use crate::team::message::MessageEvent;
use crate::team::minion::MinionEvent;
use crate::team::person::PersonEvent;
use crate::team::token::TokenEvent;
use crate::time::Timestamp;
use crate::warroom::battle_plan::BattlePlanEvent;
use crate::warroom::claim::ClaimEvent;
use crate::warroom::debrief::DebriefEvent;
use crate::warroom::handover::HandoverEvent;
use crate::warroom::knowledge::KnowledgeEvent;
use crate::warroom::oracle::OracleEvent;
use crate::warroom::raid_log::RaidLogEvent;
use crate::warroom::result::ResultEvent;
use crate::warroom::trigger::TriggerEvent;
use crate::warroom::zone::ZoneEvent;

/// The number of an event in the log: from 1, without gaps, in commit order.
pub type Seq = i64;

/// An event with its time, its actor and the things it is about.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Envelope {
    pub seq: Seq,
    pub at: Timestamp,
    pub project_id: Option<ProjectId>,
    pub task_id: Option<TaskId>,
    pub run_id: Option<RunId>,
    pub actor: Actor,
    pub event: Event,
    /// The task's card after the event. If one request causes several events about a task, only the last of them has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub card: Option<Card>,
    /// The project after the event, if the event is about the project itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Project>,
}

macro_rules! join {
    ($($noun:ident($event:ty),)+) => {
        /// The kinds of change.
        #[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
        #[serde(untagged)]
        pub enum Event {
            $($noun($event),)+
        }

        impl Event {
            /// Returns all kinds, in the order of their declaration.
            pub fn kinds() -> Vec<&'static str> {
                [$(<$event>::KINDS),+].concat()
            }

            pub const fn kind(&self) -> &'static str {
                match self {
                    $(Self::$noun(event) => event.kind(),)+
                }
            }
        }

        // A derived implementation would try one noun after the other, and its error would not name the kind.
        impl<'de> Deserialize<'de> for Event {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let fields = Value::deserialize(deserializer)?;
                match fields["kind"].as_str() {
                    $(Some(kind) if <$event>::KINDS.contains(&kind) => {
                        <$event>::deserialize(fields).map(Self::$noun).map_err(D::Error::custom)
                    })+
                    Some(kind) => Err(D::Error::custom(format_args!("unknown kind of event `{kind}`"))),
                    None => Err(D::Error::missing_field("kind")),
                }
            }
        }

        $(impl From<$event> for Event {
            fn from(event: $event) -> Self {
                Self::$noun(event)
            }
        })+
    };
}

join! {
    Project(ProjectEvent),
    Plan(PlanEvent),
    Task(TaskEvent),
    Comment(CommentEvent),
    Question(QuestionEvent),
    Goal(GoalEvent),
    Run(RunChange),
    Interrupt(InterruptEvent),
    Permission(PermissionEvent),
    Check(CheckEvent),
    Preview(PreviewEvent),
    Checkout(CheckoutEvent),
    Rescue(RescueEvent),
    Parking(ParkingEvent),
    Pause(PauseEvent),
    Limit(LimitEvent),
    Sandbox(SandboxEvent),
    Token(TokenEvent),
    Person(PersonEvent),
    BrowserSession(BrowserSessionEvent),
    Agent(AgentEvent),
    Message(MessageEvent),
    Hat(HatEvent),
    Handshake(HandshakeEvent),
    Contract(ContractEvent),
    Minion(MinionEvent),
    Session(SessionEvent),
    Memory(MemoryEvent),
    Import(ImportEvent),
    Claim(ClaimEvent),
    BattlePlan(BattlePlanEvent),
    RaidLog(RaidLogEvent),
    Handover(HandoverEvent),
    Result(ResultEvent),
    Debrief(DebriefEvent),
    Trigger(TriggerEvent),
    Knowledge(KnowledgeEvent),
    Zone(ZoneEvent),
    Oracle(OracleEvent),
}

#[cfg(test)]
mod tests;
