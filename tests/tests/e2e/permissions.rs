//! An agent that has to ask: each use of a tool that changes something waits for the person, across a restart of the server.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::failure::EndClass;
use domain::runs::permission::{PermissionEvent, PermissionMode, PermissionRequest};
use serde_json::{Value, json};
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = r#"{"parts": [
  {"phase": "coder", "turns": [
    {"text": "I look.", "calls": [{"tool": "Read", "input": {"file_path": "{{worktree}}/README.md"}}]},
    {"calls": [{"tool": "Bash", "input": {"command": "touch secret.txt"}}]},
    {"calls": [{"tool": "Write", "input": {"file_path": "{{worktree}}/one.txt", "content": "1"}}]},
    {"calls": [{"tool": "Write", "input": {"file_path": "{{worktree}}/two.txt", "content": "2"}}]},
    {"calls": [{"tool": "Bash", "input": {"command": "git add -A && git commit -q -m Work"}}]},
    {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}}]},
    {"text": "Done."}
  ]},
  {"phase": "reviewer", "turns": [
    {"calls": [{"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}}]},
    {"text": "Approved."}
  ]}
]}"#;

/// Waits until the card asks for a permission, and returns the request.
async fn asked(server: &TestServer, project: &ProjectId, task: &TaskId, input: &str) -> PermissionRequest {
    let asks = |card: &Card| card.attention.as_ref().is_some_and(|asked| asked.kind == AttentionKind::Permission && asked.detail.contains(input));
    server.until(project, &format!("the card asks for {input}"), |board: &Board| board.card(task).is_some_and(asks)).await;
    server.task(task).await.unwrap().permissions.remove(0)
}

async fn answer(server: &TestServer, asked: &PermissionRequest, mut decision: Value) {
    decision["request"] = json!(asked.id);
    let _: PermissionRequest = server.post(&format!("/api/runs/{}/permission", asked.run_id), &decision).await.unwrap();
}

#[tokio::test]
async fn real_agent_waits_for_the_person_before_it_changes_something() {
    let (mut server, model) = support::real_with(SCENARIO, |options, _| options.config.agents.coder.permission_mode = PermissionMode::Ask).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Careful errand").await;
    asked(&server, &project, &task, "Bash: touch secret.txt").await;
    server.kill().await.unwrap();
    server.serve().await.unwrap();
    let first = asked(&server, &project, &task, "Bash: touch secret.txt").await;
    answer(&server, &first, json!({"answer": "deny", "reason": "No secrets here."})).await;
    let second = asked(&server, &project, &task, "Write").await;
    assert!(second.input.contains("one.txt") && second.rule.is_some(), "{second:?}");
    answer(&server, &second, json!({"answer": "always"})).await;
    let third = asked(&server, &project, &task, "git add -A").await;
    assert_eq!(third.run_id, first.run_id, "nothing ended meanwhile");
    answer(&server, &third, json!({"answer": "allow"})).await;
    done(&server, &project, &task).await;

    let files = git(&server.repository(), &["ls-tree", "--name-only", &format!("vibe-relay/{project}")]).unwrap();
    assert_eq!(files.lines().collect::<Vec<_>>(), ["CLAUDE.md", "README.md", "one.txt", "two.txt"]);
    assert!(model.requests_of("coder").iter().any(|request| request.text().contains("They say: No secrets here.")), "the model reads the reason");
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(runs.iter().map(|run| run.end_class).collect::<Vec<_>>(), [Some(EndClass::Finished); 2], "no attempt was used");
    let taken = PermissionEvent::Closed { request: 4 };
    support::happens(&server, &project, &Event::from(taken)).await;
}
