//! The state of a run as its output tells it: a fold over its run events, with the same result for every reader. Pure.

mod usage;
mod words;

use std::collections::{BTreeMap, BTreeSet};

use domain::runs::run_event::{AgentError, ErrorClass, RateLimitState, RunEvent, StopReason, ToolServer, UsageScope};
use domain::runs::usage::{ModelInfo, Usage};

use usage::UsageFold;
use words::Words;

pub(crate) use words::FailedCall;

#[derive(Debug, Clone, Default)]
pub(crate) struct OutputState {
    /// How the turn that started last ended, if it did.
    turn_end: Option<StopReason>,
    /// The error of that turn.
    error: Option<AgentError>,
    tool_servers: Option<Vec<ToolServer>>,
    /// Whether the agent accepted a message and has not ended a turn in order since.
    turn_open: bool,
    /// When the last rejecting rate limit resets, in seconds since the Unix epoch.
    limited_until: Option<i64>,
    usage: UsageFold,
    words: Words,
    /// The calls of the turn that have not returned.
    open_calls: BTreeSet<String>,
}

impl OutputState {
    /// Nothing was printed yet. `models` is what earlier runs showed.
    pub(crate) fn new(models: BTreeMap<String, ModelInfo>) -> Self {
        Self { usage: UsageFold::new(models), ..Self::default() }
    }

    pub(crate) fn apply(&mut self, event: &RunEvent) {
        self.words.apply(event);
        match event {
            RunEvent::SessionStarted(session) => self.tool_servers = Some(session.tool_servers.clone()),
            RunEvent::ToolStarted(call) => drop(self.open_calls.insert(call.id.clone())),
            RunEvent::ToolEnded { id, .. } => drop(self.open_calls.remove(id)),
            RunEvent::TurnStarted {} => {
                self.open_calls.clear();
                self.turn_end = None;
                self.error = None;
                self.turn_open = true;
            }
            RunEvent::MessageAccepted { .. } => self.turn_open = true,
            RunEvent::Usage(usage) if usage.scope == UsageScope::Turn => self.usage.end_turn(usage),
            RunEvent::Request(request) => self.usage.add_request(request),
            RunEvent::Context { used, size } => self.usage.set_context(*used, *size),
            RunEvent::Failed(error) if !self.is_explained_by_sign_in(error) => self.error = Some(error.clone()),
            RunEvent::RateLimit { state: RateLimitState::Rejected, resets_at_unix, .. } => self.limited_until = *resets_at_unix,
            RunEvent::TurnEnded { reason } => {
                self.open_calls.clear();
                self.turn_open = self.turn_open && reason.is_failure();
                self.turn_end = Some(*reason);
            }
            _ => {}
        }
    }

    /// How the last turn ended; `None` while it runs.
    pub(crate) fn turn_end(&self) -> Option<StopReason> {
        self.turn_end
    }

    /// Whether the last turn ended in order, after all messages that the agent accepted.
    pub(crate) fn has_completed_turn(&self) -> bool {
        self.turn_end.is_some() && !self.turn_open
    }

    /// Whether a tool that the agent called has not returned.
    pub(crate) fn is_tool_at_work(&self) -> bool {
        !self.open_calls.is_empty()
    }

    pub(crate) fn error(&self) -> Option<&AgentError> {
        self.error.as_ref()
    }

    pub(crate) fn tool_servers(&self) -> Option<&[ToolServer]> {
        self.tool_servers.as_deref()
    }

    pub(crate) fn limited_until(&self) -> Option<i64> {
        self.limited_until
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage.usage()
    }

    /// The last call that failed or was refused.
    pub(crate) fn failed_call(&self) -> Option<&FailedCall> {
        self.words.failed_call()
    }

    /// The last commit that failed, unless a later one succeeded.
    pub(crate) fn failed_commit(&self) -> Option<&FailedCall> {
        self.words.failed_commit()
    }

    /// The end of what the agent said last.
    pub(crate) fn last_words(&self) -> Option<String> {
        self.words.last()
    }

    /// The words with which the last turn ended, after its last call of a tool. None while the agent works, and after a failure.
    pub(crate) fn final_words(&self) -> Option<&str> {
        self.turn_end.filter(|end| !end.is_failure()).and_then(|_| self.words.final_words())
    }

    /// The words with which a turn ended, if they ask for a decision.
    pub(crate) fn question(&self) -> Option<&str> {
        self.words.question()
    }

    /// Whether `error` only follows from a sign-in error that the program reported earlier in the turn.
    fn is_explained_by_sign_in(&self, error: &AgentError) -> bool {
        let is_more_specific = matches!(error.class, ErrorClass::Quota | ErrorClass::RateLimit | ErrorClass::SessionUnavailable);
        self.error.as_ref().is_some_and(|known| known.class == ErrorClass::Auth) && !is_more_specific
    }
}

#[cfg(test)]
mod tests;
