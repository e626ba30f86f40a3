//! The events of a watched run and the effects that follow from them: both are closed lists.
//!
//! It must not know which effect follows from which event; `state` decides.

use std::collections::BTreeMap;
use std::time::Duration;

use domain::runs::run_event::{RunEvent, ToolCall};
use domain::runs::usage::{ModelInfo, Usage};
use domain::team::message::Unread;
use uuid::Uuid;

use super::condition::Condition;

/// Why a run ended, as far as the watch caused it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EndCause {
    #[default]
    AgentExited,
    BoardUnreachable,
    /// It showed no sign of work for this long.
    Unresponsive {
        silent_for: Duration,
    },
}

#[derive(Debug, Clone)]
pub(super) enum Event {
    /// One line of output, which is in the transcript by now.
    Output {
        /// The offset of its end.
        end: u64,
        /// Whether the transcript did not contain it before.
        fresh: bool,
        /// Whether it added entries to the transcript.
        logged: bool,
        events: Vec<RunEvent>,
    },
    /// The store may hold something new for this run.
    Woken,
    /// The next deadline of the state has passed.
    DeadlinePassed,
    /// The answer to [`Effect::ReadStore`].
    StoreRead(StoreView),
    /// The answer to [`Effect::Send`].
    Sent {
        reason: ReadReason,
        input: Input,
        /// The ids of the lines that were sent.
        ids: Vec<Uuid>,
        /// Whether the shim rejected a line.
        failed: bool,
    },
    /// The answer to [`Effect::Probe`].
    Probed {
        /// The CPU time that the agent's processes have used, if that is known.
        cpu: Option<Duration>,
    },
    /// The answer to [`Effect::Terminate`].
    Terminated {
        /// Whether the agent got the signal or was gone already.
        delivered: bool,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Effect {
    RecordHeartbeat,
    RecordUsage(Usage),
    /// Stores facts about the models of an ended turn.
    RecordModels(BTreeMap<String, ModelInfo>),
    /// The agent accepted the message with this id.
    RecordEcho(Uuid),
    /// The agent waits for the answer to this request.
    AskPermission {
        id: String,
        call: ToolCall,
    },
    /// It no longer does.
    ClosePermission(String),
    /// The agent went on after the interrupt with this id.
    EndInterrupt(String),
    /// The model's service works.
    ConfirmService,
    PublishActivity(String),
    ReadStore {
        reason: ReadReason,
        /// Whether unread messages from others matter.
        with_inbox: bool,
    },
    Send {
        reason: ReadReason,
        input: Input,
    },
    CloseStdin,
    Terminate,
    /// Finds out whether the processes of a silent agent do anything.
    Probe,
    /// Something keeps the agent from its work, or no longer does.
    ShowCondition(Option<Condition>),
}

/// Why the store is read and messages are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReadReason {
    Wake,
    TurnEnd,
}

/// A kind of input for the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// The human's messages, in order, until one fails.
    HumanMessages,
    /// Messages from other participants.
    Inbox,
    /// Answers to the agent's permission requests.
    PermissionAnswers,
    /// The order to end the turn now.
    Interrupt,
    /// The request to hand over, because a limit is reached.
    HandOver,
    /// The reminder to move its card. A run gets it once.
    Reminder,
}

/// The facts in the store about the run and its task.
#[derive(Debug, Clone)]
pub(super) struct StoreView {
    pub(super) reason: ReadReason,
    pub(super) stop_requested: bool,
    /// Whether the agent is to hand over, because a limit is reached or because of an order.
    pub(super) hand_over_requested: bool,
    /// Whether it has little time for that.
    pub(super) is_emergency: bool,
    /// The id of the interrupt after which the agent has not gone on.
    pub(super) interrupt: Option<String>,
    /// Whether a permission request was answered and this watch did not send the answer.
    pub(super) has_permission_answers: bool,
    pub(super) has_human_messages: bool,
    pub(super) unread: Unread,
    /// The following are only read at the end of a turn.
    pub(super) card_has_moved: bool,
    pub(super) card_is_closed: bool,
    /// Whether the agent asked the human. An answer that came at once counts too: the next run of the session reads it.
    pub(super) has_asked: bool,
}
