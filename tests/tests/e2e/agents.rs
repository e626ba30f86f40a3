//! Messages between agents: two managed agents, and external agents with tokens from the human.

use std::time::Duration;

use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::team::message::Message;
use domain::wire::{List, TaskView};
use serde_json::{Value, json};
use tests::agent_fleet::{AgentFleet, Transport};
use tests::mcp;
use tests::server::TestServer;

use crate::support::{self, add, done, open, reached};

const SCENARIO: &str = include_str!("../../scenarios/agents.json");
/// How long a message may take to its recipient on a slow machine.
const GIVEN_WITHIN: Duration = Duration::from_secs(120);

#[tokio::test]
async fn coders_exchange_question_and_answer_while_working() {
    let (server, model) = support::real(SCENARIO).await;
    let project = server.project("Ports", None).await.unwrap().id;
    let mara = token(&server, &project, "mara", &["lead"]).await;
    let ole = token(&server, &project, "ole", &["tester"]).await;
    let asks = add(&server, &project, "Ask for the port").await;
    let answers = add(&server, &project, "Answer what is asked").await;
    for gate in ["asker", "answerer"] {
        reached(&server, gate).await;
    }

    let who: Vec<Value> = serde_json::from_str(&text(&server, &mara, "who", json!({})).await).unwrap();
    let names: Vec<&str> = who.iter().filter_map(|agent| agent["name"].as_str()).collect();
    assert_eq!(names, ["coder-TASK-001", "coder-TASK-002", "mara", "ole"]);
    let coder = who.iter().find(|agent| agent["name"] == "coder-TASK-001").unwrap();
    assert_eq!((&coder["health"], &coder["current_task"]), (&json!("healthy"), &json!(asks)), "{coder}");

    text(&server, &mara, "send", json!({"to_agent": "all", "message": "Write everything in UTF-8."})).await;
    let inbox: Vec<Value> = serde_json::from_str(&text(&server, &ole, "check_inbox", json!({})).await).unwrap();
    assert_eq!(inbox.iter().map(|message| message["content"].as_str().unwrap()).collect::<Vec<_>>(), ["Write everything in UTF-8."]);
    let ack = json!({"ack": inbox[0]["id"]});
    assert!(text(&server, &ole, "check_inbox", ack).await.contains("No new messages."));
    // An agent that has an unread message may not send one.
    given(&server, &project, "Write everything in UTF-8.").await;
    open(&server, "asker");
    reached(&server, "asked").await;
    given(&server, &project, "Which port does the server use?").await;
    open(&server, "answerer");
    reached(&server, "answered").await;
    // The asking agent is blocked in a command, so only the board can deliver the answer.
    given(&server, &project, "The server uses port 4711.").await;
    open(&server, "asked");
    open(&server, "answered");
    done(&server, &project, &asks).await;
    done(&server, &project, &answers).await;

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
    let copies: Vec<Value> = serde_json::from_str(&text(&server, &mara, "check_inbox", json!({})).await).unwrap();
    assert!(copies.iter().all(|copy| copy["is_cc"] == true), "{copies:?}");
    assert_eq!(copies.len(), 2, "the lead has a copy of the question and of the answer, and no echo of its own words");

    // A third agent verifies what the managed agents built and approved.
    let hands = server.task(&asks).await.unwrap().task.card.contributors;
    assert_eq!((hands.built_by, hands.approved_by.as_deref()), (vec!["coder-TASK-001".to_owned()], Some("reviewer-TASK-001")));
    text(&server, &ole, "verify_task", json!({"task_id": asks})).await;
    assert_eq!(server.task(&asks).await.unwrap().task.card.contributors.verified_by.as_deref(), Some("ole"));
}

#[tokio::test]
async fn builder_can_neither_approve_nor_verify() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Three pairs of eyes", None).await.unwrap().id;
    let [mara, ben, vera] = [("mara", "lead"), ("ben", "builder"), ("vera", "tester")];
    let mara = token(&server, &project, mara.0, &[mara.1]).await;
    let ben = token(&server, &project, ben.0, &[ben.1]).await;
    let vera = token(&server, &project, vera.0, &[vera.1]).await;

    let task = json!({"title": "Build the gate", "assigned_to": "ben", "role_hat": "builder"});
    text(&server, &mara, "create_task", task).await;
    let task = TaskId::new(1);
    let waits =
        |board: &Board| board.card(&task).is_some_and(|card| card.wait_reason.as_ref().is_some_and(|why| why.sentence() == "assigned to ben"));
    server.until(&project, "the runner leaves it to ben", waits).await;
    assert!(text(&server, &ben, "check_inbox", json!({})).await.contains("Build the gate"), "the assignment was told");

    let id = |more: Value| merged(json!({"task_id": task}), more);
    text(&server, &ben, "update_task", id(json!({"status": "in_progress"}))).await;
    text(&server, &ben, "submit_for_review", id(json!({"summary": "The gate stands", "files_changed": "gate.rs", "test_results": "all green"})))
        .await;
    refused(&server, &ben, "approve_task", id(json!({})), "lead-only").await;
    refused(&server, &vera, "verify_task", id(json!({})), "illegal-stage").await;
    text(&server, &mara, "check_inbox", json!({})).await;
    refused(&server, &mara, "approve_task", id(json!({})), "result-missing").await;
    text(&server, &ben, "submit_result", id(json!({"content": "# What I tried\nOne post\n# What worked\nTwo posts\n# Next agent\nSee gate.rs:1"})))
        .await;
    text(&server, &mara, "approve_task", id(json!({"notes": "Well built"}))).await;

    refused(&server, &ben, "verify_task", id(json!({})), "not-independent").await;
    refused(&server, &ben, "update_task", id(json!({"status": "verified"})), "not-independent").await;
    refused(&server, &ben, "reject_verification", id(json!({"reason": "mine"})), "not-independent").await;
    refused(&server, &mara, "verify_task", id(json!({})), "not-independent").await;
    refused(&server, &mara, "update_task", id(json!({"status": "verified"})), "not-independent").await;
    text(&server, &vera, "verify_task", id(json!({"notes": "It opens and closes"}))).await;
    let card = server.task(&task).await.unwrap().task.card;
    assert_eq!((card.status, card.contributors.verified_by.as_deref(), card.runs), (Status::Done, Some("vera"), 0));

    // The rule also applies to the human.
    let own = server.post::<TaskView>(&format!("/api/projects/{project}/tasks"), &json!({"title": "Paint it", "assigned_to": "ben"})).await.unwrap();
    let own = own.task.card.id;
    text(&server, &ben, "update_task", json!({"task_id": own, "status": "in_progress"})).await;
    text(&server, &ben, "submit_for_review", json!({"task_id": own, "summary": "Painted"})).await;
    let _: TaskView = server.post(&format!("/api/tasks/{own}/approve"), &json!({})).await.unwrap();
    let request = server.request(reqwest::Method::POST, &format!("/api/tasks/{own}/verify")).json(&json!({}));
    assert_eq!(server.refusal(request).await.unwrap().code, "not-independent");
}

#[tokio::test]
async fn twenty_concurrent_agents_get_every_message_once() {
    let server = support::scripted(SCENARIO).await;
    for transport in [Transport::Http, Transport::Bridges] {
        let project = server.project(&format!("{transport:?}"), None).await.unwrap().id;
        let fleet = AgentFleet::start(&server, &project, 20, transport).await.unwrap();
        let (_fleet, tally) = fleet.exchange_messages(50, 10).await.unwrap();
        assert_eq!(tally.errors, Vec::<String>::new());
        let (mut sent, mut received) = (tally.sent, tally.received.into_values().flatten().collect::<Vec<_>>());
        let mut stored = stored(&server, &project).await;
        for list in [&mut sent, &mut received, &mut stored] {
            list.sort();
        }
        assert_eq!((sent.len(), sent == received, sent == stored), (1000, true, true), "{transport:?}: sent, received and stored are the same");
    }
}

/// The contents of all messages of a project, read page by page.
async fn stored(server: &TestServer, project: &ProjectId) -> Vec<String> {
    let (mut contents, mut before) = (Vec::new(), String::new());
    loop {
        let page: List<Message> = server.get(&format!("/api/projects/{project}/messages?count=200{before}")).await.unwrap();
        contents.extend(page.items.into_iter().map(|message| message.content));
        match page.next {
            Some(next) => before = format!("&before={next}"),
            None => return contents,
        }
    }
}

/// Creates a token for a trusted external agent.
/// Creates an agent and returns its token. A lead finds a battle plan, so that it may create and assign tasks.
pub(crate) async fn token(server: &TestServer, project: &ProjectId, name: &str, roles: &[&str]) -> String {
    if roles.contains(&"lead") {
        let _: Value = server.post(&format!("/api/projects/{project}/battle-plans"), &json!({"plan": "Win"})).await.unwrap();
    }
    let made: Value = server.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": roles})).await.unwrap();
    made["token"].as_str().unwrap().to_owned()
}

pub(crate) async fn text(server: &TestServer, token: &str, tool: &str, arguments: Value) -> String {
    let answer = mcp::call(server, token, tool, arguments).await.unwrap();
    assert!(!answer.is_error, "{tool}: {}", answer.text);
    // Notices follow on separate lines.
    answer.text.split("\nnotices:\n").next().unwrap_or_default().to_owned()
}

async fn refused(server: &TestServer, token: &str, tool: &str, arguments: Value, code: &str) {
    let answer = mcp::call(server, token, tool, arguments).await.unwrap();
    assert_eq!((answer.is_error, answer.code.as_deref()), (true, Some(code)), "{tool}: {}", answer.text);
    assert!(answer.text.contains("Next: "), "{tool} names the next legal step: {}", answer.text);
}

fn merged(mut one: Value, other: Value) -> Value {
    let (Some(into), Value::Object(more)) = (one.as_object_mut(), other) else { panic!("objects are merged") };
    into.extend(more);
    one
}

/// Waits until a message was delivered to its recipient.
async fn given(server: &TestServer, project: &ProjectId, content: &str) {
    let path = format!("/api/projects/{project}/messages?count=50");
    let poll = async {
        loop {
            let list: List<Message> = server.get(&path).await.unwrap();
            if list.items.iter().any(|message| message.content == content && message.read) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    assert!(tokio::time::timeout(GIVEN_WITHIN, poll).await.is_ok(), "no agent was given {content:?} within {} s", GIVEN_WITHIN.as_secs());
}
