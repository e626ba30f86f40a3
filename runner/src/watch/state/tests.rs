//! The decisions about a watched run, one table row per rule. Time is a number of milliseconds after the start.

mod condition;
mod interrupt;
mod limits;
mod permission;

use domain::runs::run_event::{AgentError, ErrorClass, SessionStarted, StopReason, ToolServer};
use domain::team::message::Unread;

use super::*;
use crate::watch::event::Input;

/// The length of the output that a test adopts.
const HISTORY: u64 = 100;
const STALL_TIMEOUT: Duration = Duration::from_secs(20 * 60);

struct Bench {
    state: WatchState,
    start: Instant,
    now: Instant,
    end: u64,
}

impl Bench {
    /// The watch of a run that was just started.
    fn new() -> Self {
        Self::adopting(0)
    }

    fn adopting(bytes_at_start: u64) -> Self {
        let start = Instant::now();
        Self {
            state: WatchState::new(bytes_at_start, "/checkout".to_owned(), BTreeMap::new(), Some(STALL_TIMEOUT), start),
            start,
            now: start,
            end: 0,
        }
    }

    /// A run that is in its first turn, with its first heartbeat and inbox check done.
    fn at_work() -> Self {
        let mut bench = Self::new();
        bench.prints([session("connected"), RunEvent::TurnStarted {}]);
        bench.deadline();
        bench.reads(ReadReason::Wake, |_| {});
        bench
    }

    fn step(&mut self, event: Event) -> Vec<Effect> {
        self.state.step(event, self.now)
    }

    /// A fresh line that has entries in the transcript.
    fn prints(&mut self, events: impl IntoIterator<Item = RunEvent>) -> Vec<Effect> {
        self.end += 10;
        let event = Event::Output { end: self.end, fresh: true, logged: true, events: events.into_iter().collect() };
        let effects = self.step(event);
        effects.into_iter().filter(|effect| !matches!(effect, Effect::PublishActivity(_))).collect()
    }

    fn reads(&mut self, reason: ReadReason, change: impl FnOnce(&mut StoreView)) -> Vec<Effect> {
        let mut view = StoreView {
            reason,
            stop_requested: false,
            hand_over_requested: false,
            is_emergency: false,
            interrupt: None,
            has_permission_answers: false,
            has_human_messages: false,
            unread: Unread::default(),
            card_has_moved: false,
            card_is_closed: false,
            has_asked: false,
        };
        change(&mut view);
        self.step(Event::StoreRead(view))
    }

    fn sent(&mut self, reason: ReadReason, input: Input, accepted: bool, failed: bool) -> Vec<Effect> {
        let ids = if accepted { vec![Uuid::new_v4()] } else { Vec::new() };
        self.step(Event::Sent { reason, input, ids, failed })
    }

    /// Goes to the next deadline and takes it. Heartbeats, probes and activity lines are not returned.
    fn deadline(&mut self) -> Vec<Effect> {
        self.now = self.now.max(self.state.next_deadline());
        let effects = self.step(Event::DeadlinePassed);
        effects.into_iter().filter(|effect| !matches!(effect, Effect::RecordHeartbeat | Effect::PublishActivity(_) | Effect::Probe)).collect()
    }

    /// Takes deadlines until one has an effect. Returns its effects and the seconds since the start.
    fn next_effect(&mut self) -> (Vec<Effect>, u64) {
        loop {
            let effects = self.deadline();
            if !effects.is_empty() {
                return (effects, (self.now - self.start).as_secs());
            }
        }
    }

    /// Ends a turn and takes the deadline after which it is judged.
    fn ends_turn(&mut self) {
        self.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
        assert_eq!(self.deadline(), [read(ReadReason::TurnEnd, true)]);
    }
}

fn session(status: &str) -> RunEvent {
    let board = ToolServer { name: "vibe-relay".to_owned(), connected: status == "connected", status: status.to_owned() };
    RunEvent::SessionStarted(SessionStarted { tool_servers: vec![board], ..SessionStarted::default() })
}

fn says(text: &str) -> RunEvent {
    RunEvent::Text { text: text.to_owned() }
}

fn read(reason: ReadReason, with_inbox: bool) -> Effect {
    Effect::ReadStore { reason, with_inbox }
}

fn send(reason: ReadReason, input: Input) -> Effect {
    Effect::Send { reason, input }
}

fn unread(blocking: u32, urgent: bool) -> Unread {
    Unread { count: blocking, blocking_count: blocking, urgent, ..Unread::default() }
}

#[test]
fn wake_decides_what_is_delivered() {
    type Change = fn(&mut StoreView);
    let rows: [(&str, Change, Vec<Effect>); 6] = [
        ("nothing new", |_| {}, vec![]),
        ("a stop goes first", |view| (view.stop_requested, view.has_human_messages) = (true, true), vec![Effect::Terminate]),
        (
            "the human goes before others",
            |view| {
                view.has_human_messages = true;
                view.unread = unread(1, false);
            },
            vec![send(ReadReason::Wake, Input::HumanMessages)],
        ),
        ("others interrupt", |view| view.unread = unread(1, false), vec![send(ReadReason::Wake, Input::Inbox)]),
        ("copies do not interrupt", |view| view.unread = Unread { count: 3, ..unread(0, false) }, vec![]),
        ("the card does not matter", |view| view.card_has_moved = true, vec![]),
    ];
    for (name, change, expected) in rows {
        assert_eq!(Bench::at_work().reads(ReadReason::Wake, change), expected, "{name}");
    }
}

#[test]
fn end_of_turn_decides_what_follows() {
    type Change = fn(&mut StoreView);
    let rows: [(&str, Change, Effect); 9] = [
        ("an idle agent is reminded", |_| {}, send(ReadReason::TurnEnd, Input::Reminder)),
        ("a finished agent goes", |view| view.card_has_moved = true, Effect::CloseStdin),
        ("a closed card ends it", |view| view.card_is_closed = true, Effect::CloseStdin),
        ("a question ends it", |view| view.has_asked = true, Effect::CloseStdin),
        ("a stop ends it", |view| view.stop_requested = true, Effect::CloseStdin),
        (
            "the human's messages go first",
            |view| {
                view.has_human_messages = true;
                view.unread = unread(1, true);
            },
            send(ReadReason::TurnEnd, Input::HumanMessages),
        ),
        (
            "a finished agent still gets urgent messages",
            |view| {
                (view.card_has_moved, view.has_human_messages) = (true, true);
                view.unread = unread(1, true);
            },
            send(ReadReason::TurnEnd, Input::Inbox),
        ),
        (
            "a finished agent gets no other messages",
            |view| {
                view.card_has_moved = true;
                view.unread = unread(1, false);
            },
            Effect::CloseStdin,
        ),
        ("a question goes before messages", |view| (view.has_asked, view.has_human_messages) = (true, true), Effect::CloseStdin),
    ];
    for (name, change, expected) in rows {
        let mut bench = Bench::at_work();
        bench.ends_turn();
        assert_eq!(bench.reads(ReadReason::TurnEnd, change), [expected], "{name}");
    }
}

#[test]
fn failed_turn_ends_the_run() {
    let mut bench = Bench::at_work();
    let error = RunEvent::Failed(AgentError::new(ErrorClass::BadRequest, Some(400), "no"));
    bench.prints([error, RunEvent::TurnEnded { reason: StopReason::Failed }]);
    assert_eq!(bench.deadline(), [read(ReadReason::TurnEnd, true)]);
    assert_eq!(bench.reads(ReadReason::TurnEnd, |view| view.has_human_messages = true), [Effect::CloseStdin]);
}

#[test]
fn input_without_effect_falls_through_to_the_next_one() {
    let mut bench = Bench::at_work();
    bench.ends_turn();
    let change = |view: &mut StoreView| {
        view.has_human_messages = true;
        view.unread = unread(1, true);
    };
    assert_eq!(bench.reads(ReadReason::TurnEnd, change), [send(ReadReason::TurnEnd, Input::HumanMessages)]);
    assert_eq!(bench.sent(ReadReason::TurnEnd, Input::HumanMessages, false, true), [send(ReadReason::TurnEnd, Input::Inbox)]);
    assert_eq!(bench.sent(ReadReason::TurnEnd, Input::Inbox, false, false), [send(ReadReason::TurnEnd, Input::Reminder)]);
    assert_eq!(bench.sent(ReadReason::TurnEnd, Input::Reminder, false, false), [Effect::CloseStdin]);
}

#[test]
fn agent_that_starts_no_turn_is_judged_again() {
    let mut bench = Bench::at_work();
    bench.ends_turn();
    bench.reads(ReadReason::TurnEnd, |_| {});
    assert_eq!(bench.sent(ReadReason::TurnEnd, Input::Reminder, true, false), []);
    let (effects, at) = bench.next_effect();
    assert_eq!((effects, at), (vec![read(ReadReason::TurnEnd, true)], 5));
    // A turn that starts in time cancels the check.
    bench.reads(ReadReason::TurnEnd, |_| {});
    bench.sent(ReadReason::TurnEnd, Input::Reminder, true, false);
    bench.prints([session("connected"), RunEvent::TurnStarted {}]);
    assert_eq!(bench.next_effect().0, [read(ReadReason::Wake, true)]);
}

#[test]
fn accepted_message_gives_time_to_start_its_turn() {
    let mut bench = Bench::at_work();
    let id = Uuid::new_v4();
    bench.step(Event::Sent { reason: ReadReason::Wake, input: Input::HumanMessages, ids: vec![id], failed: false });
    bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    let echo = RunEvent::MessageAccepted { id: Some(id.to_string()), text: String::new() };
    assert_eq!(bench.prints([echo]), [Effect::RecordEcho(id)]);
    let (effects, at) = bench.next_effect();
    assert_eq!((effects, at), (vec![read(ReadReason::TurnEnd, true)], 60));
}

#[test]
fn turn_with_an_unechoed_message_is_judged_later() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, |view| view.has_human_messages = true);
    bench.sent(ReadReason::Wake, Input::HumanMessages, true, false);
    bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    assert_eq!(bench.next_effect(), (vec![read(ReadReason::TurnEnd, true)], 5));
}

#[test]
fn others_interrupt_once_a_minute_and_urgent_messages_at_once() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, |view| view.unread = unread(1, false));
    assert_eq!(bench.sent(ReadReason::Wake, Input::Inbox, true, false), []);
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.unread = unread(1, false)), []);
    let urgent = bench.reads(ReadReason::Wake, |view| view.unread = unread(1, true));
    assert_eq!(urgent, [send(ReadReason::Wake, Input::Inbox)]);
    assert_eq!(bench.next_effect(), (vec![read(ReadReason::Wake, true)], 60));
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.unread = unread(1, false)), [send(ReadReason::Wake, Input::Inbox)]);
}

#[test]
fn failed_delivery_pauses_all_deliveries() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, |view| view.has_human_messages = true);
    assert_eq!(bench.sent(ReadReason::Wake, Input::HumanMessages, false, true), []);
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.unread = unread(1, true)), [], "urgent messages wait too");
    assert_eq!(bench.next_effect(), (vec![read(ReadReason::Wake, true)], 1));
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.has_human_messages = true), [send(ReadReason::Wake, Input::HumanMessages)]);
}

#[test]
fn inbox_waits_outside_of_a_turn() {
    let mut bench = Bench::new();
    assert_eq!(bench.step(Event::Woken), [read(ReadReason::Wake, false)], "the first prompt contains it");
    let mut bench = Bench::at_work();
    bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    assert_eq!(bench.step(Event::Woken), [read(ReadReason::Wake, false)], "it is about to exit");
    let mut bench = Bench::adopting(HISTORY);
    bench.prints([session("connected"), RunEvent::TurnStarted {}]);
    assert_eq!(bench.step(Event::Woken), [read(ReadReason::Wake, false)], "its history is not read yet");
    bench.end = HISTORY;
    bench.prints([says("Go on.")]);
    assert_eq!(bench.deadline(), [read(ReadReason::Wake, true)], "its history is read");
}

#[test]
fn history_repeats_no_effects() {
    let mut bench = Bench::adopting(HISTORY);
    let events = vec![session("connected"), RunEvent::TurnStarted {}, RunEvent::Context { used: Some(1), size: None }];
    let ended = RunEvent::TurnEnded { reason: StopReason::EndTurn };
    let events = [events, vec![says("Done."), ended]].concat();
    assert_eq!(bench.step(Event::Output { end: 50, fresh: false, logged: false, events }), []);
    // The next line may be a new turn, so the end is judged after a pause.
    bench.step(Event::Output { end: 60, fresh: false, logged: false, events: vec![RunEvent::TurnStarted {}] });
    assert_eq!(bench.next_effect(), (vec![read(ReadReason::Wake, false)], 0));
    assert!(bench.state.turn_check_at.is_none());
}

#[test]
fn fresh_turn_records_usage_and_confirms_the_service() {
    let mut bench = Bench::at_work();
    assert_eq!(bench.prints([RunEvent::Context { used: Some(1), size: None }]), [Effect::ConfirmService]);
    assert_eq!(bench.prints([RunEvent::Context { used: None, size: Some(9) }]), []);
    let effects = bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    assert_eq!(effects, [Effect::RecordUsage(bench.state.output.usage())]);
}

#[test]
fn agent_without_board_tools_is_terminated() {
    let mut bench = Bench::new();
    assert_eq!(bench.prints([session("failed"), RunEvent::TurnStarted {}]), [Effect::Terminate]);
    assert_eq!(bench.state.cause, EndCause::BoardUnreachable);
    // Otherwise its own probe would lift the parking.
    assert_eq!(bench.prints([RunEvent::Context { used: Some(1), size: None }]), []);
}

#[test]
fn closed_agent_is_terminated_after_a_grace() {
    let mut bench = Bench::at_work();
    bench.ends_turn();
    bench.reads(ReadReason::TurnEnd, |view| view.card_has_moved = true);
    assert_eq!(bench.next_effect(), (vec![Effect::Terminate], 5));
    assert_eq!(bench.step(Event::Terminated { delivered: false }), []);
    assert_eq!(bench.next_effect(), (vec![Effect::Terminate], 10), "a failed signal is repeated");
    bench.step(Event::Terminated { delivered: true });
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.stop_requested = true), [], "one signal is enough");
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.has_human_messages = true), [], "it gets no more messages");
}

#[test]
fn silent_agent_is_terminated_once() {
    let mut bench = Bench::at_work();
    let (effects, at) = bench.next_effect();
    assert_eq!((effects, at), (vec![Effect::Terminate], 65 * 60));
    assert_eq!(bench.state.cause, EndCause::Unresponsive { silent_for: OUTPUT_TIMEOUT });
    bench.step(Event::Terminated { delivered: true });
    assert!(bench.state.armed_output_timeout().is_none());
    let mut bench = Bench::at_work();
    bench.now += OUTPUT_TIMEOUT - Duration::from_secs(1);
    bench.prints([says("Still here.")]);
    assert_eq!(bench.next_effect().1, 2 * 65 * 60 - 1, "output resets the timeout");
}

#[test]
fn heartbeat_comes_at_once_and_every_minute() {
    let mut bench = Bench::new();
    let mut beats = Vec::new();
    while beats.len() < 3 {
        bench.now = bench.now.max(bench.state.next_deadline());
        if bench.step(Event::DeadlinePassed).contains(&Effect::RecordHeartbeat) {
            beats.push((bench.now - bench.start).as_secs());
        }
    }
    assert_eq!(beats, [0, 60, 120]);
}

#[test]
fn activity_is_published_at_most_once_a_second() {
    let mut bench = Bench::new();
    let output = |bench: &mut Bench, events: Vec<RunEvent>, logged| {
        bench.end += 1;
        bench.step(Event::Output { end: bench.end, fresh: true, logged, events })
    };
    let publish = |line: &str| vec![Effect::PublishActivity(line.to_owned())];
    assert_eq!(output(&mut bench, vec![says("a")], true), publish("says: a"));
    assert_eq!(output(&mut bench, vec![says("b")], true), []);
    assert_eq!(output(&mut bench, vec![says("c")], true), []);
    bench.now += Duration::from_secs(1);
    assert!(bench.state.next_deadline() <= bench.now);
    assert!(bench.step(Event::DeadlinePassed).contains(&publish("says: c")[0]), "only the last line is published");
    bench.now += Duration::from_secs(1);
    let ended = RunEvent::ToolEnded { id: "t".to_owned(), ok: true, output: "ok".to_owned() };
    assert_eq!(output(&mut bench, vec![ended], true), publish("says: c"), "an entry without a line wakes open logs");
    bench.now += Duration::from_secs(1);
    assert_eq!(output(&mut bench, vec![RunEvent::TurnStarted {}], false), [], "nothing is new");
}
