//! A managed expert: started by the first question, continued in its session by the second, and not started for one that it has answered.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::sandbox::SandboxTier;
use domain::warroom::oracle::{OracleQuestion, OracleUse};
use domain::warroom::zone::Zone;
use domain::wire::List;
use serde_json::{Value, json};

use crate::jail::jail;
use crate::support::{self, add, bash, done, open, reached, tool};

const FIRST: &str = "Who frees the buffer?";
const SECOND: &str = "What breaks without it?";
/// The numbers that the second question can have. The prompt shows it, and a scenario cannot read it.
const NUMBERS: std::ops::Range<i64> = 1..30;

fn asked(question: &str) -> Value {
    tool("I ask the expert.", "mcp__vibe-relay__ask_oracle", &json!({"zone": "src/audio/mix.rs", "question": question}))
}

/// The coder asks twice, and once more what it asked first. The expert says its first answer, and sends its second.
fn scenario() -> String {
    let keep = |result: usize| format!("{{{{result.{result}.text}}}}\n");
    let write = json!({"text": "I write down what it said.", "calls": [
        {"tool": "Write", "input": {"file_path": "{{worktree}}/first.txt", "content": keep(0)}},
        {"tool": "Write", "input": {"file_path": "{{worktree}}/second.txt", "content": keep(2)}},
        {"tool": "Write", "input": {"file_path": "{{worktree}}/again.txt", "content": keep(3)}},
    ]});
    let commit = bash("I commit.", "git add -A && git commit -q -m 'Write down the answers'");
    let submit = |status: &str| tool("Done.", "mcp__vibe-relay__update_task_status", &json!({"task_id": "{{task_id}}", "status": status}));
    let gate = bash("I wait until the expert has ended.", "touch ../../../asked.reached; until [ -e ../../../asked.open ]; do sleep 0.1; done");
    let coder = json!({"phase": "coder", "turns": [asked(FIRST), gate, asked(SECOND), asked(" who frees  THE buffer"), write, commit, submit("in_review"), {"text": "I stop."}]});
    let read = tool("I read.", "Read", &json!({"file_path": "{{worktree}}/README.md"}));
    let first = json!({"phase": "oracle", "sees": "Who frees the buffer", "turns": [read, {"text": "The mixer frees it, in src/audio/mix.rs:3."}]});
    let second = NUMBERS.map(|number| {
        let answer = json!({"to_agent": "coder-TASK-001", "message": "The mixer leaks.", "reply_to": number});
        let send = tool("I answer.", "mcp__vibe-relay__send", &answer);
        json!({"phase": "oracle", "sees": format!(r"\[#{number} coder-TASK-001 [^\]]*\] What breaks"), "turns": [send, {"text": "I have answered."}]})
    });
    let reviewer = json!({"phase": "reviewer", "turns": [submit("done"), {"text": "I stop."}]});
    let parts: Vec<Value> = std::iter::once(coder).chain([first]).chain(second).chain([reviewer]).collect();
    json!({"parts": parts}).to_string()
}

#[tokio::test]
async fn managed_expert_answers_in_one_session_and_then_from_its_notes() {
    let (server, model) = support::real(&scenario()).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let zones = format!("/api/projects/{project}/zones");
    let zone = json!({"name": "audio", "paths": ["src/audio/"], "oracle": "managed"});
    let set: Zone = server.put(&zones, &zone).await.unwrap();
    assert_eq!(set.oracle.as_deref(), Some("managed"));
    let task = add(&server, &project, "Write down who frees the buffer").await;

    reached(&server, "asked").await;
    let is_idle = |card: &Card| card.phase == AgentKind::Oracle && card.status == Status::Done && card.run.is_none();
    let oracle = server.until(&project, "the expert has ended", |board| board.cards.iter().any(is_idle)).await;
    let oracle = oracle.cards.into_iter().find(is_idle).unwrap().id;
    assert_eq!(server.runs(&oracle).await.unwrap().len(), 1);
    open(&server, "asked");
    done(&server, &project, &task).await;

    // The second run went on in the session of the first, and the third question needed none.
    let runs = server.runs(&oracle).await.unwrap();
    let [one, two] = runs.as_slice() else { panic!("{runs:?}") };
    assert_eq!((one.end_class, two.end_class), (Some(EndClass::Finished), Some(EndClass::Finished)), "{:?} {:?}", one.error, two.error);
    assert!(one.session_id.is_some() && one.session_id == two.session_id, "{runs:?}");
    let last = model.requests_of("oracle").into_iter().last().unwrap();
    let text = last.text();
    assert!(text.contains(FIRST) && text.contains("Zone: audio") && text.contains(SECOND), "the session has both questions: {text}");
    let tools: Vec<&str> = last.body["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    let written = tools.iter().filter(|tool| ["Bash", "Edit", "Write", "NotebookEdit", "Agent"].contains(tool)).count();
    assert!(written == 0 && tools.contains(&"Read") && tools.contains(&"mcp__vibe-relay__send"), "{tools:?}");

    let file = |name: &str| tests::git::git(&server.repository(), &["show", &format!("vibe-relay/{project}:{name}")]).unwrap();
    assert!(file("first.txt").contains("The mixer frees it, in src/audio/mix.rs:3."), "{}", file("first.txt"));
    assert!(file("second.txt").contains("The mixer leaks."), "{}", file("second.txt"));
    assert!(file("again.txt").contains("from its notes of ") && file("again.txt").contains("The mixer frees it"), "{}", file("again.txt"));

    let asked: List<OracleQuestion> = server.get(&format!("/api/projects/{project}/oracle-questions")).await.unwrap();
    let noted: Vec<bool> = asked.items.iter().map(|question| question.answer.as_ref().unwrap().noted_at.is_some()).collect();
    assert_eq!(noted, [true, false, false], "newest first");
    let used: List<OracleUse> = server.get(&format!("/api/projects/{project}/oracle-use")).await.unwrap();
    let [used] = used.items.as_slice() else { panic!("{used:?}") };
    assert_eq!((used.questions, used.answers, used.from_notes, used.task_id.as_ref()), (3, 3, 1, Some(&oracle)));
    let consumed: i64 = runs.iter().map(|run| run.cost_micro_usd).sum();
    assert!(consumed > 0 && used.cost_micro_usd == consumed && used.tokens > 0 && used.context_tokens > 0, "{used:?}");
}

#[tokio::test]
async fn expert_in_a_jail_continues_its_session() {
    let read = tool("I read.", "Read", &json!({"file_path": "{{worktree}}/README.md"}));
    let parts = json!({"parts": [
        {"phase": "oracle", "attempt": 1, "turns": [read, {"text": "It is a test."}]},
        {"phase": "oracle", "attempt": 2, "turns": [{"text": "It still is."}]},
    ]});
    let (server, _model) = support::real_with(&parts.to_string(), |options, _| jail(options, SandboxTier::Jail)).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let zone = json!({"name": "texts", "paths": ["*.md"], "oracle": "managed"});
    let _: Zone = server.put(&format!("/api/projects/{project}/zones"), &zone).await.unwrap();
    let questions = format!("/api/projects/{project}/oracle-questions");
    let mut tasks = Vec::new();
    for (question, answer) in [("What is this?", "It is a test."), ("And now?", "It still is.")] {
        let _: List<OracleQuestion> = server.post(&questions, &json!({"zones": ["texts"], "question": question})).await.unwrap();
        let idle = |card: &Card| card.phase == AgentKind::Oracle && card.status == Status::Done && card.run.is_none();
        let board = server.until(&project, "the expert has ended", |board| board.cards.iter().any(idle)).await;
        tasks.extend(board.cards.into_iter().filter(idle).map(|card| card.id));
        let asked: List<OracleQuestion> = server.get(&questions).await.unwrap();
        assert_eq!(asked.items[0].answer.as_ref().map(|answer| answer.text.as_str()), Some(answer));
    }
    let runs = server.runs(&tasks[0]).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.sandbox).collect::<Vec<_>>(), [SandboxTier::Jail; 2]);
    assert!(runs[0].session_id.is_some() && runs[0].session_id == runs[1].session_id && tasks[0] == tasks[1], "{runs:?}");
}
