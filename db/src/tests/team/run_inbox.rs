//! The inbox of an agent that we run: what its program echoed stands in its conversation, and is read when its run ends well.

use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::message::HISTORY_PAGE;

use crate::tests::external_agents::words;
use crate::tests::store::{Agent, MAX_ATTEMPTS, Store, code, evidence};
use crate::{Caller, HistoryQuery, RunEnd};

const CODER: &str = "coder-TASK-001";

/// A board with a coder at work, and somebody who writes to it.
async fn at_work() -> (Store, TaskId, Agent, Caller) {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let ole = store.guest("ole").await;
    (store, task, coder, ole)
}

impl Store {
    /// What the runner would give the agent, in words: what is given again stands in brackets.
    async fn waits_for(&self, agent: &Agent) -> Vec<String> {
        words(&self.db.run_inbox(&agent.run).await.unwrap())
    }

    /// Gives the agent all that waits in one line.
    async fn give(&self, agent: &Agent, line: &str) {
        let messages = self.db.run_inbox(&agent.run).await.unwrap().messages;
        self.db.run_inbox_delivered(&agent.run, line, messages).await.unwrap();
    }

    async fn echo(&self, agent: &Agent, line: &str) {
        self.db.record_echo(&agent.run, line).await.unwrap();
    }

    /// An agent at work after one that ended like this.
    async fn after(&self, agent: &Agent, class: EndClass) -> Agent {
        self.end(&agent.run, class, None).await;
        self.agent(&TaskId::new(1), AgentKind::Coder).await
    }
}

#[tokio::test]
async fn looking_into_the_inbox_of_a_run_gives_nothing_and_a_line_gives_it_once() {
    let (store, _, coder, ole) = at_work().await;
    store.say(&ole, CODER, "One").await.unwrap();
    store.say(&ole, "all", "Two").await.unwrap();
    assert_eq!((store.waits_for(&coder).await, store.waits_for(&coder).await.len()), (vec!["One".to_owned(), "Two".to_owned()], 2));
    let seq = store.db.latest();
    store.give(&coder, "prompt").await;
    assert_eq!(store.kinds_since(seq).await, ["inbox_read"]);
    assert_eq!(store.db.unread(&store.project, CODER).await.unwrap().count, 0);
    assert_eq!(store.waits_for(&coder).await, ["(One)", "(Two)"], "under way");
    store.echo(&coder, "prompt").await;
    assert_eq!(store.waits_for(&coder).await, Vec::<String>::new(), "it stands in the conversation");
    assert_eq!(store.hears(&coder.caller).await, Vec::<String>::new());
    assert_eq!(code(store.db.run_inbox(&"RUN-404".parse().unwrap()).await), "not-found");
}

#[tokio::test]
async fn what_was_not_echoed_is_new_to_the_next_run_however_this_one_ended() {
    for class in [EndClass::Finished, EndClass::AwaitingAnswer, EndClass::Failed, EndClass::Parked, EndClass::Stopped] {
        let (store, task, coder, ole) = at_work().await;
        store.say(&ole, CODER, "One").await.unwrap();
        store.say(&ole, "all", "Two").await.unwrap();
        store.give(&coder, "prompt").await;
        store.echo(&coder, "another line").await;
        let next = store.after(&coder, class).await;
        assert_eq!(store.waits_for(&next).await, ["One", "Two"], "{class:?}");
        assert_eq!(store.db.unread(&store.project, CODER).await.unwrap().count, 2);
        assert_eq!(store.card(&task).await.run.unwrap().id, next.run);
    }
}

#[tokio::test]
async fn what_was_echoed_is_read_when_the_run_ends_well_and_given_again_when_not() {
    for (class, again) in [
        (EndClass::Finished, false),
        (EndClass::AwaitingAnswer, false),
        (EndClass::Failed, true),
        (EndClass::Parked, true),
        (EndClass::Stopped, true),
    ] {
        let (store, _, coder, ole) = at_work().await;
        store.say(&ole, CODER, "One").await.unwrap();
        store.say(&ole, "all", "Two").await.unwrap();
        store.give(&coder, "prompt").await;
        store.echo(&coder, "prompt").await;
        let next = store.after(&coder, class).await;
        let wanted: &[&str] = if again { &["(One)", "(Two)"] } else { &[] };
        assert_eq!(store.waits_for(&next).await, wanted, "{class:?}");
        // What an earlier run had is on its way to this one, and as old as before when it does not get there.
        store.give(&next, "its prompt").await;
        let third = store.after(&next, EndClass::Finished).await;
        assert_eq!(store.waits_for(&third).await, wanted, "{class:?}");
    }
}

#[tokio::test]
async fn a_run_whose_last_turn_broke_off_has_read_nothing_though_its_card_moved() {
    let (store, _, coder, ole) = at_work().await;
    store.say(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    let class = EndClass::Finished;
    let end = RunEnd { class, failure: None, error: None, exit_code: None, usage: None, turn_ended: false, max_attempts: MAX_ATTEMPTS };
    store.db.end_run(&coder.run, end).await.unwrap();
    let next = store.agent(&TaskId::new(1), AgentKind::Coder).await;
    assert_eq!(store.waits_for(&next).await, ["(One)"]);
}

#[tokio::test]
async fn sending_confirms_neither_a_line_nor_what_an_earlier_run_was_given() {
    let (store, _, coder, ole) = at_work().await;
    store.say(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.say(&ole, CODER, "Two").await.unwrap();
    store.inbox(&coder.caller).await;
    store.say(&ole, "all", "Three").await.unwrap();
    let mut new = store.db.run_inbox(&coder.run).await.unwrap().messages;
    new.retain(|given| !given.redelivered);
    store.db.run_inbox_delivered(&coder.run, "a line", new).await.unwrap();
    store.say(&coder.caller, "human", "It may speak").await.unwrap();
    assert_eq!(store.waits_for(&coder).await, ["(Three)"], "what it looked up itself arrived, and nothing else is known");
    let next = store.after(&coder, EndClass::Failed).await;
    assert_eq!(store.waits_for(&next).await, ["(One)", "Three"]);
    store.give(&next, "its prompt").await;
    store.say(&next.caller, "human", "It may speak too").await.unwrap();
    let third = store.after(&next, EndClass::Failed).await;
    assert_eq!(store.waits_for(&third).await, ["(One)", "Three"]);
}

#[tokio::test]
async fn an_agent_that_acknowledges_has_read_what_stands_in_its_conversation() {
    let (store, _, coder, ole) = at_work().await;
    let one = store.say(&ole, CODER, "One").await.unwrap();
    store.give(&coder, "prompt").await;
    let ack = async |agent: &Agent, id| words(&store.db.check_inbox(&agent.caller, &store.project, Some(id)).await.unwrap());
    store.echo(&coder, "prompt").await;
    assert_eq!(ack(&coder, one.id).await, Vec::<String>::new());
    let two = store.say(&ole, "all", "Two").await.unwrap();
    store.give(&coder, "a line").await;
    assert_eq!(ack(&coder, two.id).await, ["(Two)"], "a line that it cannot know yet is not confirmed by its number");
    let next = store.after(&coder, EndClass::Failed).await;
    assert_eq!(store.waits_for(&next).await, ["(Two)"]);
    assert_eq!(ack(&next, two.id).await, ["(Two)"], "nor what only an earlier run was given");
    assert_eq!(ack(&next, two.id).await, Vec::<String>::new());
}

#[tokio::test]
async fn others_read_a_broadcast_for_themselves() {
    let (store, _, coder, ole) = at_work().await;
    store.say(&ole, "all", "One").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.finish(&coder).await;
    assert_eq!(store.inbox(&Caller::Human).await.messages.len(), 1);
}

/// What was written to the sender by the runner.
async fn told(store: &Store, name: &str) -> Vec<(String, Option<i64>)> {
    let query = HistoryQuery { count: Some(HISTORY_PAGE), ..HistoryQuery::default() };
    let all = store.db.history(&store.project, &query).await.unwrap();
    all.into_iter().filter(|said| said.from_agent == "runner" && said.to_agent == name).map(|said| (said.content, said.reply_to)).collect()
}

#[tokio::test]
async fn who_wrote_to_an_agent_that_is_gone_is_told_so_once() {
    let (store, task, coder, ole) = at_work().await;
    store.say(&ole, CODER, "Read").await.unwrap();
    store.give(&coder, "prompt").await;
    store.echo(&coder, "prompt").await;
    store.move_with(&coder.caller, &task, Status::InReview, None, evidence()).await.unwrap();
    store.finish(&coder).await;
    let late = store.say(&ole, CODER, "Which port?").await.unwrap();
    store.say(&ole, "all", "To everybody").await.unwrap();
    store.say(&Caller::Human, CODER, "And why?").await.unwrap();
    store.cancel(&task, "obsolete").await;
    let words = format!("[UNDELIVERED] {CODER} is gone; your message #{} was not read", late.id);
    assert_eq!(told(&store, "ole").await, [(words, Some(late.id))]);
    assert_eq!(told(&store, "human").await.len(), 1);
    store.move_to(&Caller::Human, &task, Status::Backlog).await.unwrap();
    store.cancel(&task, "obsolete").await;
    assert_eq!((told(&store, "ole").await.len(), told(&store, "human").await.len()), (1, 1));
    store.check_fold().await;
}

#[tokio::test]
async fn while_its_run_is_not_over_nothing_is_said_of_what_may_still_be_given() {
    let (store, task, coder, ole) = at_work().await;
    store.say(&ole, CODER, "Given").await.unwrap();
    store.give(&coder, "a line").await;
    store.say(&ole, CODER, "Late").await.unwrap();
    store.cancel(&task, "obsolete").await;
    assert_eq!(told(&store, "ole").await, []);
    store.end(&coder.run, EndClass::Stopped, None).await;
    assert_eq!(told(&store, "ole").await.len(), 2, "the line was never echoed");
}
