//! An agent that does not work: what its card says, and when it is ended.

use domain::runs::run_event::{ToolCall, ToolKind};

use super::*;

#[test]
fn agent_without_a_sign_of_work_is_shown_and_ended() {
    let probe = |bench: &mut Bench| {
        bench.now = bench.state.condition.probe_at();
        assert!(bench.step(Event::DeadlinePassed).contains(&Effect::Probe));
        bench.step(Event::Probed { cpu: Some(Duration::ZERO) })
    };
    let mut bench = Bench::at_work();
    let mut effects = Vec::new();
    while effects.is_empty() {
        effects = probe(&mut bench);
    }
    assert!(matches!(effects[..], [Effect::ShowCondition(Some(Condition::Quiet { .. }))]), "{effects:?}");
    assert!(bench.prints([says("I am back.")]).contains(&Effect::ShowCondition(None)));

    let call = ToolCall {
        id: "t".to_owned(),
        kind: ToolKind::Execute,
        name: "Bash".to_owned(),
        title: String::new(),
        locations: Vec::new(),
        input: serde_json::Value::Null,
        edits: Vec::new(),
    };
    bench.prints([RunEvent::ToolStarted(call)]);
    for _ in 0..60 {
        assert_eq!(probe(&mut bench), [], "its tool is at work");
    }
    bench.prints([RunEvent::ToolEnded { id: "t".to_owned(), ok: true, output: String::new() }]);
    let mut effects = Vec::new();
    while !effects.contains(&Effect::Terminate) {
        effects = probe(&mut bench);
    }
    assert_eq!(bench.state.cause, EndCause::Unresponsive { silent_for: STALL_TIMEOUT });
    bench.step(Event::Terminated { delivered: true });
    assert_eq!(bench.state.probe_at(), None, "it is about to exit");
}

#[test]
fn conditions_of_the_past_are_not_shown() {
    let mut bench = Bench::adopting(HISTORY);
    let retrying = || RunEvent::Retrying { status: Some(529), attempt: 2, limit: None, delay_ms: 1, message: "overloaded".to_owned() };
    assert!(!bench.prints([retrying()]).iter().any(|effect| matches!(effect, Effect::ShowCondition(_))));
    bench.end = HISTORY;
    assert!(bench.prints([retrying()]).contains(&Effect::ShowCondition(Some(Condition::RetryingService { detail: "529 overloaded".to_owned() }))));
}
