//! The decisions about a watched run: a step function from one event to the effects that follow from it.
//!
//! Pure, including time, which comes with each step. It must not know how effects are executed: a process, a store and a socket are the
//! loop's business. An effect that has an answer gets it as a later event, before any other event.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use domain::runs::run_event::{RunEvent, StopReason};
use domain::runs::usage::ModelInfo;
use domain::team::message::Unread;
use tokio::time::Instant;
use uuid::Uuid;

use super::condition::{Condition, ConditionWatch};
use super::event::{Effect, EndCause, Event, Input, ReadReason, StoreView};
use super::hand_over::HandOver;
use super::output_state::OutputState;
use super::publisher::ActivityPublisher;
use super::recorder::UsageRecorder;
use super::throttle::{DeliveryThrottle, INTERRUPTION_INTERVAL};
use crate::activity::activity;
use crate::backend::outcome::is_connected_to_board;

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
            inbox_at: None,
            turn_check_at: None,
            terminate_at: None,
        }
    }

    /// The state of the run at its end.
    pub(super) fn into_result(self) -> (OutputState, EndCause) {
        (self.output, self.cause)
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
                RunEvent::TurnStarted {} => self.turn_check_at = None,
                RunEvent::TurnEnded { .. } => {
                    self.turn_check_at = Some(now + self.turn_grace(end));
                    self.recorder.turn_ended();
                }
                RunEvent::Request(_) => self.recorder.request_made(),
                RunEvent::Usage(usage) if fresh && !usage.models.is_empty() => effects.push(Effect::RecordModels(usage.models.clone())),
                RunEvent::Context { used: Some(_), .. } if end > self.bytes_at_start => effects.push(Effect::ConfirmService),
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

    /// The human may have stopped the run, or somebody wrote to the agent.
    fn deliver(&mut self, view: &StoreView, now: Instant) -> Vec<Effect> {
        if view.stop_requested {
            return self.terminate();
        }
        if view.hand_over_requested && self.hand_over.is_none() && !self.is_ending() {
            self.hand_over = Some(HandOver::new(self.output.usage().turns, now));
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::HandOver }];
        }
        if let Some(later) = self.throttle.blocked_until(now) {
            self.inbox_at = Some(later);
            return Vec::new();
        }
        if view.has_human_messages && !self.is_ending() {
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::HumanMessages }];
        }
        self.deliver_inbox(&view.unread, now)
    }

    /// Sends what others wrote if the agent may be interrupted now, else tries again later. Nobody is interrupted for copies.
    fn deliver_inbox(&mut self, unread: &Unread, now: Instant) -> Vec<Effect> {
        let may_send = self.is_in_a_turn() && !self.is_ending() && self.throttle.blocked_until(now).is_none();
        if !may_send || unread.blocking_count == 0 {
            return Vec::new();
        }
        let due = self.throttle.due(unread.urgent, now);
        if due <= now {
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::Inbox }];
        }
        self.inbox_at = Some(due);
        Vec::new()
    }

    /// The agent ended its turn: it has finished, gets more input, is reminded once, or has to go.
    fn judge_turn(&mut self, view: &StoreView, now: Instant) -> Vec<Effect> {
        let failed = self.output.turn_end().is_some_and(StopReason::is_failure);
        if failed || view.has_asked || view.stop_requested || view.hand_over_requested || view.card_is_closed {
            return self.close(now);
        }
        self.send_after_turn(view, None, now)
    }

    /// The next input to try at the end of a turn, after `tried` brought nothing. An agent without input has to go.
    fn send_after_turn(&mut self, view: &StoreView, tried: Option<Input>, now: Instant) -> Vec<Effect> {
        let send = |input| vec![Effect::Send { reason: ReadReason::TurnEnd, input }];
        let can_send = !self.is_ending();
        match tried {
            None if !view.card_has_moved && view.has_human_messages && can_send => send(Input::HumanMessages),
            None | Some(Input::HumanMessages) if view.unread.urgent && can_send => send(Input::Inbox),
            None | Some(Input::HumanMessages | Input::Inbox) if !view.card_has_moved => send(Input::Reminder),
            _ => self.close(now),
        }
    }

    fn on_sent(&mut self, reason: ReadReason, input: Input, ids: Vec<Uuid>, failed: bool, now: Instant) -> Vec<Effect> {
        let accepted = !ids.is_empty();
        self.unechoed.extend(ids);
        if accepted {
            self.throttle.record_attempt(true, now);
        }
        if failed {
            self.throttle.record_attempt(false, now);
            self.inbox_at = self.throttle.blocked_until(now);
        }
        let Some(view) = self.store.clone() else { return Vec::new() };
        match reason {
            ReadReason::TurnEnd if accepted => {
                // Without a new turn, the end of the last one is judged again.
                self.turn_check_at = Some(now + NEXT_TURN_GRACE);
                Vec::new()
            }
            ReadReason::TurnEnd => self.send_after_turn(&view, Some(input), now),
            ReadReason::Wake if input == Input::HumanMessages => self.deliver_inbox(&view.unread, now),
            // Messages that arrived together with the limit wait for the next wake.
            ReadReason::Wake if input == Input::HandOver => Vec::new(),
            ReadReason::Wake => {
                if accepted {
                    if !view.unread.urgent {
                        self.throttle.record_interruption(now);
                    }
                    // For the messages that did not fit.
                    self.inbox_at = Some(now + INTERRUPTION_INTERVAL);
                }
                Vec::new()
            }
        }
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
        (!self.terminated && !matches!(self.cause, EndCause::Unresponsive { .. })).then_some(self.output_timeout_at)
    }

    /// An agent that is about to exit has other deadlines.
    fn probe_at(&self) -> Option<Instant> {
        (!self.is_ending()).then(|| self.condition.probe_at())
    }

    fn on_probe(&mut self, cpu: Option<Duration>, now: Instant) -> Vec<Effect> {
        let silent_for = self.condition.on_probe(cpu, self.output.is_tool_at_work(), now);
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
