//! Inboxes of managed agents: echoed messages are in the conversation, and are read when the run succeeds.

use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::message::HISTORY_PAGE;

use crate::tests::external_agents::message_texts;
use crate::tests::store::{Agent, MAX_ATTEMPTS, Store, code, evidence};
use crate::{Caller, HistoryQuery, RunEnd};

const CODER: &str = "coder-TASK-001";

/// Creates a board with a running coder and an agent that writes to it.
async fn at_work() -> (Store, TaskId, Agent, Caller) {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let ole = store.guest("ole").await;
    (store, task, coder, ole)
}

impl Store {
    /// Returns the texts that the runner would deliver. Redelivered ones are in brackets.
    async fn waits_for(&self, agent: &Agent) -> Vec<String> {
        message_texts(&self.db.run_inbox(&agent.run).await.unwrap())
    }

    /// Delivers all waiting messages in one line.
    async fn give(&self, agent: &Agent, line: &str) {
        let messages = self.db.run_inbox(&agent.run).await.unwrap().messages;
        self.db.run_inbox_delivered(&agent.run, line, messages).await.unwrap();
    }

    async fn echo(&self, agent: &Agent, line: &str) {
        self.db.record_echo(&agent.run, line).await.unwrap();
    }

    /// Ends the agent's run with `class` and starts the next one.
    async fn after(&self, agent: &Agent, class: EndClass) -> Agent {
        self.end(&agent.run, class, None).await;
        self.agent(&TaskId::new(1), AgentKind::Coder).await
    }
}

#[tokio::test]
async fn peeking_delivers_nothing_and_a_line_delivers_once() {
    let (store, _, coder, ole) = at_work().await;
    store.send(&ole, CODER, "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    assert_eq!((store.waits_for(&coder).await, store.waits_for(&coder).await.len()), (vec!["One".to_owned(), "Two".to_owned()], 2));
    let seq = store.db.latest();
    store.give(&coder, "prompt").await;
    assert_eq!(store.kinds_since(seq).await, ["inbox_read"]);
    assert_eq!(store.db.unread(&store.project, CODER).await.unwrap().count, 0);
    assert_eq!(store.waits_for(&coder).await, ["(One)", "(Two)"], "in transit");
    store.echo(&coder, "prompt").await;
    assert_eq!(store.waits_for(&coder).await, Vec::<String>::new(), "they are in the conversation");
    assert_eq!(store.inbox_texts(&coder.caller).await, Vec::<String>::new());
    assert_eq!(code(store.db.run_inbox(&"RUN-404".parse().unwrap()).await), "not-found");
}

#[tokio::test]
async fn unechoed_messages_are_new_to_the_next_run() {
    for class in [EndClass::Finished, EndClass::AwaitingAnswer, EndClass::Failed, EndClass::Parked, EndClass::Stopped] {
        let (store, task, coder, ole) = at_work().await;
        store.send(&ole, CODER, "One").await.unwrap();
        store.send(&ole, "all", "Two").await.unwrap();
        store.give(&coder, "prompt").await;
        store.echo(&coder, "another line").await;
        let next = store.after(&coder, class).await;
        assert_eq!(store.waits_for(&next).await, ["One", "Two"], "{class:?}");
        assert_eq!(store.db.unread(&store.project, CODER).await.unwrap().count, 2);
        assert_eq!(store.card(&task).await.run.unwrap().id, next.run);
    }
}

#[tokio::test]
async fn echoed_messages_are_read_only_after_success() {
    for (class, again) in [
        (EndClass::Finished, false),
        (EndClass::AwaitingAnswer, false),
        (EndClass::Failed, true),
        (EndClass::Parked, true),
        (EndClass::Stopped, true),
    ] {
        let (store, _, coder, ole) = at_work().await;
        store.send(&ole, CODER, "One").await.unwrap();
        store.send(&ole, "all", "Two").await.unwrap();
        store.give(&coder, "prompt").await;
        store.echo(&coder, "prompt").await;
        let next = store.after(&coder, class).await;
        let wanted: &[&str] = if again { &["(One)", "(Two)"] } else { &[] };
        assert_eq!(store.waits_for(&next).await, wanted, "{class:?}");
        // Messages that an earlier run received stay redelivered if their line never arrives.
        store.give(&next, "its prompt").await;
        let third = store.after(&next, EndClass::Finished).await;
        assert_eq!(store.waits_for(&third).await, wanted, "{class:?}");
    }
}

#[tokio::test]
async fn interrupted_last_turn_reads_nothing() {
    let (store, _, coder, ole) = at_work().await;
    store.send(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    let class = EndClass::Finished;
    let end = RunEnd::new(class, MAX_ATTEMPTS);
    store.db.end_run(&coder.run, end).await.unwrap();
    let next = store.agent(&TaskId::new(1), AgentKind::Coder).await;
    assert_eq!(store.waits_for(&next).await, ["(One)"]);
}

#[tokio::test]
async fn send_acknowledges_no_line_or_earlier_run() {
    let (store, _, coder, ole) = at_work().await;
    store.send(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.send(&ole, CODER, "Two").await.unwrap();
    store.inbox(&coder.caller).await;
    store.send(&ole, "all", "Three").await.unwrap();
    let mut new = store.db.run_inbox(&coder.run).await.unwrap().messages;
    new.retain(|given| !given.redelivered);
    store.db.run_inbox_delivered(&coder.run, "a line", new).await.unwrap();
    store.send(&coder.caller, "human", "It may speak").await.unwrap();
    assert_eq!(store.waits_for(&coder).await, ["(Three)"], "only the response to its own check is acknowledged");
    let next = store.after(&coder, EndClass::Failed).await;
    assert_eq!(store.waits_for(&next).await, ["(One)", "Three"]);
    store.give(&next, "its prompt").await;
    store.send(&next.caller, "human", "It may speak too").await.unwrap();
    let third = store.after(&next, EndClass::Failed).await;
    assert_eq!(store.waits_for(&third).await, ["(One)", "Three"]);
}

#[tokio::test]
async fn acknowledgement_reads_the_conversation() {
    let (store, _, coder, ole) = at_work().await;
    let one = store.send(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    let ack = async |agent: &Agent, id| message_texts(&store.db.check_inbox(&agent.caller, &store.project, Some(id)).await.unwrap());
    store.echo(&coder, "prompt").await;
    assert_eq!(ack(&coder, one.id).await, Vec::<String>::new());
    let two = store.send(&ole, "all", "Two").await.unwrap();
    store.give(&coder, "a line").await;
    assert_eq!(ack(&coder, two.id).await, ["(Two)"], "an id does not acknowledge a line without an echo");
    let next = store.after(&coder, EndClass::Failed).await;
    assert_eq!(store.waits_for(&next).await, ["(Two)"]);
    assert_eq!(ack(&next, two.id).await, ["(Two)"], "nor a message that only an earlier run received");
    assert_eq!(ack(&next, two.id).await, Vec::<String>::new());
}

#[tokio::test]
async fn broadcast_is_read_per_recipient() {
    let (store, _, coder, ole) = at_work().await;
    store.send(&ole, "all", "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.finish(&coder).await;
    assert_eq!(store.inbox(&Caller::owner()).await.messages.len(), 1);
}

/// Lists the notices from the runner to the sender.
async fn messages_to(store: &Store, name: &str) -> Vec<(String, Option<i64>)> {
    let query = HistoryQuery { count: Some(HISTORY_PAGE), ..HistoryQuery::default() };
    let all = store.db.history(&store.project, &query).await.unwrap();
    all.into_iter().filter(|said| said.from_agent == "runner" && said.to_agent == name).map(|said| (said.content, said.reply_to)).collect()
}

#[tokio::test]
async fn sender_is_notified_once_when_recipient_is_gone() {
    let (store, task, coder, ole) = at_work().await;
    store.send(&ole, CODER, "Read").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.move_with(&coder.caller, &task, Status::InReview, None, evidence()).await.unwrap();
    store.finish(&coder).await;
    let late = store.send(&ole, CODER, "Which port?").await.unwrap();
    store.send(&ole, "all", "To everyone").await.unwrap();
    store.send(&Caller::owner(), CODER, "And why?").await.unwrap();
    store.cancel(&task, "obsolete").await;
    let notice = format!("[UNDELIVERED] {CODER} is gone; your message #{} was not read", late.id);
    assert_eq!(messages_to(&store, "ole").await, [(notice, Some(late.id))]);
    assert_eq!(messages_to(&store, "human").await.len(), 1);
    store.move_to(&Caller::owner(), &task, Status::Backlog).await.unwrap();
    store.cancel(&task, "obsolete").await;
    assert_eq!((messages_to(&store, "ole").await.len(), messages_to(&store, "human").await.len()), (1, 1));
    store.check_fold().await;
}

#[tokio::test]
async fn no_undelivered_notice_while_run_is_live() {
    let (store, task, coder, ole) = at_work().await;
    store.send(&ole, CODER, "Given").await.unwrap();
    store.give(&coder, "a line").await;
    store.send(&ole, CODER, "Late").await.unwrap();
    store.cancel(&task, "obsolete").await;
    assert_eq!(messages_to(&store, "ole").await, []);
    store.end(&coder.run, EndClass::Stopped, None).await;
    assert_eq!(messages_to(&store, "ole").await.len(), 2, "the line was never echoed");
}
