//! Decides about input for the agent: at a wake, at the end of a turn, and after a delivery. It must not execute a delivery.

use domain::runs::run_event::StopReason;
use domain::team::message::Unread;
use tokio::time::Instant;
use uuid::Uuid;

use super::{NEXT_TURN_GRACE, WatchState};
use crate::watch::event::{Effect, Input, ReadReason, StoreView};
use crate::watch::hand_over::HandOver;
use crate::watch::throttle::INTERRUPTION_INTERVAL;

impl WatchState {
    /// The human may have stopped the run, or someone wrote to the agent.
    pub(super) fn deliver(&mut self, view: &StoreView, now: Instant) -> Vec<Effect> {
        if view.stop_requested {
            return self.terminate();
        }
        if view.hand_over_requested && self.hand_over.is_none() && !self.is_ending() {
            if self.interrupt.waits() {
                return self.close(now);
            }
            self.hand_over = Some(HandOver::new(self.output.usage().turns, now, view.is_emergency));
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::HandOver }];
        }
        if let Some(later) = self.throttle.blocked_until(now) {
            self.inbox_at = Some(later);
            return Vec::new();
        }
        if view.has_permission_answers {
            return vec![Effect::Send { reason: ReadReason::Wake, input: Input::PermissionAnswers }];
        }
        if let Some(interrupt) = self.pending_interrupt(view) {
            return self.send_interrupt(interrupt);
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
    pub(super) fn judge_turn(&mut self, view: &StoreView, now: Instant) -> Vec<Effect> {
        let failed = self.output.turn_end().is_some_and(StopReason::is_failure);
        let is_over = view.has_asked || view.stop_requested || view.hand_over_requested || view.card_is_closed;
        if !is_over && view.interrupt.is_some() && !view.card_has_moved {
            return self.after_interrupt(view, now);
        }
        if failed || is_over {
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

    pub(super) fn on_sent(&mut self, reason: ReadReason, input: Input, ids: Vec<Uuid>, failed: bool, now: Instant) -> Vec<Effect> {
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
        if input == Input::PermissionAnswers {
            // For what else is to be sent.
            self.inbox_at = self.inbox_at.or(Some(now));
            return Vec::new();
        }
        if input == Input::Interrupt {
            if !failed {
                self.interrupt.sent(view.interrupt);
            }
            return Vec::new();
        }
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
}
