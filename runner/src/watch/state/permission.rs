//! The permission requests of a watched agent: recorded when they appear, and closed when its program no longer waits. Pure.
//!
//! It must not know the answers.

use domain::runs::run_event::ToolCall;

use super::WatchState;
use crate::watch::event::Effect;

impl WatchState {
    /// A record of a known request changes nothing, so those of an adopted run are recorded again.
    pub(super) fn on_permission_asked(&mut self, id: &str, call: &ToolCall) -> Effect {
        self.asked.insert(id.to_owned());
        Effect::AskPermission { id: id.to_owned(), call: call.clone() }
    }

    pub(super) fn on_permission_closed(&mut self, id: &str) -> Effect {
        self.asked.remove(id);
        Effect::ClosePermission(id.to_owned())
    }

    /// A program that ended its turn waits for no answer.
    pub(super) fn close_permissions(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.asked).into_iter().map(Effect::ClosePermission).collect()
    }

    /// Whether the agent does nothing until a person answers or writes to it.
    pub(super) fn waits_for_a_person(&self) -> bool {
        self.interrupt.waits() || !self.asked.is_empty()
    }
}
