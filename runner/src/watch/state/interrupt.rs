//! The interrupt of an agent: sent until its program confirms it, followed by the person's message or by a wait for one. Pure.
//!
//! It must not know who interrupted.

use std::time::Duration;

use tokio::time::Instant;

use super::WatchState;
use crate::watch::event::{Effect, Input, ReadReason, StoreView};

#[derive(Debug)]
pub(super) struct InterruptState {
    /// How long an interrupted agent waits for a message; `None` for any time.
    wait_limit: Option<Duration>,
    /// The interrupt that was sent by this watch.
    sent: Option<String>,
    /// The interrupts that the program confirmed last, of which no turn was started since.
    taken: Option<String>,
    /// The last interrupt that the program confirmed.
    confirmed: Option<String>,
    /// Since when the agent waits for a message.
    waits_since: Option<Instant>,
}

impl InterruptState {
    pub(super) fn new(wait_limit: Option<Duration>) -> Self {
        Self { wait_limit, sent: None, taken: None, confirmed: None, waits_since: None }
    }

    pub(super) fn sent(&mut self, interrupt: Option<String>) {
        self.sent = interrupt;
    }

    /// Whether the agent waits for a person.
    pub(super) fn waits(&self) -> bool {
        self.waits_since.is_some()
    }

    /// A turn ends the wait. Returns the interrupt that is over.
    pub(super) fn turn_started(&mut self) -> Option<String> {
        self.waits_since = None;
        self.taken.take()
    }
}

impl WatchState {
    /// The interrupt that the agent's program has not confirmed.
    pub(super) fn pending_interrupt(&self, view: &StoreView) -> Option<String> {
        view.interrupt.clone().filter(|interrupt| self.interrupt.confirmed.as_ref() != Some(interrupt) && !self.is_ending())
    }

    /// Sends an interrupt once. Messages wait for its confirmation, because the agent would read them in the turn that ends. Before its
    /// first turn, a program would confirm an interrupt and still begin that turn.
    pub(super) fn send_interrupt(&self, interrupt: String) -> Vec<Effect> {
        let has_begun = self.output.tool_servers().is_some() && self.bytes_read >= self.bytes_at_start;
        if !has_begun || self.interrupt.sent == Some(interrupt) {
            return Vec::new();
        }
        vec![Effect::Send { reason: ReadReason::Wake, input: Input::Interrupt }]
    }

    pub(super) fn on_interrupt_taken(&mut self, id: &str, now: Instant) {
        self.interrupt.taken = Some(id.to_owned());
        self.interrupt.confirmed = Some(id.to_owned());
        if self.output.turn_end().is_some() {
            self.turn_check_at.get_or_insert(now);
        }
    }

    /// The turn of an interrupted agent ended: it gets the person's message, or waits for one.
    pub(super) fn after_interrupt(&mut self, view: &StoreView, now: Instant) -> Vec<Effect> {
        if let Some(interrupt) = self.pending_interrupt(view) {
            return self.send_interrupt(interrupt);
        }
        self.interrupt.waits_since.get_or_insert(now);
        if view.has_human_messages && !self.is_ending() {
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::HumanMessages }];
        }
        Vec::new()
    }

    /// When an agent that nobody wrote to is ended.
    pub(super) fn wait_ends_at(&self) -> Option<Instant> {
        self.interrupt.waits_since.zip(self.interrupt.wait_limit).map(|(since, limit)| since + limit).filter(|_| !self.is_ending())
    }
}
