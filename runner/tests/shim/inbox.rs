//! What others write to an agent that we run: in its next prompt, or while it works, and when not.

use db::{Caller, Db, MoveRequest};
use domain::board::status::Status;
use domain::id::{ProjectId, RunId};
use domain::runs::failure::EndClass;
use domain::runs::output::OutputKind;
use domain::team::agent::{Health, Registration};
use domain::team::message::{NewMessage, Unread};

use super::run::wait_for;
use super::supervise::Bench;

/// The agent of the first task.
const CODER: &str = "coder-TASK-001";

fn project() -> ProjectId {
    ProjectId::new(1)
}

/// An agent from outside, known to the person.
async fn mara(db: &Db) -> Caller {
    let who = Registration { name: "mara".to_owned(), ..Registration::default() };
    let token = db.create_agent_token(&Caller::Human, &project(), who).await.unwrap();
    db.caller(&token).await.unwrap().unwrap()
}

async fn send(db: &Db, from: &Caller, content: &str) {
    let new = NewMessage { to: CODER.to_owned(), content: content.to_owned(), cc: Vec::new(), task_id: None, reply_to: None };
    db.send(from, &project(), new).await.unwrap();
}

async fn unread(db: &Db) -> Unread {
    db.unread(&project(), CODER).await.unwrap()
}

/// Waits until the agent was given everything.
async fn all_given(db: &Db) {
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
    tokio::time::timeout(std::time::Duration::from_secs(30), waiting).await.expect("its messages were not given");
}

/// The person says something over the run, and it is delivered: whoever watches the run has looked at everything before.
async fn said(db: &Db, words: &str) {
    db.message_run(&Caller::Human, &RunId::new(1), words).await.unwrap();
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
async fn an_agent_at_work_is_given_what_others_write_to_it() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "/compact which port?").await;
    all_given(&bench.db).await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    let told = bench.lines("told").remove(1);
    assert!(told.contains(r#""content":"<inbox>\n[#1 mara → coder-TASK-001 "#) && told.contains("] /compact which port?\\n</inbox>"), "{told}");
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(bench.lines("told").len(), 2, "nobody was waited for");
    // It echoed the message, so that is not given again.
    assert!(bench.db.run_inbox(&RunId::new(1)).await.unwrap().messages.is_empty());
    let messages: Vec<String> = bench.transcript().into_iter().filter(|line| line.kind == OutputKind::Message).map(|line| line.text).collect();
    assert_eq!(messages, ["the task with its comments", "messages from others"]);
    server.stop().await;
}

#[tokio::test]
async fn an_agent_is_interrupted_once_a_minute_but_at_once_for_the_person() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &Caller::Human, "hello").await;
    all_given(&bench.db).await;
    // The person's words did not use up hers.
    send(&bench.db, &mara, "first").await;
    all_given(&bench.db).await;
    send(&bench.db, &mara, "second").await;
    said(&bench.db, "one").await;
    said(&bench.db, "two").await;
    assert_eq!(unread(&bench.db).await.count, 1, "the second one waits");
    send(&bench.db, &Caller::Human, "third").await;
    all_given(&bench.db).await;
    bench.hand_in(&task, &agent).await;
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

/// Its work is done. Whoever leads is heard nevertheless; others are in the next prompt.
#[tokio::test]
async fn an_agent_that_is_about_to_go_hears_the_person_first() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    server.stop().await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &Caller::Human, "and the README?").await;
    let server = bench.serve();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    assert!(bench.lines("told")[1].contains("and the README?"));
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    server.stop().await;
}

#[tokio::test]
async fn what_others_write_to_an_agent_that_goes_is_in_its_next_prompt() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    server.stop().await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &mara, "which port?").await;
    let server = bench.serve();
    bench.end_of_the_run().await;
    assert_eq!((bench.lines("told").len(), unread(&bench.db).await.count), (1, 1), "it was let go");
    let look = bench.db.required_evidence(&Caller::Human, &task, Status::InProgress).await.unwrap();
    let found = repo::collect_evidence(&look).unwrap();
    let back = MoveRequest { reason: Some("more".to_owned()), ..MoveRequest::to(Status::InProgress) };
    bench.db.move_task(&Caller::Human, &task, back, found).await.unwrap();
    wait_for("the next prompt", || bench.lines("told").len() == 2).await;
    let prompt = bench.lines("told").remove(1);
    assert!(prompt.contains("<issue>") && prompt.contains(r"<inbox>\n[#1 mara → coder-TASK-001 "), "{prompt}");
    all_given(&bench.db).await;
    server.stop().await;
}

/// What waits for the agent, in words: what is given again stands in brackets.
async fn waiting(db: &Db) -> Vec<String> {
    let inbox = db.run_inbox(&RunId::new(1)).await.unwrap();
    inbox.messages.into_iter().map(|given| if given.redelivered { format!("({})", given.message.content) } else { given.message.content }).collect()
}

#[tokio::test]
async fn what_an_agent_had_not_taken_up_when_it_crashed_is_new_to_the_next_though_its_card_moved() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_given(&bench.db).await;
    assert_eq!(waiting(&bench.db).await, ["(which port?)"], "on its way");
    bench.hand_in(&task, &agent).await;
    std::fs::remove_file(bench.agent_file("script.sh")).unwrap();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, run.exit_code), (Some(EndClass::Finished), Some(9)));
    assert_eq!(waiting(&bench.db).await, ["which port?"]);
    server.stop().await;
}

#[tokio::test]
async fn what_an_agent_took_up_before_it_crashed_is_given_again() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_given(&bench.db).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    bench.hand_in(&task, &agent).await;
    std::fs::remove_file(bench.agent_file("script.sh")).unwrap();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(waiting(&bench.db).await, ["(which port?)"]);
    server.stop().await;
}

#[tokio::test]
async fn what_one_server_said_and_the_next_sees_taken_up_is_read() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    let mara = mara(&bench.db).await;
    send(&bench.db, &mara, "which port?").await;
    all_given(&bench.db).await;
    server.stop().await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    wait_for("the message", || bench.lines("told").len() == 2).await;
    let server = bench.serve();
    bench.end_turn();
    assert_eq!(bench.end_of_the_run().await.end_class, Some(EndClass::Finished));
    assert_eq!(waiting(&bench.db).await, Vec::<String>::new());
    server.stop().await;
}

#[tokio::test]
async fn an_agent_that_begins_no_turn_for_what_it_was_told_is_let_go() {
    let bench = Bench::new().await;
    let (server, task, agent) = bench.at_work().await;
    std::fs::write(bench.agent_file("deaf"), "").unwrap();
    server.stop().await;
    bench.hand_in(&task, &agent).await;
    bench.end_turn();
    bench.turn_is_over().await;
    send(&bench.db, &Caller::Human, "and the README?").await;
    let server = bench.serve();
    let run = bench.end_of_the_run().await;
    assert_eq!((run.end_class, bench.lines("told").len()), (Some(EndClass::Finished), 1));
    assert_eq!(waiting(&bench.db).await, ["and the README?"], "the next one hears it");
    server.stop().await;
}

#[tokio::test]
async fn an_agent_whose_process_lives_gives_signs_of_life() {
    let bench = Bench::new().await;
    let (server, _, _) = bench.at_work().await;
    let beats = async { while bench.db.agent(&project(), CODER).await.unwrap().health != Health::Healthy {} };
    tokio::time::timeout(std::time::Duration::from_secs(30), beats).await.expect("it gave no sign of life");
    server.stop().await;
}
