//! The companion of a person at the tools: it edits, holds, starts, steers and waits, makes no decisions, and finds the project of its folder.

use db::Caller;
use domain::id::TaskId;
use domain::wire::NewProject;
use serde_json::{Value, json};

use super::bridge::open;
use super::fixture::{Board, Era, done, refused};
use crate::BridgeOptions;
use crate::tools::{self, definition::Effect};

impl Board {
    async fn companion(&self) -> String {
        self.db.create_companion_token(&Caller::owner()).await.unwrap()
    }
}

#[tokio::test]
async fn companion_is_listed_every_tool_of_its_person_but_decisions() {
    let board = Board::new().await;
    let server = board.serve().await;
    let names = async |token: &str| -> Vec<String> {
        let tools = server.modern(token).await.list_tools(None).await.unwrap().tools;
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    };
    let (own, companion) = (names(super::fixture::PERSON).await, names(&board.companion().await).await);
    let withheld: Vec<&String> = own.iter().filter(|name| !companion.contains(name)).collect();
    assert_eq!(withheld, ["approve_task", "close_task", "complete_task", "verify_goal", "verify_task"]);
    assert!(withheld.iter().all(|name| tools::definition(name).unwrap().effect == Effect::Decides));
    assert!(["wait_for", "edit_task", "hold_task", "start_task", "steer_task"].iter().all(|name| companion.iter().any(|own| own == name)));
}

#[tokio::test]
async fn decision_is_refused_with_the_reason() {
    let board = Board::new().await;
    let (coder, _, _) = board.reviewer().await;
    let client = board.serve().await.modern(&board.companion().await).await;
    let text = refused(&client, "approve_task", json!({"task_id": coder.task})).await;
    assert!(text.contains("calling approve_task is reserved for the person, and this is the token of their companion"), "{text}");
    assert!(text.contains("Next: Tell the person what must be decided. They do it on the board."), "{text}");
    // A tool that also makes other moves is refused by the store.
    let moved = refused(&client, "update_task_status", json!({"task_id": coder.task, "status": "done"})).await;
    assert!(moved.contains("approving and finishing tasks is reserved for the person"), "{moved}");
}

#[tokio::test]
async fn companion_edits_steers_holds_and_starts_a_task() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let client = board.serve().await.modern(&board.companion().await).await;
    let edited = done(&client, "edit_task", json!({"task_id": coder.task, "title": "Add two pages", "priority": 3})).await;
    assert!(edited.text.contains("Add two pages") && edited.text.ends_with("It was edited."), "{}", edited.text);

    let steered = done(&client, "steer_task", json!({"task_id": coder.task, "message": "Use the old layout"})).await;
    assert!(steered.text.ends_with("Its agent reads the message after its current step."), "{}", steered.text);
    let queued: Vec<String> = board.db.undelivered(&coder.run.run.id).await.unwrap().into_iter().map(|message| message.content).collect();
    assert_eq!(queued, ["Use the old layout"]);
    let interrupted = done(&client, "steer_task", json!({"task_id": coder.task, "message": "Stop that", "interrupt": true})).await;
    assert!(interrupted.text.ends_with("Its agent is interrupted, and continues with the message."), "{}", interrupted.text);

    let held = done(&client, "hold_task", json!({"task_id": coder.task})).await;
    assert!(held.text.ends_with("It is held. Call start_task to let agents continue."), "{}", held.text);
    board.end(&coder.run).await;
    let told = done(&client, "steer_task", json!({"task_id": coder.task, "message": "Read NOTES.md first"})).await;
    assert!(told.text.ends_with("The next one reads the message as a comment."), "{}", told.text);
    assert_eq!(board.db.comments(&coder.task).await.unwrap().last().unwrap().content, "Read NOTES.md first");
    done(&client, "start_task", json!({"task_id": coder.task})).await;
    assert_eq!(board.db.card(&coder.task).await.unwrap().held_by, None);
}

#[tokio::test]
async fn wait_ends_with_the_state_the_need_of_a_person_or_the_time() {
    let board = Board::new().await;
    let (coder, _, _) = board.reviewer().await;
    let client = board.serve().await.modern(&board.companion().await).await;
    let at_once = done(&client, "wait_for", json!({"task_id": coder.task, "until": "review"})).await;
    assert_eq!((at_once.data["met"].as_bool(), at_once.data["timed_out"].as_bool()), (Some(true), Some(false)));
    let late = done(&client, "wait_for", json!({"task_id": coder.task, "timeout_seconds": 1})).await;
    assert_eq!((late.data["met"].as_bool(), late.data["timed_out"].as_bool()), (Some(false), Some(true)));
    assert!(late.text.ends_with("The time is up. Call wait_for again to keep waiting."), "{}", late.text);

    let waiting = done(&client, "wait_for", json!({"task_id": coder.task, "until": "change"}));
    // Only a change after the call has begun ends it, so changes follow until it has ended.
    let changing = async {
        loop {
            board.db.stop_task(&Caller::owner(), &coder.task).await.unwrap();
            board.db.start_task(&Caller::owner(), &coder.task).await.unwrap();
        }
    };
    let waited = tokio::select! { waited = waiting => waited, () = changing => unreachable!("the changes do not end") };
    assert_eq!(waited.data["met"], Value::Bool(true), "{}", waited.text);

    let out_of_range = refused(&client, "wait_for", json!({"task_id": coder.task, "timeout_seconds": 101})).await;
    assert!(out_of_range.contains("Give 1 to 100, and call it again if the time is up."), "{out_of_range}");
    assert!(refused(&client, "wait_for", json!({"task_id": TaskId::new(99)})).await.contains("TASK-099 does not exist"));
}

#[tokio::test]
async fn task_begins_at_a_branch_that_exists() {
    let board = Board::new().await;
    let client = board.serve().await.modern(&board.companion().await).await;
    let missing = refused(&client, "create_task", json!({"title": "Continue", "from_branch": "my-idea"})).await;
    assert!(missing.contains("the repository has no local branch my-idea"), "{missing}");
    let repository = board.sample.repository();
    let tip = repository.ref_sha("main").unwrap().unwrap();
    repository.move_ref("my-idea", None, &tip, "made by a test").unwrap();
    done(&client, "create_task", json!({"title": "Continue", "from_branch": "my-idea"})).await;
    assert_eq!(board.db.task(&TaskId::new(2)).await.unwrap().from_branch.as_deref(), Some("my-idea"));
}

#[tokio::test]
async fn folder_of_the_client_chooses_among_projects() {
    let board = Board::new().await;
    let other = repo::testing::TestRepository::new();
    let second = NewProject { title: "A second shop".to_owned(), ..NewProject::default() };
    let second = board.db.create_project(&Caller::owner(), second, repo::probe(other.top(), None).unwrap()).await.unwrap();
    board.announce(&board.serve().await);
    let token = board.companion().await;
    let board_seen_from = async |git_dir: Option<String>| {
        let (client, _bridge) = open(BridgeOptions { git_dir, structured: true, ..board.options(Some(&token)) }, Era::Modern).await;
        super::fixture::call(&client, "get_board", json!({})).await
    };
    let ours = board_seen_from(Some(second.git_dir.clone())).await;
    assert!(ours.text.starts_with("PROJ-002 A second shop"), "{}", ours.text);
    let elsewhere = board_seen_from(Some("/nonexistent/.git".to_owned())).await;
    assert!(elsewhere.is_error && elsewhere.text.contains("it is missing, and there are PROJ-001, PROJ-002"), "{}", elsewhere.text);
}
