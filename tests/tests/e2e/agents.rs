//! Agents that talk: two that the board runs, and clients from outside with tokens of the person's making.

use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::team::message::Message;
use domain::wire::{List, TaskView};
use serde_json::{Value, json};
use tests::crowd::{Crowd, Door};
use tests::mcp;
use tests::relay::Relay;

use crate::scene::{self, add, done, open, reached};

const SCENARIO: &str = include_str!("../../scenarios/agents.json");

#[tokio::test]
async fn a_coder_asks_another_and_the_answer_reaches_it_while_it_works() {
    let (relay, model) = scene::real(SCENARIO).await;
    let project = relay.project("Ports", None).await.unwrap().id;
    let mara = token(&relay, &project, "mara", &["lead"]).await;
    let ole = token(&relay, &project, "ole", &["tester"]).await;
    let asks = add(&relay, &project, "Ask for the port").await;
    let answers = add(&relay, &project, "Answer what is asked").await;
    for gate in ["asker", "answerer"] {
        reached(&relay, gate).await;
    }

    let who: Vec<Value> = serde_json::from_str(&text(&relay, &mara, "who", json!({})).await).unwrap();
    let names: Vec<&str> = who.iter().filter_map(|agent| agent["name"].as_str()).collect();
    assert_eq!(names, ["coder-TASK-001", "coder-TASK-002", "mara", "ole"]);
    let coder = who.iter().find(|agent| agent["name"] == "coder-TASK-001").unwrap();
    assert_eq!((&coder["health"], &coder["current_task"]), (&json!("healthy"), &json!(asks)), "{coder}");

    text(&relay, &mara, "send", json!({"to_agent": "all", "message": "Write everything in UTF-8."})).await;
    open(&relay, "asker");
    reached(&relay, "asked").await;
    given(&relay, &project, "Which port does the server use?").await;
    open(&relay, "answerer");
    reached(&relay, "answered").await;
    // The asker sits in a command all the while: nobody but the board can bring it the answer.
    given(&relay, &project, "The server uses port 4711.").await;
    open(&relay, "asked");
    open(&relay, "answered");
    done(&relay, &project, &asks).await;
    done(&relay, &project, &answers).await;

    let told = |task: &TaskId, words: &str| {
        let of_task =
            model.requests_of("coder").into_iter().filter(|request| request.agent.as_ref().is_some_and(|agent| agent.task_id == task.as_str()));
        let newest = of_task.last().map(|request| request.text()).unwrap_or_default();
        newest.matches(words).count()
    };
    assert_eq!(told(&asks, "The server uses port 4711."), 1, "the asker's model read the answer, once");
    assert_eq!(told(&answers, "Which port does the server use?"), 1, "the answerer's model read the question, once");
    for task in [&asks, &answers] {
        assert_eq!(told(task, "Write everything in UTF-8."), 1, "the broadcast reached {task} once");
    }
    let inbox: Vec<Value> = serde_json::from_str(&text(&relay, &ole, "check_inbox", json!({})).await).unwrap();
    assert_eq!(inbox.iter().map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>(), ["Write everything in UTF-8."]);
    let ack = json!({"ack": inbox[0]["id"]});
    assert!(text(&relay, &ole, "check_inbox", ack).await.contains("No new messages."));
    let copies: Vec<Value> = serde_json::from_str(&text(&relay, &mara, "check_inbox", json!({})).await).unwrap();
    assert!(copies.iter().all(|copy| copy["is_cc"] == true), "{copies:?}");
    assert_eq!(copies.len(), 2, "the lead has a copy of the question and of the answer, and no echo of its own words");

    // What the pipeline's own agents built and approved is verified by a third.
    let hands = relay.task(&asks).await.unwrap().task.card.contributors;
    assert_eq!((hands.built_by, hands.approved_by.as_deref()), (vec!["coder-TASK-001".to_owned()], Some("reviewer-TASK-001")));
    text(&relay, &ole, "verify_task", json!({"task_id": asks})).await;
    assert_eq!(relay.task(&asks).await.unwrap().task.card.contributors.verified_by.as_deref(), Some("ole"));
}

#[tokio::test]
async fn a_review_is_approved_by_one_and_verified_by_another_and_by_the_builder_on_no_path() {
    let relay = scene::scripted(SCENARIO).await;
    let project = relay.project("Three pairs of eyes", None).await.unwrap().id;
    let [mara, ben, vera] = [("mara", "lead"), ("ben", "builder"), ("vera", "tester")];
    let mara = token(&relay, &project, mara.0, &[mara.1]).await;
    let ben = token(&relay, &project, ben.0, &[ben.1]).await;
    let vera = token(&relay, &project, vera.0, &[vera.1]).await;

    let task = json!({"title": "Build the gate", "assigned_to": "ben", "role_hat": "builder"});
    text(&relay, &mara, "create_task", task).await;
    let task = TaskId::new(1);
    let waits =
        |board: &Board| board.card(&task).is_some_and(|card| card.wait_reason.as_ref().is_some_and(|why| why.sentence() == "assigned to ben"));
    relay.until(&project, "the runner leaves it to ben", waits).await;
    assert!(text(&relay, &ben, "check_inbox", json!({})).await.contains("Build the gate"), "the assignment was told");

    let id = |more: Value| merged(json!({"task_id": task}), more);
    text(&relay, &ben, "update_task", id(json!({"status": "in_progress"}))).await;
    text(&relay, &ben, "submit_for_review", id(json!({"summary": "The gate stands", "files_changed": "gate.rs", "test_results": "all green"}))).await;
    refused(&relay, &ben, "approve_task", id(json!({})), "lead-only").await;
    refused(&relay, &vera, "verify_task", id(json!({})), "illegal-stage").await;
    text(&relay, &mara, "check_inbox", json!({})).await;
    text(&relay, &mara, "approve_task", id(json!({"notes": "Well built"}))).await;

    refused(&relay, &ben, "verify_task", id(json!({})), "not-independent").await;
    refused(&relay, &ben, "update_task", id(json!({"status": "verified"})), "not-independent").await;
    refused(&relay, &ben, "reject_verification", id(json!({"reason": "mine"})), "not-independent").await;
    refused(&relay, &mara, "verify_task", id(json!({})), "not-independent").await;
    refused(&relay, &mara, "update_task", id(json!({"status": "verified"})), "not-independent").await;
    text(&relay, &vera, "verify_task", id(json!({"notes": "It opens and closes"}))).await;
    let card = relay.task(&task).await.unwrap().task.card;
    assert_eq!((card.status, card.contributors.verified_by.as_deref(), card.runs), (Status::Done, Some("vera"), 0));

    // The person is bound by the rule as well.
    let own = relay.post::<TaskView>(&format!("/api/projects/{project}/tasks"), &json!({"title": "Paint it", "assigned_to": "ben"})).await.unwrap();
    let own = own.task.card.id;
    text(&relay, &ben, "update_task", json!({"task_id": own, "status": "in_progress"})).await;
    text(&relay, &ben, "submit_for_review", json!({"task_id": own, "summary": "Painted"})).await;
    let _: TaskView = relay.post(&format!("/api/tasks/{own}/approve"), &json!({})).await.unwrap();
    let request = relay.request(reqwest::Method::POST, &format!("/api/tasks/{own}/verify")).json(&json!({}));
    assert_eq!(relay.refusal(request).await.unwrap().code, "not-independent");
}

#[tokio::test]
async fn twenty_agents_at_once_lose_nothing_double_nothing_and_fail_at_nothing() {
    let relay = scene::scripted(SCENARIO).await;
    for door in [Door::Http, Door::Bridges] {
        let project = relay.project(&format!("{door:?}"), None).await.unwrap().id;
        let crowd = Crowd::gather(&relay, &project, 20, door).await.unwrap();
        let (_crowd, tally) = crowd.talk(50, 10).await.unwrap();
        assert_eq!(tally.errors, Vec::<String>::new());
        let (mut sent, mut received) = (tally.sent, tally.received.into_values().flatten().collect::<Vec<_>>());
        let mut stored = stored(&relay, &project).await;
        for list in [&mut sent, &mut received, &mut stored] {
            list.sort();
        }
        assert_eq!((sent.len(), sent == received, sent == stored), (1000, true, true), "{door:?}: sent, received and stored are the same");
    }
}

/// What every message of a project says, read page by page.
async fn stored(relay: &Relay, project: &ProjectId) -> Vec<String> {
    let (mut contents, mut before) = (Vec::new(), String::new());
    loop {
        let page: List<Message> = relay.get(&format!("/api/projects/{project}/messages?count=200{before}")).await.unwrap();
        contents.extend(page.items.into_iter().map(|message| message.content));
        match page.next {
            Some(next) => before = format!("&before={next}"),
            None => return contents,
        }
    }
}

/// The token of an agent from outside that the person vouches for.
pub(crate) async fn token(relay: &Relay, project: &ProjectId, name: &str, roles: &[&str]) -> String {
    let made: Value = relay.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": roles})).await.unwrap();
    made["token"].as_str().unwrap().to_owned()
}

pub(crate) async fn text(relay: &Relay, token: &str, tool: &str, arguments: Value) -> String {
    let answer = mcp::call(relay, token, tool, arguments).await.unwrap();
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    // Notices follow on lines of their own.
    answer.text.split("\nnotices:\n").next().unwrap_or_default().to_owned()
}

async fn refused(relay: &Relay, token: &str, tool: &str, arguments: Value, code: &str) {
    let answer = mcp::call(relay, token, tool, arguments).await.unwrap();
    assert_eq!((answer.is_error, answer.code.as_deref()), (true, Some(code)), "{tool}: {}", answer.text);
    assert!(answer.text.contains("Next: "), "{tool} names the next legal step: {}", answer.text);
}

fn merged(mut one: Value, other: Value) -> Value {
    let (Some(into), Value::Object(more)) = (one.as_object_mut(), other) else { panic!("objects are merged") };
    into.extend(more);
    one
}

/// Waits until a message was given to its recipient.
async fn given(relay: &Relay, project: &ProjectId, content: &str) {
    let path = format!("/api/projects/{project}/messages?count=50");
    loop {
        let list: List<Message> = relay.get(&path).await.unwrap();
        if list.items.iter().any(|message| message.content == content && message.read) {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}
