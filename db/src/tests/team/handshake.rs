//! Handshakes wait for exactly their targets.

use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Health;
use domain::team::handshake::{HandshakeEvent, HandshakeStatus};
use domain::team::role::Role;

use crate::Caller;
use crate::tests::external_agents::{call, message_texts};
use crate::tests::store::{Store, code, refusal};

async fn begin(store: &Store, by: &Caller, targets: &[&str]) -> crate::Result<domain::team::handshake::Handshake> {
    store.db.initiate_handshake(by, &store.project, "Build the page first", targets.iter().map(|name| (*name).to_owned()).collect()).await
}

#[tokio::test]
async fn targeted_handshake_needs_only_its_targets() {
    let store = Store::board().await;
    let (ann, bo) = (store.member("ann", &[Role::Lead]).await, store.member("bo", &[Role::Lead]).await);
    let (mara, ole) = (store.member("blue/mara", &[]).await, store.guest("ole").await);
    let ida = store.guest("ida").await;
    let seq = store.db.latest();
    let begun = begin(&store, &ann, &["ole", "mara", "ole"]).await.unwrap();
    assert_eq!(begun.pending().collect::<Vec<_>>(), ["blue/mara", "ole"], "each once, by full name");
    assert_eq!((begun.initiated_by.as_str(), begun.status), ("ann", HandshakeStatus::Pending));
    let asked = format!("[HANDSHAKE #{}] Build the page first\n\nAcknowledge it with ack_handshake, handshake_id {}.", begun.id, begun.id);
    assert_eq!((message_texts(&store.inbox(&mara).await), message_texts(&store.inbox(&ole).await)), (vec![asked.clone()], vec![asked]));
    assert_eq!(store.inbox(&ida).await.messages, [], "only targets are notified");
    let half = store.db.acknowledge(&ole, begun.id).await.unwrap();
    assert_eq!((half.acknowledged().collect::<Vec<_>>(), half.pending().collect::<Vec<_>>()), (vec!["ole"], vec!["blue/mara"]));
    let whole = store.db.acknowledge(&mara, begun.id).await.unwrap();
    assert_eq!((whole.status, whole.completed_at.is_some(), whole.pending().count()), (HandshakeStatus::Completed, true, 0));
    for lead in [&ann, &bo] {
        let notice = store.inbox(lead).await.messages.remove(0).message;
        assert_eq!((notice.from_agent.as_str(), notice.content), ("runner", format!("[HANDSHAKE #{}] ALL AGENTS SYNCED", begun.id)));
    }
    let kinds = store.kinds_since(seq).await;
    assert_eq!(kinds.iter().filter(|kind| kind.starts_with("handshake")).count(), 4, "{kinds:?}");
    assert!(store.since(seq).await.contains(&HandshakeEvent::Acknowledged { handshake: begun.id, agent: "ole".to_owned() }.into()));
    assert_eq!(store.db.handshake(begun.id).await.unwrap(), whole);
    assert_eq!(code(store.db.handshake(404).await), "not-found");
    let second = begin(&store, &Caller::owner(), &["ida"]).await.unwrap();
    assert_eq!(store.db.handshakes(&store.project).await.unwrap(), [second, whole], "newest first");
    store.check_fold().await;
}

async fn unanswered(store: &Store) -> Vec<i64> {
    store.db.snapshot().await.unwrap().unanswered.into_iter().filter(|(_, at)| *at <= crate::now()).map(|(id, _)| id).collect()
}

#[tokio::test]
async fn handshake_completes_without_unresponsive_last_target() {
    let store = Store::board().await;
    let (ann, bo) = (store.member("ann", &[Role::Lead]).await, store.member("bo", &[Role::Lead]).await);
    let (ole, tom) = (store.guest("ole").await, store.guest("tom").await);
    let id = begin(&store, &ann, &["ole", "tom"]).await.unwrap().id;
    store.db.record_heartbeat(&ole).await.unwrap();
    store.make_unresponsive("tom").await;
    assert!(unanswered(&store).await.is_empty(), "ole may still answer");
    store.db.complete_handshake(id).await.unwrap();
    assert_eq!(store.db.handshake(id).await.unwrap().pending().count(), 2);
    store.db.acknowledge(&tom, id).await.unwrap();
    store.db.presence.reset(&store.project, "ole");
    store.make_unresponsive("ole").await;
    let connected = store.db.connect(&ole).unwrap();
    assert!(unanswered(&store).await.is_empty(), "it is connected");
    drop(connected);
    store.db.presence.reset(&store.project, "ole");
    assert_eq!(unanswered(&store).await, [id]);
    let seq = store.db.latest();
    store.db.complete_handshake(id).await.unwrap();
    let whole = store.db.handshake(id).await.unwrap();
    assert_eq!((whole.status, whole.acknowledged().collect::<Vec<_>>()), (HandshakeStatus::Completed, vec!["tom"]));
    assert_eq!(store.kinds_since(seq).await, ["handshake_completed", "message_sent", "message_sent"]);
    for lead in [&ann, &bo] {
        assert_eq!(store.inbox_texts(lead).await, [format!("[HANDSHAKE #{id}] ALL AGENTS SYNCED without ole, who left or stopped responding")]);
    }
    assert!(unanswered(&store).await.is_empty(), "it is completed once");
    let late = store.db.acknowledge(&ole, id).await.unwrap();
    assert_eq!(late.acknowledged().collect::<Vec<_>>(), ["ole", "tom"], "a late acknowledgement is recorded");
    assert_eq!(code(store.db.complete_handshake(404).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn absent_target_times_out_ten_minutes_after_request() {
    let store = Store::board().await;
    store.member("mara", &[]).await;
    let id = begin(&store, &Caller::owner(), &["mara"]).await.unwrap().id;
    let asked = store.db.handshake(id).await.unwrap().created_at;
    assert_eq!(store.db.snapshot().await.unwrap().unanswered, [(id, asked.after(Health::DEAD_AFTER))]);
    store.db.complete_handshake(id).await.unwrap();
    assert_eq!(store.db.handshake(id).await.unwrap().status, HandshakeStatus::Pending);
}

/// A target of the previous process may still be reconnecting.
#[tokio::test]
async fn restart_does_not_time_out_targets() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let (ole, _) = (store.guest("ole").await, store.guest("tom").await);
    let id = begin(&store, &ann, &["ole", "tom"]).await.unwrap().id;
    store.make_unresponsive("tom").await;
    store.db.presence.listen_since(crate::now());
    assert_eq!(store.db.acknowledge(&ole, id).await.unwrap().pending().collect::<Vec<_>>(), ["tom"]);
    assert!(unanswered(&store).await.is_empty());
    store.make_unresponsive("tom").await;
    assert_eq!(unanswered(&store).await, [id]);
}

#[tokio::test]
async fn waits_for_human_and_managed_agents() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let task = store.task("One").await;
    store.agent(&task, AgentKind::Coder).await;
    begin(&store, &ann, &["human"]).await.unwrap();
    begin(&store, &ann, &["coder-TASK-001"]).await.unwrap();
    store.make_unresponsive("coder-TASK-001").await;
    assert_eq!(store.db.snapshot().await.unwrap().unanswered, []);
}

#[tokio::test]
async fn empty_target_list_means_active_non_leads() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    assert_eq!(code(begin(&store, &ann, &[]).await), "invalid", "no active agent");
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.member("bo", &[Role::Lead]).await;
    for name in ["ole", "ida", "tom"] {
        store.guest(name).await;
    }
    store.make_unresponsive("tom").await;
    store.db.deregister(&Caller::owner(), &store.project, "ida").await.unwrap();
    let begun = begin(&store, &ann, &[]).await.unwrap();
    assert_eq!(begun.pending().collect::<Vec<_>>(), ["coder-TASK-001", "ole"]);
    assert_eq!(begin(&store, &ann, &["all"]).await.unwrap().targets, begun.targets);
    store.db.acknowledge(&coder.caller, begun.id).await.unwrap();
}

#[tokio::test]
async fn second_or_foreign_acknowledgement_is_refused() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let (ole, ida) = (store.guest("ole").await, store.guest("ida").await);
    let id = begin(&store, &ann, &["ole"]).await.unwrap().id;
    assert_eq!(refusal(store.db.acknowledge(&ida, id).await).to_string(), format!("ida is not a target of handshake #{id}"));
    assert_eq!(code(store.db.acknowledge(&ann, id).await), "not-asked");
    assert_eq!(code(store.db.acknowledge(&Caller::owner(), id).await), "not-asked");
    assert_eq!(code(store.db.acknowledge(&store.invite(), id).await), "not-registered");
    assert_eq!(code(store.db.acknowledge(&ole, 404).await), "not-found");
    let first = store.db.acknowledge(&call(&ole, "1"), id).await.unwrap();
    assert_eq!(code(store.db.acknowledge(&ole, id).await), "acknowledged-before");
    assert_eq!(store.db.acknowledge(&call(&ole, "1"), id).await.unwrap(), first, "a repeated call returns the stored answer");
}

#[tokio::test]
async fn departed_target_is_dropped() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let (ole, ida) = (store.guest("ole").await, store.guest("ida").await);
    let id = begin(&store, &ann, &["ole", "ida"]).await.unwrap().id;
    store.db.acknowledge(&ole, id).await.unwrap();
    store.leaves(&ida, "ida").await;
    let whole = store.db.handshake(id).await.unwrap();
    assert_eq!((whole.status, whole.pending().count()), (HandshakeStatus::Completed, 0));
    assert!(whole.targets.iter().any(|target| target.agent_name == "ida" && target.left && target.acked_at.is_none()));
    assert_eq!(store.inbox_texts(&ann).await, [format!("[HANDSHAKE #{id}] ALL AGENTS SYNCED without ida, who left")]);
}

#[tokio::test]
async fn only_leads_initiate() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[Role::Tester]).await, store.guest("ole").await);
    let before = store.dump().await;
    assert_eq!(code(begin(&store, &mara, &["ole"]).await), "lead-only");
    assert_eq!(code(begin(&store, &ole, &["mara"]).await), "unverified");
    assert_eq!(code(store.db.set_spawn_policy(&mara, &store.project, "global", true, 1).await), "lead-only");
    assert_eq!(code(begin(&store, &Caller::owner(), &["nobody"]).await), "unknown-agent");
    assert_eq!(code(store.db.initiate_handshake(&Caller::owner(), &store.project, " ", Vec::new()).await), "invalid");
    assert_eq!(store.dump().await, before);
    let orchestrating = call(&Caller::owner(), "ignored");
    begin(&store, &orchestrating, &["ole"]).await.unwrap();
}

#[tokio::test]
async fn unresponsive_target_does_not_block_completion() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    let (ole, ida) = (store.guest("ole").await, store.guest("ida").await);
    store.guest("tom").await;
    let by_acknowledging = begin(&store, &ann, &["ole", "tom"]).await.unwrap().id;
    let by_leaving = begin(&store, &ann, &["ida", "tom"]).await.unwrap().id;
    store.make_unresponsive("tom").await;
    assert_eq!(store.db.handshake(by_acknowledging).await.unwrap().pending().collect::<Vec<_>>(), ["ole", "tom"]);
    let whole = store.db.acknowledge(&ole, by_acknowledging).await.unwrap();
    assert_eq!((whole.status, whole.pending().count()), (HandshakeStatus::Completed, 0));
    store.leaves(&ida, "ida").await;
    assert_eq!(store.db.handshake(by_leaving).await.unwrap().status, HandshakeStatus::Completed);
    let notice = |id, who| format!("[HANDSHAKE #{id}] ALL AGENTS SYNCED without {who}, who left or stopped responding");
    assert_eq!(store.inbox_texts(&ann).await, [notice(by_acknowledging, "tom"), notice(by_leaving, "ida, tom")]);
    store.check_fold().await;
}
