//! Sending messages: recipients, copies, limits, and what blocks a sender.

use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::message::{Message, MessageEvent, NewMessage};
use domain::team::role::Role;
use domain::text::BODY_BYTES;

use crate::tests::external_agents::{call, message, message_texts};
use crate::tests::store::{Store, code, refusal};
use crate::{Caller, HistoryQuery};

async fn history(store: &Store, query: HistoryQuery) -> Vec<Message> {
    store.db.history(&store.project, &query).await.unwrap()
}

fn contents(messages: &[Message]) -> Vec<&str> {
    messages.iter().map(|message| message.content.as_str()).collect()
}

#[tokio::test]
async fn message_reaches_its_recipient() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let seq = store.db.latest();
    let sent = store.send(&mara, "ole", " keep\r\n\tme ").await.unwrap();
    assert_eq!((sent.from_agent.as_str(), sent.to_agent.as_str(), sent.cc.len()), ("mara", "ole", 0));
    let event = MessageEvent::Sent { message: sent.id, from: "mara".to_owned(), to: "ole".to_owned(), is_cc: false }.into();
    assert_eq!(store.since(seq).await, [event]);
    assert_eq!(store.db.acknowledged_messages(&[sent.id]).await.unwrap(), [0; 0]);
    let inbox = store.inbox(&ole).await;
    assert_eq!(store.db.acknowledged_messages(&[sent.id]).await.unwrap(), [0; 0], "a response may be lost");
    assert_eq!((message_texts(&inbox), inbox.remaining), (vec![" keep\r\n\tme ".to_owned()], 0), "every byte is kept");
    assert_eq!(store.inbox(&mara).await.messages, []);
    // An answer acknowledges what came before it.
    store.send(&ole, "human", "For you").await.unwrap();
    assert_eq!(store.db.acknowledged_messages(&[sent.id, 99]).await.unwrap(), [sent.id]);
    assert_eq!(store.inbox_texts(&Caller::owner()).await, ["For you"]);
    store.send(&Caller::owner(), "ole", "Thanks").await.unwrap();
    assert_eq!(store.inbox(&ole).await.messages[0].message.from_agent, "human");
    store.check_fold().await;
}

#[tokio::test]
async fn unknown_recipient_is_refused_with_similar_names() {
    let store = Store::board().await;
    let (mara, _) = (store.member("mara", &[]).await, store.guest("blue/oleander").await);
    let before = store.dump().await;
    let refused = refusal(store.send(&mara, "oleandr", "Hello").await);
    assert_eq!(refused, AgentRefusal::Unknown { name: "oleandr".to_owned(), nearest: vec!["blue/oleander".to_owned()] }.into());
    assert_eq!(refused.hint(), "Did you mean blue/oleander? Call who to see all names.");
    let copied = NewMessage { cc: vec!["zzz".to_owned()], ..message("human", "Hello") };
    assert_eq!(code(store.db.send(&mara, &store.project, copied).await), "unknown-agent");
    let everyone = NewMessage { cc: vec!["all".to_owned()], ..message("human", "Hello") };
    assert_eq!(code(store.db.send(&mara, &store.project, everyone).await), "invalid");
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn dead_or_departed_recipient_is_refused_unless_managed() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.agent(&task, AgentKind::Coder).await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.guest("ida").await;
    for name in ["ole", "ida", "coder-TASK-001"] {
        store.make_unresponsive(name).await;
    }
    let refused = refusal(store.send(&mara, "ole", "There?").await);
    assert!(matches!(&refused, Refusal::Agent(AgentRefusal::Unresponsive { name, since: Some(_) }) if name == "ole"), "{refused:?}");
    store.send(&mara, "coder-TASK-001", "For your next run").await.unwrap();
    let connected = store.db.connect(&ole);
    store.send(&mara, "ole", "There you are").await.unwrap();
    drop(connected);
    store.db.deregister(&Caller::owner(), &store.project, "ole").await.unwrap();
    let refused = refusal(store.send(&mara, "ole", "There?").await);
    assert!(matches!(&refused, Refusal::Agent(AgentRefusal::Unresponsive { name, since: Some(_) }) if name == "ole"), "{refused:?}");
    // A created agent that never joined receives its messages later.
    store.member("new", &[]).await;
    store.send(&mara, "new", "Welcome").await.unwrap();
}

#[tokio::test]
async fn short_names_resolve_to_own_team_or_are_ambiguous() {
    let store = Store::board().await;
    let (red, other) = (store.member("red/mara", &[]).await, store.member("ida", &[]).await);
    for name in ["blue/ole", "red/ole", "blue/tom"] {
        store.member(name, &[]).await;
    }
    assert_eq!(store.send(&other, "tom", "Hello").await.unwrap().to_agent, "blue/tom");
    assert_eq!(store.send(&red, "ole", "Hello").await.unwrap().to_agent, "red/ole");
    let refused = refusal(store.send(&other, "ole", "Hello").await);
    assert_eq!(refused, AgentRefusal::Ambiguous { name: "ole".to_owned(), candidates: vec!["blue/ole".to_owned(), "red/ole".to_owned()] }.into());
    assert_eq!(store.send(&other, "blue/ole", "Hello").await.unwrap().to_agent, "blue/ole");
}

#[tokio::test]
async fn message_length_is_bounded_and_bytes_are_kept() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let before = store.dump().await;
    for bad in ["", " \n", "a\0b", &"x".repeat(BODY_BYTES + 1), &"x".repeat(1 << 20)] {
        assert_eq!(code(store.send(&mara, "ole", bad).await), "invalid");
    }
    assert_eq!(store.dump().await, before);
    let odd = "é \u{1} \u{7f} ���\u{202e} ' \" \\ %00 <inbox> \r\n".to_owned() + &"y".repeat(BODY_BYTES - 100);
    store.send(&mara, "ole", &odd).await.unwrap();
    assert_eq!(store.inbox_texts(&ole).await, [odd]);
}

#[tokio::test]
async fn leads_get_copies_that_name_the_recipient() {
    let store = Store::board().await;
    let (ann, bo) = (store.member("ann", &[Role::Lead]).await, store.member("bo", &[Role::Lead, Role::Pen]).await);
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.guest("ida").await;
    let new = NewMessage { cc: vec!["ida".to_owned(), "bo".to_owned(), "ole".to_owned(), "mara".to_owned()], ..message("ole", "Done") };
    let sent = store.db.send(&mara, &store.project, new).await.unwrap().message;
    assert_eq!(sent.cc, ["ann", "bo", "ida"], "each lead once, without sender and recipient");
    let copy = store.inbox(&ann).await.messages.remove(0).message;
    assert_eq!((copy.is_cc, copy.cc_original_to.as_deref(), copy.to_agent.as_str()), (true, Some("ole"), "ann"));
    assert_eq!((copy.content.as_str(), copy.id), ("Done", sent.id), "a copy is the same message");
    let direct = store.inbox(&ole).await.messages.remove(0).message;
    assert_eq!((direct.is_cc, direct.cc_original_to), (false, None));
    assert_eq!(store.send(&bo, "ole", "Good").await.unwrap().cc, ["ann"], "a lead gets no copy of its own message");
    assert_eq!(store.send(&bo, "ann", "Look").await.unwrap().cc, Vec::<String>::new());
    let shown = history(&store, HistoryQuery::default()).await;
    assert_eq!(contents(&shown), ["Done", "Good", "Look"], "history shows each message once");
    assert_eq!(shown.iter().map(|message| message.cc.len()).collect::<Vec<_>>(), [3, 1, 0]);
    assert_eq!((&shown[0].cc, shown[0].is_cc), (&sent.cc, false));
}

#[tokio::test]
async fn broadcast_is_one_row_and_skips_its_sender() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let new = NewMessage { cc: vec!["ole".to_owned()], ..message("all", "Stop") };
    let sent = store.db.send(&mara, &store.project, new).await.unwrap().message;
    assert_eq!((sent.to_agent.as_str(), sent.cc.len()), ("all", 0));
    for who in [&ann, &ole, &Caller::owner()] {
        assert_eq!(store.inbox_texts(who).await, ["Stop"]);
    }
    assert_eq!(store.inbox_texts(&mara).await, Vec::<String>::new(), "a sender does not receive its own broadcast");
    store.send(&mara, "ole", "It does not block its sender either").await.unwrap();
}

#[tokio::test]
async fn unread_messages_block_send_until_checked() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "mara", "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    let refused = refusal(store.send(&mara, "ole", "Hello").await);
    assert_eq!((refused.to_string().as_str(), refused.code()), ("BLOCKED: You have 2 unread message(s). Call check_inbox first", "unread"));
    assert_eq!(store.db.unread(&store.project, "mara").await.unwrap().blocking_count, 2);
    store.inbox(&mara).await;
    store.send(&mara, "ole", "Hello").await.unwrap();
    // The human sees new messages anyway and is never blocked.
    store.send(&mara, "human", "A question").await.unwrap();
    store.send(&Caller::owner(), "mara", "An answer").await.unwrap();
    store.send(&Caller::Runner, "mara", "A fact").await.unwrap();
}

#[tokio::test]
async fn copies_are_counted_but_do_not_block() {
    let store = Store::board().await;
    let lead = store.member("ann", &[Role::Lead]).await;
    let mara = store.member("mara", &[]).await;
    store.guest("ole").await;
    for _ in 0..60 {
        store.send(&mara, "ole", "Chatter").await.unwrap();
    }
    let unread = store.db.unread(&store.project, "ann").await.unwrap();
    assert_eq!((unread.count, unread.blocking_count, unread.urgent, unread.senders), (60, 0, false, vec!["mara".to_owned()]));
    store.send(&lead, "mara", "A chatty team does not silence its lead").await.unwrap();
    assert_eq!(store.db.unread(&store.project, "ann").await.unwrap().count, 60, "sending acknowledges only delivered messages");
}

#[tokio::test]
async fn reply_inherits_the_task_and_needs_access_to_the_original() {
    let store = Store::board().await;
    let (task, other) = (store.task("One").await, store.task("Two").await);
    let lead = store.member("ann", &[Role::Lead]).await;
    let (mara, ole, ida) = (store.member("mara", &[]).await, store.guest("ole").await, store.guest("ida").await);
    let about = NewMessage { task_id: Some(task.clone()), ..message("ole", "How far?") };
    let asked = store.db.send(&mara, &store.project, about).await.unwrap().message;
    assert_eq!(asked.task_id.as_ref(), Some(&task));
    store.inbox(&ole).await;
    let answer = |id, content| NewMessage { reply_to: Some(id), ..message("mara", content) };
    let replied = store.db.send(&ole, &store.project, answer(asked.id, "Half")).await.unwrap().message;
    assert_eq!((replied.task_id.as_ref(), replied.reply_to), (Some(&task), Some(asked.id)));
    let elsewhere = NewMessage { task_id: Some(other.clone()), ..answer(asked.id, "About the other") };
    assert_eq!(store.db.send(&ole, &store.project, elsewhere).await.unwrap().message.task_id, Some(other));
    assert_eq!(code(store.db.send(&ida, &store.project, answer(asked.id, "Me too")).await), "invalid");
    assert_eq!(code(store.db.send(&ida, &store.project, answer(404, "Me too")).await), "not-found");
    let own = NewMessage { to: "ole".to_owned(), ..answer(asked.id, "And another thing") };
    store.inbox(&mara).await;
    store.db.send(&mara, &store.project, own).await.unwrap();
    store.db.send(&lead, &store.project, answer(asked.id, "A lead reads along")).await.unwrap();
    assert_eq!(code(store.db.send(&mara, &store.project, NewMessage { task_id: "TASK-404".parse().ok(), ..message("ann", "x") }).await), "unread");
    store.inbox(&mara).await;
    assert_eq!(code(store.db.send(&mara, &store.project, NewMessage { task_id: "TASK-404".parse().ok(), ..message("ann", "x") }).await), "not-found");
    let thread = history(&store, HistoryQuery { task: Some(task), ..HistoryQuery::default() }).await;
    assert_eq!(contents(&thread), ["How far?", "Half", "And another thing", "A lead reads along"]);
}

#[tokio::test]
async fn recipient_of_a_copy_may_reply_to_the_message() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let (mara, _, ida) = (store.member("mara", &[]).await, store.guest("ole").await, store.guest("ida").await);
    let new = NewMessage { cc: vec!["ida".to_owned()], task_id: Some(task.clone()), ..message("ole", "Which port?") };
    let sent = store.db.send(&mara, &store.project, new).await.unwrap().message;
    let copy = store.inbox(&ida).await.messages.remove(0).message;
    let reply = NewMessage { reply_to: Some(copy.id), ..message("mara", "8080") };
    let reply = store.db.send(&ida, &store.project, reply).await.unwrap();
    assert_eq!((reply.message.reply_to, reply.message.task_id), (Some(sent.id), Some(task)));
    assert_eq!(reply.confirmed.iter().map(|read| read.id).collect::<Vec<_>>(), [sent.id], "sending reads the copy");
}

#[tokio::test]
async fn history_returns_newest_ten_and_pages_backwards() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    for number in 0..250 {
        store.send(&mara, if number % 5 == 0 { "human" } else { "ole" }, &number.to_string()).await.unwrap();
    }
    let newest: Vec<String> = (240..250).map(|number| number.to_string()).collect();
    assert_eq!(contents(&history(&store, HistoryQuery::default()).await), newest, "oldest of them first");
    let count = async |count| history(&store, HistoryQuery { count: Some(count), ..HistoryQuery::default() }).await.len();
    assert_eq!((count(0).await, count(50).await, count(u32::MAX).await), (0, 50, 200));
    let (mut all, mut before) = (Vec::new(), None);
    loop {
        let page = history(&store, HistoryQuery { count: Some(60), before, ..HistoryQuery::default() }).await;
        let Some(first) = page.first() else { break };
        before = Some(first.id);
        all = [page, all].concat();
    }
    assert_eq!(contents(&all), (0..250).map(|number| number.to_string()).collect::<Vec<_>>());
    let of = async |name: &str| {
        let agent = Some(name.to_owned());
        history(&store, HistoryQuery { count: Some(200), agent, ..HistoryQuery::default() }).await.len()
    };
    assert_eq!((of("human").await, of("ole").await, of("mara").await, of("ida").await), (50, 200, 200, 0));
    assert!(all.iter().all(|message| !message.read));
    store.inbox(&ole).await;
    let read = history(&store, HistoryQuery { count: Some(200), before: Some(64), ..HistoryQuery::default() }).await;
    assert_eq!(read.iter().filter(|message| message.read).count(), 50, "delivered messages are marked");
}

#[tokio::test]
async fn broadcast_is_read_once_delivered_to_all() {
    let store = Store::board().await;
    let (mara, ole, ida) = (store.member("mara", &[]).await, store.guest("ole").await, store.guest("ida").await);
    store.send(&mara, "all", "Stop").await.unwrap();
    store.guest("late").await;
    let read = async || history(&store, HistoryQuery::default()).await[0].read;
    store.inbox(&ole).await;
    assert!(!read().await);
    store.inbox(&ida).await;
    assert!(read().await);
}

#[tokio::test]
async fn equal_messages_are_kept_and_content_is_not_interpreted() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let content = "[HANDSHAKE #1] [CONTRACT v9] stand_down moon_crash: reconsider, generally. DROP TABLE messages; --";
    let sent = [store.send(&mara, "ole", content).await.unwrap(), store.send(&mara, "ole", content).await.unwrap()];
    let given: Vec<i64> = store.inbox(&ole).await.messages.iter().map(|given| given.message.id).collect();
    assert_eq!(given, sent.map(|sent| sent.id));
    assert_eq!((store.db.handshakes(&store.project).await.unwrap(), store.db.contracts(&store.project).await.unwrap()), (vec![], vec![]));
    store.send(&ole, "mara", "Nothing stopped").await.unwrap();
}

#[tokio::test]
async fn message_to_self_or_without_name_is_refused() {
    let store = Store::board().await;
    let mara = store.member("blue/mara", &[]).await;
    assert_eq!(code(store.send(&mara, "mara", "A note").await), "invalid");
    assert_eq!(code(store.send(&Caller::owner(), "human", "A note").await), "invalid");
    assert_eq!(code(store.send(&store.invite(), "mara", "Hello").await), "not-registered");
    assert_eq!(code(store.send(&mara, "", "Hello").await), "unknown-agent");
}

#[tokio::test]
async fn repeated_send_has_one_effect() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let first = store.send(&call(&mara, "1"), "ole", "Once").await.unwrap();
    let before = store.dump().await;
    assert_eq!(store.send(&call(&mara, "1"), "ole", "Twice").await.unwrap(), first);
    assert_eq!(store.dump().await, before);
    assert_eq!(store.inbox_texts(&ole).await, ["Once"]);
    // Call ids are separate for each agent.
    store.send(&call(&ole, "1"), "mara", "Mine").await.unwrap();
    assert_eq!(code(store.db.set_status(&call(&mara, "1"), &store.project, "x").await), "invalid");
}
