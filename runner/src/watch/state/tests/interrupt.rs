//! An interrupt: sent until it is confirmed, followed by the person's message or by a wait that does not count as silence.

use super::*;

fn interrupted(view: &mut StoreView) {
    view.interrupt = Some("one".to_owned());
}

fn taken() -> RunEvent {
    RunEvent::InterruptTaken { id: "one".to_owned() }
}

const SEND: Effect = Effect::Send { reason: ReadReason::Wake, input: Input::Interrupt };
const MESSAGES: Effect = Effect::Send { reason: ReadReason::Wake, input: Input::HumanMessages };

impl Bench {
    /// The agent is interrupted in its turn, which then ends.
    fn interrupted() -> Self {
        let mut bench = Self::at_work();
        assert_eq!(bench.reads(ReadReason::Wake, interrupted), [SEND]);
        bench.sent(ReadReason::Wake, Input::Interrupt, false, false);
        bench.prints([taken()]);
        bench.prints([RunEvent::TurnEnded { reason: StopReason::Cancelled }]);
        assert_eq!(bench.deadline(), [read(ReadReason::TurnEnd, true)]);
        bench
    }
}

#[test]
fn interrupt_is_sent_once_and_messages_wait_for_its_end() {
    let mut bench = Bench::at_work();
    let with_message = |view: &mut StoreView| {
        interrupted(view);
        view.has_human_messages = true;
    };
    assert_eq!(bench.reads(ReadReason::Wake, with_message), [SEND]);
    bench.sent(ReadReason::Wake, Input::Interrupt, false, false);
    assert_eq!(bench.reads(ReadReason::Wake, with_message), [], "it is not confirmed yet");
    bench.prints([taken()]);
    bench.prints([RunEvent::TurnEnded { reason: StopReason::Cancelled }]);
    assert_eq!(bench.deadline(), [read(ReadReason::TurnEnd, true)]);
    assert_eq!(bench.reads(ReadReason::TurnEnd, with_message), [MESSAGES], "the turn that was ended is not a failure");
    bench.sent(ReadReason::Wake, Input::HumanMessages, true, false);
    assert_eq!(bench.prints([RunEvent::TurnStarted {}]), [Effect::EndInterrupt("one".to_owned())]);
    bench.deadline();
    bench.reads(ReadReason::Wake, |_| {});
    bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    assert_eq!(bench.next_effect().0, [read(ReadReason::TurnEnd, true)]);
    assert_eq!(bench.reads(ReadReason::TurnEnd, |_| {}), [send(ReadReason::TurnEnd, Input::Reminder)], "as after any turn");
}

#[test]
fn interrupt_that_was_not_delivered_is_sent_again() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, interrupted);
    bench.sent(ReadReason::Wake, Input::Interrupt, false, true);
    assert_eq!(bench.next_effect().0, [read(ReadReason::Wake, true)]);
    assert_eq!(bench.reads(ReadReason::Wake, interrupted), [SEND]);
}

#[test]
fn agent_that_did_not_begin_is_interrupted_in_its_first_turn() {
    let mut bench = Bench::new();
    assert_eq!(bench.reads(ReadReason::Wake, interrupted), []);
    bench.prints([session("connected"), RunEvent::TurnStarted {}]);
    assert_eq!(bench.deadline(), [read(ReadReason::Wake, true)]);
    assert_eq!(bench.reads(ReadReason::Wake, interrupted), [SEND]);
}

#[test]
fn turn_that_ends_by_itself_is_interrupted_before_a_message() {
    let mut bench = Bench::at_work();
    bench.ends_turn();
    assert_eq!(bench.reads(ReadReason::TurnEnd, interrupted), [SEND], "the next turn must not be interrupted");
    bench.sent(ReadReason::Wake, Input::Interrupt, false, false);
    bench.prints([taken()]);
    assert_eq!(bench.deadline(), [read(ReadReason::TurnEnd, true)]);
    assert_eq!(bench.reads(ReadReason::TurnEnd, interrupted), [], "it waits and is not reminded");
}

#[test]
fn waiting_agent_is_not_silent_and_ends_after_the_stall_limit() {
    let mut bench = Bench::interrupted();
    assert_eq!(bench.reads(ReadReason::TurnEnd, interrupted), []);
    let waits_since = bench.now;
    let effects = loop {
        let effects = bench.deadline();
        let probed = bench.step(Event::Probed { cpu: Some(Duration::ZERO) });
        assert_eq!(probed, [], "nothing is shown, and it is not ended");
        if !effects.is_empty() {
            break effects;
        }
    };
    assert_eq!((effects, bench.now - waits_since), (vec![Effect::CloseStdin], STALL_TIMEOUT));
    assert_eq!(bench.state.into_result().1, EndCause::AgentExited);
}

#[test]
fn waiting_agent_ends_when_its_work_is_over() {
    type Change = fn(&mut StoreView);
    let rows: [(&str, Change); 4] = [
        ("stopped", |view| view.stop_requested = true),
        ("its card is closed", |view| view.card_is_closed = true),
        ("it moved its card before", |view| view.card_has_moved = true),
        ("a limit is reached", |view| view.hand_over_requested = true),
    ];
    for (name, change) in rows {
        let mut bench = Bench::interrupted();
        let view = |view: &mut StoreView| {
            interrupted(view);
            change(view);
        };
        assert_eq!(bench.reads(ReadReason::TurnEnd, view), [Effect::CloseStdin], "{name}");
    }
    let mut bench = Bench::interrupted();
    bench.reads(ReadReason::TurnEnd, interrupted);
    let limited = |view: &mut StoreView| {
        interrupted(view);
        view.hand_over_requested = true;
    };
    assert_eq!(bench.reads(ReadReason::Wake, limited), [Effect::CloseStdin], "a limit that is reached meanwhile starts no turn");
}

#[test]
fn adopted_run_continues_to_wait_and_does_not_repeat_a_confirmed_interrupt() {
    let mut bench = Bench::adopting(30);
    bench.prints([session("connected"), RunEvent::TurnStarted {}]);
    bench.prints([taken()]);
    bench.prints([RunEvent::TurnEnded { reason: StopReason::Cancelled }]);
    assert_eq!(bench.deadline(), [read(ReadReason::Wake, false)]);
    assert_eq!(bench.reads(ReadReason::Wake, interrupted), []);
    assert_eq!(bench.deadline(), [read(ReadReason::TurnEnd, true)]);
    assert_eq!(bench.reads(ReadReason::TurnEnd, interrupted), []);
    let written = |view: &mut StoreView| {
        interrupted(view);
        view.has_human_messages = true;
    };
    assert_eq!(bench.reads(ReadReason::Wake, written), [MESSAGES]);
}
