//! The decisions about a watched run: a step function from one event to the effects that follow from it.
//!
//! Pure, including time, which comes with each step. It must not know how effects are executed: a process, a store and a socket are the
//! loop's business. An effect that has an answer gets it as a later event, before any other event.

mod delivery;
mod interrupt;
mod permission;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::runs::run_event::RunEvent;
use domain::runs::usage::ModelInfo;
use tokio::time::Instant;
use uuid::Uuid;

use super::condition::{Condition, ConditionWatch};
use super::event::{Effect, EndCause, Event, ReadReason, StoreView};
use super::hand_over::HandOver;
use super::output_state::OutputState;
use super::publisher::ActivityPublisher;
use super::recorder::UsageRecorder;
use super::throttle::DeliveryThrottle;
use crate::activity::activity;
use crate::backend::outcome::is_connected_to_board;
use interrupt::InterruptState;

/// Half of the time after which an agent counts as stale.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(60);
/// How long an agent may print nothing. It is longer than the longest command that an agent may run.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(65 * 60);
/// A pause in the output of an adopted run after which its history is read.
const CATCH_UP_GRACE: Duration = Duration::from_millis(300);
/// How long an agent has after a turn to accept a message that was sent during the turn.
const NEXT_TURN_GRACE: Duration = Duration::from_secs(5);
/// How long an agent has to start a turn for a message that it accepted.
const TURN_START_GRACE: Duration = Duration::from_secs(60);
/// How long an agent has to exit after its stdin was closed, and the pause before a failed signal is repeated.
const CLOSE_GRACE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct WatchState {
    output: OutputState,
    checkout: String,
    cause: EndCause,
    /// The length of the output when this watch began.
    bytes_at_start: u64,
    bytes_read: u64,
    /// Lines that were sent and not echoed yet.
    unechoed: BTreeSet<Uuid>,
    throttle: DeliveryThrottle,
    /// The last answer to [`Effect::ReadStore`].
    store: Option<StoreView>,
    terminated: bool,
    /// Set once the agent was told to hand over.
    hand_over: Option<HandOver>,
    publisher: ActivityPublisher,
    recorder: UsageRecorder,
    condition: ConditionWatch,
    heartbeat_at: Instant,
    output_timeout_at: Instant,
    interrupt: InterruptState,
    /// The permission requests that the agent's program waits for.
    asked: BTreeSet<String>,
    /// When the store is read without a wake.
    inbox_at: Option<Instant>,
    /// When the end of a turn is judged.
    turn_check_at: Option<Instant>,
    /// When an agent whose stdin was closed is terminated.
    terminate_at: Option<Instant>,
}

impl WatchState {
    pub(super) fn new(
        bytes_at_start: u64,
        checkout: String,
        models: BTreeMap<String, ModelInfo>,
        stall_timeout: Option<Duration>,
        now: Instant,
    ) -> Self {
        Self {
            output: OutputState::new(models),
            checkout,
            cause: EndCause::AgentExited,
            bytes_at_start,
            bytes_read: 0,
            unechoed: BTreeSet::new(),
            throttle: DeliveryThrottle::default(),
            store: None,
            terminated: false,
            hand_over: None,
            publisher: ActivityPublisher::default(),
            recorder: UsageRecorder::new(now),
            condition: ConditionWatch::new(stall_timeout, now),
            heartbeat_at: now,
            output_timeout_at: now + OUTPUT_TIMEOUT,
            interrupt: InterruptState::new(stall_timeout),
            asked: BTreeSet::new(),
            inbox_at: None,
            turn_check_at: None,
            terminate_at: None,
        }
    }

    /// The state of the run at its end.
    pub(super) fn into_result(self) -> (OutputState, EndCause) {
        (self.output, self.cause)
    }

    /// The words with which the last turn ended, if it ended in order.
    pub(super) fn final_words(&self) -> Option<&str> {
        self.output.final_words()
    }

    /// When the next [`Event::DeadlinePassed`] is due.
    pub(super) fn next_deadline(&self) -> Instant {
        let optional = [
            self.inbox_at,
            self.turn_check_at,
            self.terminate_at,
            self.publisher.due_at(),
            self.record_at(),
            self.hand_over_at(),
            self.wait_ends_at(),
            self.armed_output_timeout(),
            self.probe_at(),
        ];
        optional.into_iter().flatten().fold(self.heartbeat_at, Instant::min)
    }

    pub(super) fn step(&mut self, event: Event, now: Instant) -> Vec<Effect> {
        match event {
            Event::Output { end, fresh, logged, events } => self.on_output(end, fresh, logged, &events, now),
            Event::Woken => self.on_wake(),
            Event::DeadlinePassed => self.on_deadline(now),
            Event::StoreRead(view) => {
                self.store = Some(view.clone());
                match view.reason {
                    ReadReason::Wake => self.deliver(&view, now),
                    ReadReason::TurnEnd => self.judge_turn(&view, now),
                }
            }
            Event::Sent { reason, input, ids, failed } => self.on_sent(reason, input, ids, failed, now),
            Event::Probed { cpu } => self.on_probe(cpu, now),
            Event::Terminated { delivered: true } => {
                self.terminated = true;
                Vec::new()
            }
            Event::Terminated { delivered: false } => {
                self.terminate_at = Some(now + CLOSE_GRACE);
                Vec::new()
            }
        }
    }

    fn on_output(&mut self, end: u64, fresh: bool, logged: bool, events: &[RunEvent], now: Instant) -> Vec<Effect> {
        self.output_timeout_at = now + OUTPUT_TIMEOUT;
        let mut effects = Vec::new();
        for event in events {
            self.output.apply(event);
            if fresh && let Some(line) = activity(event, &self.checkout) {
                self.publisher.set(line);
            }
            match event {
                RunEvent::SessionStarted(session) if !is_connected_to_board(&session.tool_servers) => {
                    self.cause = EndCause::BoardUnreachable;
                    effects.extend(self.terminate());
                }
                // The turn that ended before this one was not the last. Other lines may follow a turn without a meaning for the next.
                RunEvent::TurnStarted {} => {
                    self.turn_check_at = None;
                    effects.extend(self.interrupt.turn_started().map(Effect::EndInterrupt));
                }
                RunEvent::PermissionAsked { id, call, .. } => effects.push(self.on_permission_asked(id, call)),
                RunEvent::PermissionClosed { id } => effects.push(self.on_permission_closed(id)),
                RunEvent::InterruptTaken { id } => self.on_interrupt_taken(id, now),
                RunEvent::TurnEnded { .. } => {
                    self.turn_check_at = Some(now + self.turn_grace(end));
                    self.recorder.turn_ended();
                    effects.extend(self.close_permissions());
                }
                RunEvent::Request(_) => self.recorder.request_made(),
                RunEvent::Usage(usage) if fresh && !usage.models.is_empty() => effects.push(Effect::RecordModels(usage.models.clone())),
                // An answer of the model does not show that the board is reached.
                RunEvent::Context { used: Some(_), .. } if end > self.bytes_at_start && self.cause != EndCause::BoardUnreachable => {
                    effects.push(Effect::ConfirmService);
                }
                RunEvent::MessageAccepted { id, .. } => {
                    // A message between two turns was accepted for the next one.
                    self.turn_check_at = self.turn_check_at.map(|_| now + TURN_START_GRACE);
                    if let Some(id) = id.as_deref().and_then(|id| Uuid::parse_str(id).ok()) {
                        self.unechoed.remove(&id);
                        // Also when the server before this one sent it.
                        effects.push(Effect::RecordEcho(id));
                    }
                }
                _ => {}
            }
        }
        if logged {
            self.publisher.repeat();
        }
        effects.extend(self.publisher.take(now).map(Effect::PublishActivity));
        self.condition.on_output(events, now);
        let caught_up = self.bytes_read < self.bytes_at_start && end >= self.bytes_at_start;
        self.bytes_read = end;
        effects.extend(self.show_condition());
        effects.extend(self.record_usage(now));
        if self.hand_over.is_some_and(|hand_over| hand_over.is_used_up(self.output.usage().turns)) {
            effects.extend(self.terminate());
        }
        if caught_up || events.iter().any(|event| matches!(event, RunEvent::TurnStarted {})) {
            // Messages may have waited for a turn.
            self.inbox_at = Some(now);
        }
        effects
    }

    /// How long to wait after the end of a turn for a sign that another turn starts.
    fn turn_grace(&self, end: u64) -> Duration {
        if end <= self.bytes_at_start {
            CATCH_UP_GRACE
        } else if self.unechoed.is_empty() {
            Duration::ZERO
        } else {
            NEXT_TURN_GRACE
        }
    }

    fn on_wake(&mut self) -> Vec<Effect> {
        self.inbox_at = None;
        vec![Effect::ReadStore { reason: ReadReason::Wake, with_inbox: self.is_in_a_turn() && !self.is_ending() }]
    }

    fn on_deadline(&mut self, now: Instant) -> Vec<Effect> {
        let is_due = |at: Option<Instant>| at.is_some_and(|at| at <= now);
        let mut effects = Vec::new();
        if is_due(Some(self.heartbeat_at)) {
            // A late heartbeat is not made up for: it only matters that the process lives now.
            self.heartbeat_at = now + HEARTBEAT_INTERVAL;
            effects.push(Effect::RecordHeartbeat);
        }
        effects.extend(self.publisher.take(now).map(Effect::PublishActivity));
        effects.extend(self.record_usage(now));
        if is_due(self.inbox_at) {
            effects.extend(self.on_wake());
        }
        if is_due(self.turn_check_at) {
            self.turn_check_at = None;
            self.unechoed.clear();
            effects.push(Effect::ReadStore { reason: ReadReason::TurnEnd, with_inbox: !self.is_ending() });
        }
        if is_due(self.terminate_at) {
            self.terminate_at = None;
            effects.extend(self.terminate());
        }
        if is_due(self.hand_over_at()) {
            effects.extend(self.terminate());
        }
        if is_due(self.wait_ends_at()) {
            effects.extend(self.close(now));
        }
        if is_due(self.armed_output_timeout()) {
            self.cause = EndCause::Unresponsive { silent_for: OUTPUT_TIMEOUT };
            effects.extend(self.terminate());
        }
        if is_due(self.probe_at()) {
            self.condition.probe_started(now);
            effects.push(Effect::Probe);
        }
        effects
    }

    fn close(&mut self, now: Instant) -> Vec<Effect> {
        self.terminate_at.get_or_insert(now + CLOSE_GRACE);
        vec![Effect::CloseStdin]
    }

    fn terminate(&self) -> Vec<Effect> {
        if self.terminated { Vec::new() } else { vec![Effect::Terminate] }
    }

    /// Whether the agent is at work. Before its first turn it reads its prompt, and after its last it is about to exit.
    fn is_in_a_turn(&self) -> bool {
        self.output.tool_servers().is_some() && self.output.turn_end().is_none() && self.bytes_read >= self.bytes_at_start
    }

    fn is_ending(&self) -> bool {
        self.terminated || self.terminate_at.is_some()
    }

    fn hand_over_at(&self) -> Option<Instant> {
        self.hand_over.filter(|_| !self.is_ending()).map(HandOver::until)
    }

    fn armed_output_timeout(&self) -> Option<Instant> {
        let is_armed = !self.terminated && !self.waits_for_a_person() && !matches!(self.cause, EndCause::Unresponsive { .. });
        is_armed.then_some(self.output_timeout_at)
    }

    /// An agent that is about to exit has other deadlines.
    fn probe_at(&self) -> Option<Instant> {
        (!self.is_ending()).then(|| self.condition.probe_at())
    }

    fn on_probe(&mut self, cpu: Option<Duration>, now: Instant) -> Vec<Effect> {
        let is_excused = self.output.is_tool_at_work() || self.waits_for_a_person();
        let silent_for = self.condition.on_probe(cpu, is_excused, now);
        let mut effects: Vec<Effect> = self.show_condition().into_iter().collect();
        if let Some(silent_for) = silent_for {
            self.cause = EndCause::Unresponsive { silent_for };
            effects.extend(self.terminate());
        }
        effects
    }

    /// The reason why the agent does no work now.
    pub(super) fn condition(&self) -> Option<Condition> {
        self.condition.current()
    }

    /// The past of an adopted run is not shown.
    fn show_condition(&mut self) -> Option<Effect> {
        if self.bytes_read < self.bytes_at_start { None } else { self.condition.changed().map(Effect::ShowCondition) }
    }

    /// When the usage is recorded. An adopted run is read from its start, and its sums are complete once its history is read.
    fn record_at(&self) -> Option<Instant> {
        self.recorder.due_at(self.output.usage().turns).filter(|_| self.bytes_read >= self.bytes_at_start)
    }

    fn record_usage(&mut self, now: Instant) -> Option<Effect> {
        self.record_at().filter(|at| *at <= now)?;
        let usage = self.output.usage();
        self.recorder.recorded(usage.turns, now);
        Some(Effect::RecordUsage(usage))
    }
}

#[cfg(test)]
mod tests;
