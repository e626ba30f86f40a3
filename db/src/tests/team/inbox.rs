//! Inboxes: no message is lost or shown as new twice.

use std::collections::BTreeSet;

use domain::team::message::{INBOX_BYTES, INBOX_PAGE};
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{call, message, message_texts};
use crate::tests::store::Store;

#[tokio::test]
async fn lost_response_is_redelivered_and_marked() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "mara", "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    drop(store.inbox(&mara).await);
    assert_eq!(store.db.unread(&store.project, "mara").await.unwrap().count, 0);
    store.send(&ole, "mara", "Three").await.unwrap();
    assert_eq!(store.inbox_texts(&mara).await, ["(One)", "(Two)", "Three"]);
    assert_eq!(store.inbox_texts(&mara).await, ["(One)", "(Two)", "(Three)"], "no message is new twice");
}

#[tokio::test]
async fn acknowledged_response_is_not_redelivered() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "mara", "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    let seen = store.inbox(&mara).await.messages;
    store.send(&ole, "mara", "Three").await.unwrap();
    let ack = async |id| message_texts(&store.db.check_inbox(&mara, &store.project, Some(id)).await.unwrap());
    assert_eq!(ack(seen[0].message.id).await, ["(Two)", "Three"], "later messages of the response are not acknowledged");
    assert_eq!(ack(seen[1].message.id).await, ["(Three)"]);
    assert_eq!(ack(404).await, ["(Three)"], "an unknown id acknowledges nothing");
    let last = store.inbox(&mara).await.messages[0].message.id;
    assert_eq!(ack(last).await, Vec::<String>::new());
}

#[tokio::test]
async fn send_acknowledges_last_delivery() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "mara", "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    store.inbox(&mara).await;
    let answer = async |id: &str| store.db.send(&call(&mara, id), &store.project, message("human", "Understood")).await.unwrap();
    let sent = answer("1").await;
    let named: Vec<(i64, &str)> = sent.confirmed.iter().map(|read| (read.id, read.from_agent.as_str())).collect();
    assert_eq!(named, [(1, "ole"), (2, "ole")], "the result names them in case that response was lost");
    assert_eq!(answer("1").await, sent, "a repeated call too");
    assert_eq!(answer("2").await.confirmed, [], "once");
    assert_eq!(store.inbox_texts(&mara).await, Vec::<String>::new());
}

#[tokio::test]
async fn repeated_check_returns_current_inbox() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "mara", "One").await.unwrap();
    assert_eq!(store.inbox_texts(&call(&mara, "1")).await, ["One"]);
    store.send(&ole, "mara", "Two").await.unwrap();
    assert_eq!(store.inbox_texts(&call(&mara, "1")).await, ["(One)", "Two"], "not an old response");
    let last = store.send(&ole, "mara", &"x".repeat(INBOX_BYTES)).await.unwrap().id;
    assert_eq!(store.inbox(&mara).await.messages.len(), 1, "the others do not fit");
    let confirm = async || message_texts(&store.db.check_inbox(&call(&mara, "1"), &store.project, Some(last)).await.unwrap());
    assert_eq!(confirm().await, ["(One)", "(Two)"]);
    assert_eq!(confirm().await, ["(One)", "(Two)"], "repeating the check does not acknowledge the lost response");
}

#[tokio::test]
async fn confirmed_messages_are_read_and_others_are_not() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    for text in ["One", "Two", "Three"] {
        store.send(&ole, "mara", text).await.unwrap();
    }
    store.db.confirm_inbox(&mara, vec![1]).await.unwrap();
    assert_eq!(store.db.unread(&store.project, "mara").await.unwrap().count, 3, "one that was not delivered did not arrive");
    store.inbox(&mara).await;
    store.db.confirm_inbox(&ole, vec![1, 2]).await.unwrap();
    store.db.confirm_inbox(&mara, vec![1, 3, 404]).await.unwrap();
    store.db.confirm_inbox(&mara, Vec::new()).await.unwrap();
    assert_eq!(store.inbox_texts(&mara).await, ["(Two)"]);
    assert_eq!(store.db.acknowledged_messages(&[1, 2, 3]).await.unwrap(), [1, 3]);
}

#[tokio::test]
async fn full_inbox_is_paged_by_count_and_size() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    for number in 0..INBOX_PAGE + 2 {
        store.send(&ole, "mara", &number.to_string()).await.unwrap();
    }
    let page = store.inbox(&mara).await;
    assert_eq!((page.messages.len(), page.remaining), (50, 2));
    let last = page.messages.last().map(|given| given.message.id);
    let rest = store.db.check_inbox(&mara, &store.project, last).await.unwrap();
    assert_eq!((message_texts(&rest), rest.remaining), (vec!["50".to_owned(), "51".to_owned()], 0));
    store.send(&mara, "human", "Read").await.unwrap();

    for _ in 0..3 {
        store.send(&ole, "mara", &"x".repeat(INBOX_BYTES - 1)).await.unwrap();
    }
    let page = store.inbox(&mara).await;
    assert_eq!((page.messages.len(), page.remaining), (1, 2), "one message is always delivered, whatever its size");
}

#[tokio::test]
async fn later_page_does_not_acknowledge_a_lost_response() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    for number in 0..2 * INBOX_PAGE {
        store.send(&ole, if number % 2 == 0 { "mara" } else { "all" }, &number.to_string()).await.unwrap();
    }
    let lost = message_texts(&store.inbox(&mara).await);
    let seen = store.inbox(&mara).await;
    assert!(seen.messages.iter().all(|given| !given.redelivered), "new messages fill the page");
    let ack = seen.messages.last().map(|given| given.message.id);
    let again = store.db.check_inbox(&mara, &store.project, ack).await.unwrap();
    assert_eq!(message_texts(&again), lost.iter().map(|word| format!("({word})")).collect::<Vec<_>>());
    store.send(&mara, "human", "Now I have all").await.unwrap();
    assert_eq!(store.inbox(&mara).await.messages, []);
}

#[tokio::test]
async fn new_agent_gets_future_broadcasts_returning_agent_gets_missed() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    store.send(&ole, "all", "Before").await.unwrap();
    let mara = store.member("mara", &[]).await;
    store.send(&ole, "all", "One").await.unwrap();
    store.send(&ole, "mara", "Two").await.unwrap();
    store.leaves(&mara, "mara").await;
    store.send(&ole, "all", "Three").await.unwrap();
    store.db.register(&mara, &store.project, crate::tests::external_agents::named("mara", &[]), None).await.unwrap();
    assert_eq!(store.db.agent(&store.project, "mara").await.unwrap().unread, 3);
    assert_eq!(store.inbox_texts(&mara).await, ["One", "Two", "Three"]);
    store.send(&mara, "human", "Back").await.unwrap();
    store.send(&ole, "all", "Four").await.unwrap();
    assert_eq!(store.inbox_texts(&mara).await, ["Four"]);
}

#[tokio::test]
async fn unread_count_is_the_same_everywhere() {
    let store = Store::board().await;
    let lead = store.member("ann", &[Role::Lead]).await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let numbers = async |name: &str| {
        let unread = store.db.unread(&store.project, name).await.unwrap();
        (store.db.agent(&store.project, name).await.unwrap().unread, unread.count, unread.blocking_count)
    };
    store.send(&ole, "mara", "One").await.unwrap();
    store.send(&ole, "all", "Two").await.unwrap();
    assert_eq!((numbers("ann").await, numbers("mara").await, numbers("ole").await), ((2, 2, 1), (2, 2, 2), (0, 0, 0)));
    let unread = store.db.unread(&store.project, "mara").await.unwrap();
    assert_eq!(unread.alert().as_deref(), Some("*** YOU HAVE 2 UNREAD MESSAGE(S) from ole *** Call check_inbox now!"));
    store.inbox(&mara).await;
    store.send(&mara, "ole", "Three").await.unwrap();
    assert_eq!((numbers("ann").await, numbers("mara").await, numbers("ole").await), ((3, 3, 1), (0, 0, 0), (1, 1, 1)));
    store.inbox(&lead).await;
    store.send(&lead, "mara", "Four").await.unwrap();
    store.send(&Caller::owner(), "ole", "Five").await.unwrap();
    let urgent = async |name: &str| store.db.unread(&store.project, name).await.unwrap().urgent;
    assert!(urgent("mara").await && urgent("ole").await, "messages from a lead and the human are urgent");
    assert_eq!(numbers("ann").await, (1, 1, 0), "the copy of the human's message");
    assert_eq!(store.db.unread(&store.project, "human").await.unwrap().senders, ["ole"]);
}

#[tokio::test]
async fn concurrent_traffic_loses_and_repeats_nothing() {
    const AGENTS: usize = 20;
    const SENDS: usize = 20;
    let store = Store::board().await;
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        agents.push(store.member(&format!("agent-{number}"), &[]).await);
    }
    // Each agent writes to its neighbour and sometimes to all, checks its inbox when blocked, and loses every third response.
    let working: Vec<_> = agents
        .iter()
        .enumerate()
        .map(|(number, agent)| {
            let (db, project, agent) = (store.db.clone(), store.project.clone(), agent.clone());
            tokio::spawn(async move {
                let (mut new, mut seen, mut looks) = (Vec::new(), BTreeSet::new(), 0);
                for turn in 0..SENDS {
                    let to = if turn % 10 == 0 { "all".to_owned() } else { format!("agent-{}", (number + 1) % AGENTS) };
                    let content = format!("{number}/{turn}");
                    while let Err(error) = db.send(&agent, &project, message(&to, &content)).await {
                        assert!(error.to_string().starts_with("BLOCKED"), "{error}");
                        loop {
                            let inbox = db.check_inbox(&agent, &project, seen.last().copied()).await.unwrap();
                            new.extend(inbox.messages.iter().filter(|given| !given.redelivered).map(|given| given.message.id));
                            looks += 1;
                            if looks % 3 != 0 {
                                seen.extend(inbox.messages.iter().map(|given| given.message.id));
                                break;
                            }
                        }
                    }
                }
                (new, seen)
            })
        })
        .collect();
    let broadcasts = AGENTS * SENDS / 10;
    let mut done = Vec::new();
    for work in working {
        done.push(work.await.unwrap());
    }
    for (number, (mut new, mut seen)) in done.into_iter().enumerate() {
        let agent = &agents[number];
        loop {
            let inbox = store.db.check_inbox(agent, &store.project, seen.last().copied()).await.unwrap();
            if inbox.messages.is_empty() {
                break;
            }
            new.extend(inbox.messages.iter().filter(|given| !given.redelivered).map(|given| given.message.id));
            seen.extend(inbox.messages.iter().map(|given| given.message.id));
        }
        let direct = SENDS - SENDS / 10;
        let others = broadcasts - SENDS / 10;
        assert_eq!(new.len(), new.iter().collect::<BTreeSet<_>>().len(), "agent {number} was shown something as new twice");
        assert_eq!((new.len(), seen.len()), (direct + others, direct + others), "agent {number}");
        assert!(new.iter().all(|id| seen.contains(id)));
    }
    let stored: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM messages").fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(usize::try_from(stored).unwrap(), AGENTS * SENDS);
    store.check_fold().await;
}

/// The deliveries to `name`, oldest first: kind and state.
async fn deliveries(store: &Store, name: &str) -> Vec<String> {
    let select = "SELECT kind || ' ' || state FROM deliveries WHERE recipient = $1 ORDER BY message_id";
    sqlx::query_scalar(select).bind(name).fetch_all(&store.db.readers).await.unwrap()
}

#[tokio::test]
async fn broadcast_is_offered_and_read_per_recipient() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    for number in 0..4 {
        store.send(&ole, "all", &number.to_string()).await.unwrap();
    }
    assert_eq!(deliveries(&store, "mara").await, ["broadcast pending"; 4]);
    let given = store.inbox(&mara).await.messages;
    assert_eq!(deliveries(&store, "mara").await, ["broadcast offered"; 4]);
    store.db.check_inbox(&mara, &store.project, Some(given[1].message.id)).await.unwrap();
    let half = ["broadcast read", "broadcast read", "broadcast offered", "broadcast offered"];
    assert_eq!(deliveries(&store, "mara").await, half);
    store.send(&mara, "human", "All of it").await.unwrap();
    assert_eq!(deliveries(&store, "mara").await, ["broadcast read"; 4]);
    store.send(&ole, "all", "New").await.unwrap();
    assert_eq!(store.inbox_texts(&mara).await, ["New"]);
    assert_eq!(deliveries(&store, "human").await[..4], ["broadcast pending"; 4], "nobody else has read them");
    assert_eq!(deliveries(&store, "ole").await, [""; 0], "a sender has no delivery");
}

#[tokio::test]
async fn copy_and_original_are_read_separately() {
    let store = Store::board().await;
    let (ann, mara, ole) = (store.member("ann", &[Role::Lead]).await, store.member("mara", &[]).await, store.guest("ole").await);
    let sent = store.send(&mara, "ole", "Half done").await.unwrap();
    let copy = store.inbox(&ann).await.messages.remove(0).message;
    assert_eq!(copy.id, sent.id);
    store.db.check_inbox(&ann, &store.project, Some(copy.id)).await.unwrap();
    assert_eq!((deliveries(&store, "ann").await, deliveries(&store, "ole").await), (vec!["copy read".to_owned()], vec!["direct pending".to_owned()]));
    assert_eq!(store.inbox_texts(&ole).await, ["Half done"]);
    store.db.check_inbox(&ole, &store.project, Some(sent.id)).await.unwrap();
    assert_eq!(deliveries(&store, "ole").await, ["direct read"]);
}

#[tokio::test]
async fn copies_do_not_block_send() {
    let store = Store::board().await;
    let (ann, mara) = (store.member("ann", &[Role::Lead]).await, store.member("mara", &[]).await);
    for number in 0..INBOX_PAGE {
        store.send(&mara, "human", &number.to_string()).await.unwrap();
    }
    store.send(&mara, "ann", "Direct").await.unwrap();
    store.send(&mara, "all", "To all").await.unwrap();
    let page = store.inbox(&ann).await;
    assert_eq!((page.messages.len(), page.remaining), (50, 2));
    assert_eq!(message_texts(&page)[48..], ["Direct", "To all"], "delivered first, and shown in order of arrival");
    store.send(&ann, "mara", "Nothing keeps me").await.unwrap();
}

#[tokio::test]
async fn human_acknowledges_broadcasts_by_id() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    for number in 0..3 {
        store.send(&ole, "all", &number.to_string()).await.unwrap();
    }
    let given = store.inbox(&Caller::owner()).await.messages;
    assert_eq!(deliveries(&store, "human").await, ["broadcast offered"; 3], "delivered is not read");
    store.db.check_inbox(&Caller::owner(), &store.project, Some(given[1].message.id)).await.unwrap();
    assert_eq!(store.inbox_texts(&Caller::owner()).await, ["(2)"]);
    store.db.check_inbox(&Caller::owner(), &store.project, Some(given[2].message.id)).await.unwrap();
    store.send(&ole, "all", "New").await.unwrap();
    assert_eq!(store.inbox_texts(&Caller::owner()).await, ["New"]);
}

#[tokio::test]
async fn departed_agent_gets_no_delivery_until_it_returns() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    store.send(&ole, "all", "Read").await.unwrap();
    store.inbox(&mara).await;
    store.send(&mara, "human", "Bye").await.unwrap();
    for missed in ["One", "Two"] {
        store.leaves(&mara, "mara").await;
        store.send(&ole, "all", missed).await.unwrap();
        store.send(&Caller::Runner, "ole", "Not for mara").await.unwrap();
        assert_eq!(store.db.unread(&store.project, "mara").await.unwrap().count, 0);
        store.inbox(&ole).await;
        store.db.register(&mara, &store.project, crate::tests::external_agents::named("mara", &[]), None).await.unwrap();
        assert_eq!(store.inbox_texts(&mara).await, [missed], "what it missed, once");
        store.send(&mara, "human", "Back").await.unwrap();
    }
    // An agent that registers again without leaving has missed nothing.
    store.db.register(&mara, &store.project, crate::tests::external_agents::named("mara", &[]), None).await.unwrap();
    assert_eq!(store.inbox_texts(&mara).await, Vec::<String>::new());
}
