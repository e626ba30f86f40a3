//! Permission requests: recorded, answered before anything else is sent, and no silence while the agent waits.

use domain::runs::run_event::{ToolCall, ToolKind};
use serde_json::json;

use super::*;

fn call() -> ToolCall {
    let input = json!({"command": "ls"});
    ToolCall {
        id: "t".to_owned(),
        kind: ToolKind::Execute,
        name: "Bash".to_owned(),
        title: "ls".to_owned(),
        locations: Vec::new(),
        input,
        edits: Vec::new(),
    }
}

fn asked() -> RunEvent {
    RunEvent::PermissionAsked { id: "one".to_owned(), call: call(), options: Vec::new() }
}

#[test]
fn request_is_recorded_and_closed_with_its_answer() {
    let mut bench = Bench::at_work();
    assert_eq!(bench.prints([asked()]), [Effect::AskPermission { id: "one".to_owned(), call: call() }]);
    assert_eq!(bench.prints([RunEvent::PermissionClosed { id: "one".to_owned() }]), [Effect::ClosePermission("one".to_owned())]);
    bench.prints([asked()]);
    let ended = bench.prints([RunEvent::TurnEnded { reason: StopReason::EndTurn }]);
    assert!(ended.contains(&Effect::ClosePermission("one".to_owned())), "the program waits for no answer: {ended:?}");
}

#[test]
fn answer_goes_before_an_interrupt_and_messages() {
    let mut bench = Bench::at_work();
    let answered = |view: &mut StoreView| {
        view.has_permission_answers = true;
        view.has_human_messages = true;
        view.interrupt = Some("i".to_owned());
    };
    assert_eq!(bench.reads(ReadReason::Wake, answered), [send(ReadReason::Wake, Input::PermissionAnswers)]);
    bench.sent(ReadReason::Wake, Input::PermissionAnswers, false, false);
    assert_eq!(bench.deadline(), [read(ReadReason::Wake, true)], "for what else is to be sent");
    bench.reads(ReadReason::Wake, answered);
    bench.sent(ReadReason::Wake, Input::PermissionAnswers, false, true);
    assert_eq!(bench.deadline(), [read(ReadReason::Wake, true)]);
    assert!(bench.now > bench.start, "a failed delivery is repeated after a pause");
}

#[test]
fn agent_that_waits_for_an_answer_is_not_silent() {
    let mut bench = Bench::at_work();
    bench.prints([asked()]);
    for _ in 0..400 {
        assert_eq!(bench.deadline(), []);
        assert_eq!(bench.step(Event::Probed { cpu: Some(Duration::ZERO) }), []);
    }
    assert!((bench.now - bench.start) > OUTPUT_TIMEOUT);
    bench.prints([RunEvent::PermissionClosed { id: "one".to_owned() }]);
    let (effects, _) = bench.next_effect();
    assert_eq!(effects, [Effect::Terminate], "it printed nothing since, and no tool is at work");
}
