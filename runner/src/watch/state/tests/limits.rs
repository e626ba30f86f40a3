//! Usage that is recorded while the agent works, and an agent at a limit: it hands over, or is terminated.

use domain::runs::run_event::RequestUsage;
use domain::runs::usage::Tokens;

use super::*;
use crate::watch::hand_over::REQUESTS;

#[test]
fn agent_at_a_limit_hands_over_and_ends_after_its_turn() {
    let mut bench = Bench::at_work();
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.hand_over_requested = true), [send(ReadReason::Wake, Input::HandOver)]);
    let id = Uuid::new_v4();
    bench.step(Event::Sent { reason: ReadReason::Wake, input: Input::HandOver, ids: vec![id], failed: false });
    assert_eq!(bench.reads(ReadReason::Wake, |view| view.hand_over_requested = true), [], "it is told once");
    bench.prints([RunEvent::MessageAccepted { id: Some(id.to_string()), text: String::new() }]);
    bench.ends_turn();
    assert_eq!(bench.reads(ReadReason::TurnEnd, |view| view.hand_over_requested = true), [Effect::CloseStdin], "it is not reminded");
}

#[test]
fn agent_that_does_not_hand_over_is_terminated_in_time() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, |view| view.hand_over_requested = true);
    assert_eq!(bench.next_effect(), (vec![Effect::Terminate], 300));
    bench.step(Event::Terminated { delivered: true });
    assert_eq!(bench.state.hand_over_at(), None);
}

#[test]
fn agent_that_does_not_hand_over_is_terminated_after_some_requests() {
    let mut bench = Bench::at_work();
    bench.reads(ReadReason::Wake, |view| view.hand_over_requested = true);
    let request = |number: i64| {
        let (id, model) = (number.to_string(), "m".to_owned());
        RunEvent::Request(RequestUsage { id, model, is_main: true, tokens: Tokens::default(), part: 0 })
    };
    for number in 1..REQUESTS {
        assert!(!bench.prints([request(number)]).contains(&Effect::Terminate), "request {number}");
    }
    assert!(bench.prints([request(REQUESTS)]).contains(&Effect::Terminate));
}

#[test]
fn usage_is_recorded_at_intervals_and_at_once_after_a_turn() {
    let mut bench = Bench::at_work();
    let request = |id: &str| {
        let tokens = Tokens { input: 10, ..Tokens::default() };
        RunEvent::Request(RequestUsage { id: id.to_owned(), model: "m".to_owned(), is_main: true, tokens, part: 0 })
    };
    let recorded = |bench: &Bench| Effect::RecordUsage(bench.state.output.usage());
    assert_eq!(bench.prints([request("a")]), [recorded(&bench)]);
    assert_eq!(bench.prints([request("b")]), []);
    assert_eq!(bench.prints([request("c")]), []);
    let (effects, at) = bench.next_effect();
    assert_eq!((effects, at), (vec![recorded(&bench)], 10));
    assert_eq!(bench.state.output.usage().turns, 3);
    for id in ["d", "e", "f", "g"] {
        assert_eq!(bench.prints([request(id)]), []);
    }
    assert_eq!(bench.prints([request("h")]), [recorded(&bench)], "many requests do not wait");
    bench.prints([request("i")]);
    assert_eq!(bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]), [recorded(&bench)]);
}

#[test]
fn adopted_run_records_usage_once_its_history_is_read() {
    let mut bench = Bench::adopting(HISTORY);
    let request = RequestUsage { id: "a".to_owned(), model: "m".to_owned(), is_main: true, tokens: Tokens::default(), part: 0 };
    let output = |end| Event::Output { end, fresh: false, logged: false, events: vec![RunEvent::Request(request.clone())] };
    assert_eq!(bench.step(output(50)), []);
    assert_eq!(bench.step(output(HISTORY)), [Effect::RecordUsage(bench.state.output.usage())]);
}
