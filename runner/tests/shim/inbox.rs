//! Messages to a managed agent: in its next prompt, or while it works, and when not.

use db::{Caller, Db, MoveRequest};
use domain::board::status::Status;
use domain::id::{ProjectId, RunId};
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use domain::team::agent::{Health, Registration};
use domain::team::message::{NewMessage, Unread};
use domain::team::token::TokenTerms;

use super::run::wait_for;
use super::supervise::Bench;

/// The agent of the first task.
const CODER: &str = "coder-TASK-001";

fn project() -> ProjectId {
    ProjectId::new(1)
}

/// A trusted external agent.
async fn mara(db: &Db) -> Caller {
    let who = Registration { name: "mara".to_owned(), ..Registration::default() };
    let token = db.create_agent_token(&Caller::owner(), &project(), who, TokenTerms::default()).await.unwrap();
    db.caller(&token).await.unwrap().unwrap()
}

async fn send(db: &Db, from: &Caller, content: &str) {
    let new = NewMessage { to: CODER.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
    db.send(from, &project(), new).await.unwrap();
}

async fn unread(db: &Db) -> Unread {
    db.unread(&project(), CODER).await.unwrap()
}

/// Waits until every message was delivered to the agent.
async fn all_delivered(db: &Db) {
    let mut news = db.subscribe();
    let waiting = async {
        loop {
            news.borrow_and_update();
            if unread(db).await.count == 0 {
                return;
            }
            news.changed().await.unwrap();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.expect("its messages were not delivered");
}

/// Sends a message of the human over the run and waits for its delivery: by then the watcher has handled everything before it.
async fn human_message(db: &Db, text: &str) {
    db.message_run(&Caller::owner(), &RunId::new(1), text).await.unwrap();
    let mut news = db.subscribe();
    loop {
        news.borrow_and_update();
        if db.undelivered(&RunId::new(1)).await.unwrap().is_empty() {
            return;
        }
        news.changed().await.unwrap();
    }
}

#[tokio::test]
async fn working_agent_receives_messages() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "/compact which port?").await;
    all_delivered(&bench.db).await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    let told = bench.lines("told").remove(1);
    assert!(told.contains(r#""content":"<inbox>\n[#1 mara → coder-TASK-001 "#) && told.contains("] /compact which port?\\n</inbox>"), "{told}");
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(bench.lines("told").len(), 2, "no message waited");
    // The agent echoed the message, so it is not redelivered.
    assert!(bench.db.run_inbox(&RunId::new(1)).await.unwrap().messages.is_empty());
    let messages: Vec<String> = bench.transcript().into_iter().filter(|line| line.kind == OutputKind::Message).map(|line| line.text).collect();
    assert_eq!(messages, ["the task with its comments", "messages from others"]);
    server.stop().await;
}

#[tokio::test]
async fn agents_interrupt_once_a_minute_and_the_human_at_once() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &Caller::owner(), "hello").await;
    all_delivered(&bench.db).await;
    // The human's interruption does not count against the limit for others.
    send(&bench.db, &mara, "first").await;
    all_delivered(&bench.db).await;
    send(&bench.db, &mara, "second").await;
    human_message(&bench.db, "one").await;
    human_message(&bench.db, "two").await;
    assert_eq!(unread(&bench.db).await.count, 1, "the second one waits");
    send(&bench.db, &Caller::owner(), "third").await;
    all_delivered(&bench.db).await;
    bench.submit(&task, &agent).await;
    for turns in 2..=6 {
        bench.end_turn();
        wait_for("the next turn", || bench.lines("told").len() == turns).await;
    }
    bench.end_turn();
    bench.end_of_the_run().await;
    let told = bench.lines("told");
    assert!(told[1].contains("] hello\\n") && told[2].contains("] first\\n") && !told[2].contains("second"), "{told:?}");
    assert!(told[5].contains("] second\\n") && told[5].contains("[#4 human → coder-TASK-001 ") && told[5].contains("] third\\n"), "{}", told[5]);
    server.stop().await;
}

/// Its work is done. Messages of leads and the human still arrive; others wait for the next prompt.
#[tokio::test]
async fn ending_agent_receives_the_humans_message_first() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    server.stop().await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &Caller::owner(), "and the README?").await;
    let server = bench.serve();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("and the README?"));
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    server.stop().await;
}

#[tokio::test]
async fn message_to_an_ending_agent_is_in_the_next_prompt() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    server.stop().await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &mara, "which port?").await;
    let server = bench.serve();
    bench.end_of_the_run().await;
    assert_eq!((bench.lines("told").len(), unread(&bench.db).await.count), (1, 1), "the agent was ended");
    let look = bench.db.required_evidence(&Caller::owner(), &task, Status::InProgress).await.unwrap();
    let found = repo::collect_evidence(&look).unwrap();
    let back = MoveRequest { reason: Some("more".to_owned()), ..MoveRequest::to(Status::InProgress) };
    bench.db.move_task(&Caller::owner(), &task, back, found).await.unwrap();
    wait_for("the next prompt", || bench.lines("told").len() == 2).await;
    let prompt = bench.lines("told").remove(1);
    assert!(prompt.contains("<issue>") && prompt.contains(r"<inbox>\n[#1 mara → coder-TASK-001 "), "{prompt}");
    all_delivered(&bench.db).await;
    server.stop().await;
}

/// The texts that wait for the agent; redelivered ones are in brackets.
async fn waiting(db: &Db) -> Vec<String> {
    let inbox = db.run_inbox(&RunId::new(1)).await.unwrap();
    inbox.messages.into_iter().map(|given| if given.redelivered { format!("({})", given.message.content) } else { given.message.content }).collect()
}

#[tokio::test]
async fn unechoed_message_is_new_after_a_crash() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_delivered(&bench.db).await;
    assert_eq!(waiting(&bench.db).await, ["(which port?)"], "on its way");
    bench.submit(&task, &agent).await;
    std::fs::remove_file(bench.agent_file("script.sh")).unwrap();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.exit_code), (Some(EndClass::Finished), Some(9)));
    assert_eq!(waiting(&bench.db).await, ["which port?"]);
    server.stop().await;
}

#[tokio::test]
async fn echoed_message_is_redelivered_after_a_crash() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_delivered(&bench.db).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    bench.submit(&task, &agent).await;
    std::fs::remove_file(bench.agent_file("script.sh")).unwrap();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(waiting(&bench.db).await, ["(which port?)"]);
    server.stop().await;
}

#[tokio::test]
async fn message_sent_before_a_restart_and_echoed_after_is_read() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_delivered(&bench.db).await;
    server.stop().await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    let server = bench.serve();
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(waiting(&bench.db).await, Vec::<String>::new());
    server.stop().await;
}

#[tokio::test]
async fn agent_that_starts_no_turn_for_a_message_is_ended() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    std::fs::write(bench.agent_file("deaf"), "").unwrap();
    server.stop().await;
    bench.submit(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &Caller::owner(), "and the README?").await;
    let server = bench.serve();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, bench.lines("told").len()), (Some(EndClass::Finished), 1));
    assert_eq!(waiting(&bench.db).await, ["and the README?"], "the next run receives it");
    server.stop().await;
}

#[tokio::test]
async fn live_process_sends_heartbeats() {
    let bench = Bench::new().await;
    let (server, _, _) = bench.at_work().await;
    let beats = async { while bench.db.agent(&project(), CODER).await.unwrap().health != Health::Healthy {} };
    tokio::time::timeout(std::time::Duration::from_secs(30), beats).await.expect("no heartbeat arrived");
    server.stop().await;
}
