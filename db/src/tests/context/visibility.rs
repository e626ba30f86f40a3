//! The readers of a message. The first tests have the names and the expectations of shared-context-server's own tests of isolation.

use domain::context::session::visibility::Visibility::{AdminOnly, AgentOnly, Private, Public};
use domain::event::Event;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::person::PersonRole;

use super::session::{finding, person, purpose};
use crate::tests::external_agents::named;
use crate::tests::store::{Store, code};
use crate::{Caller, SessionMessageQuery};

#[tokio::test]
async fn private_message_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let id = store.db.create_context_session(&mara, Some(&store.project), purpose("Isolation")).await.unwrap().id;
    store.add(&mara, &id, "private", Private).await;
    store.add(&mara, &id, "public", Public).await;
    assert_eq!(store.texts(&mara, &id).await, ["public", "private"]);
    assert_eq!(store.texts(&ole, &id).await, ["public"]);
}

/// A message that others may not read changes nothing that they see of the session, not even its time.
#[tokio::test]
async fn private_message_does_not_show_in_its_session() {
    let store = Store::board().await;
    let (mara, ole, id) = (store.member("mara", &[]).await, store.member("ole", &[]).await, store.blackboard().await.id);
    let before = store.db.context_session(&ole, &id).await.unwrap();
    let hidden = store.add(&mara, &id, "private", Private).await;
    store.add(&mara, &id, "agent_only", AgentOnly).await;
    assert_eq!(store.db.context_session(&ole, &id).await.unwrap(), before);
    let public = store.add(&mara, &id, "public", Public).await;
    assert_ne!(store.db.context_session(&ole, &id).await.unwrap(), before);
    let audiences = store.db.session_audiences(&[hidden.id, public.id, 99]).await.unwrap();
    assert_eq!(audiences.into_iter().collect::<Vec<_>>(), [(hidden.id, "private:name:mara".to_owned()), (public.id, "public:".to_owned())]);
    assert!(store.db.session_audiences(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn agent_only_message_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let id = store.blackboard().await.id;
    store.add(&mara, &id, "agent_only", AgentOnly).await;
    assert_eq!(store.texts(&mara, &id).await, ["agent_only"]);
    assert_eq!(store.texts(&ole, &id).await, [""; 0]);
}

#[tokio::test]
async fn admin_only_message_protection() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    let member = person(2, "bea", PersonRole::Member);
    for agent in [&mara, &member] {
        assert_eq!(code(store.db.add_session_message(agent, &id, finding("admin_only", AdminOnly)).await), "admin-only");
    }
    store.add(&Caller::owner(), &id, "admin_only", AdminOnly).await;
    assert_eq!((store.texts(&mara, &id).await, store.texts(&member, &id).await), (Vec::new(), Vec::new()));
    assert_eq!(store.texts(&Caller::owner(), &id).await, ["admin_only"]);
}

#[tokio::test]
async fn cross_session_message_isolation() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let one = store.db.create_context_session(&mara, Some(&store.project), purpose("One")).await.unwrap().id;
    let two = store.db.create_context_session(&ole, Some(&store.project), purpose("Two")).await.unwrap().id;
    store.add(&mara, &one, "in session 1", Public).await;
    store.add(&ole, &two, "in session 2", Public).await;
    assert_eq!((store.texts(&mara, &one).await, store.texts(&ole, &two).await), (vec!["in session 1".to_owned()], vec!["in session 2".to_owned()]));
}

#[tokio::test]
async fn message_visibility_filter_parameter() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    for (text, visibility) in [("a", Public), ("b", Private), ("c", Public), ("d", Private)] {
        store.add(&mara, &id, text, visibility).await;
    }
    for (visibility, expected) in [(Some(Public), "ca"), (Some(Private), "db"), (Some(AdminOnly), ""), (None, "dcba")] {
        let query = SessionMessageQuery { visibility, ..SessionMessageQuery::default() };
        let found = store.db.session_messages(&mara, &id, &query).await.unwrap();
        assert_eq!(found.messages.iter().map(|message| message.content.as_str()).collect::<String>(), expected);
        assert_eq!(found.total_count, expected.len() as u64);
    }
}

/// The next attempt of an agent is another run, and the same agent.
#[tokio::test]
async fn successor_reads_what_was_meant_for_its_agent() {
    let store = Store::board().await;
    let id = store.blackboard().await.id;
    let (task, other) = (store.task("Page").await, store.task("Style").await);
    let write = async |caller: &Caller, of: &str| {
        store.add(caller, &id, &format!("{of} private"), Private).await;
        store.add(caller, &id, &format!("{of} agent_only"), AgentOnly).await;
    };
    let first = store.agent(&task, AgentKind::Coder).await;
    write(&first.caller, "coder 1").await;
    store.end(&first.run, EndClass::Stopped, None).await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    let second = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(store.texts(&second.caller, &id).await, ["coder 1 agent_only"]);
    let stranger = store.agent(&other, AgentKind::Coder).await;
    assert_eq!(store.texts(&stranger.caller, &id).await, [""; 0], "the coder of another task is another agent");
}

#[tokio::test]
async fn reviewer_never_reads_the_notes_of_a_coder() {
    let store = Store::board().await;
    let id = store.blackboard().await.id;
    let task = store.task("Page").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.add(&coder.caller, &id, "private", Private).await;
    store.add(&coder.caller, &id, "agent_only", AgentOnly).await;
    store.finish(&coder).await;
    let task: TaskId = store.in_review("Style").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    assert_eq!(store.texts(&reviewer.caller, &id).await, [""; 0]);
    store.add(&reviewer.caller, &id, "for reviewers", AgentOnly).await;
    assert_eq!(store.texts(&coder.caller, &id).await, ["agent_only", "private"]);
}

#[tokio::test]
async fn reading_of_private_messages_by_the_owner_is_recorded() {
    let store = Store::board().await;
    let (mara, id) = (store.member("mara", &[]).await, store.blackboard().await.id);
    store.add(&mara, &id, "private", Private).await;
    store.add(&mara, &id, "agent_only", AgentOnly).await;
    let seq = store.db.latest();
    assert_eq!(store.texts(&Caller::owner(), &id).await, [""; 0], "nothing is read by accident");
    assert_eq!(store.db.latest(), seq);
    let read = async |caller: &Caller, visibility| {
        let query = SessionMessageQuery { visibility: Some(visibility), ..SessionMessageQuery::default() };
        let found = store.db.session_messages(caller, &id, &query).await.unwrap();
        (found.messages.into_iter().map(|message| message.content).collect::<Vec<_>>(), found.total_count)
    };
    assert_eq!(read(&person(2, "bea", PersonRole::Member), Private).await, (Vec::new(), 0), "a member has not this right");
    assert_eq!(store.db.latest(), seq);
    assert_eq!(read(&Caller::owner(), Private).await, (vec!["private".to_owned()], 1));
    assert_eq!(read(&Caller::owner(), AgentOnly).await, (vec!["agent_only".to_owned()], 1));
    let events = store.db.events_after(seq, None, 10).await.unwrap();
    let kinds: Vec<&str> = events.iter().map(|envelope| envelope.event.kind()).collect();
    assert_eq!(kinds, ["session_private_read"; 2]);
    assert!(events.iter().all(|envelope| matches!(envelope.event, Event::Session(_)) && envelope.actor.to_string() == "human"));
    store.add(&Caller::owner(), &id, "own", AdminOnly).await;
    let seq = store.db.latest();
    assert_eq!(read(&Caller::owner(), AdminOnly).await, (vec!["own".to_owned()], 1));
    assert_eq!(store.db.latest(), seq, "only what belongs to others is recorded");
}

#[tokio::test]
async fn agent_that_gets_a_name_does_not_get_the_notes_of_the_one_before() {
    let store = Store::board().await;
    let id = store.blackboard().await.id;
    let ole = store.guest("ole").await;
    for visibility in [Public, Private, AgentOnly] {
        store.add(&ole, &id, visibility.as_str(), visibility).await;
    }
    store.leaves(&ole, "ole").await;
    store.db.register(&ole, &store.project, named("ole", &[]), None).await.unwrap();
    assert_eq!(store.texts(&ole, &id).await.len(), 3, "an agent that returns finds its own");
    store.leaves(&ole, "ole").await;
    let next = store.guest("ole").await;
    assert_eq!(store.texts(&next, &id).await, ["public"]);
    store.add(&next, &id, "mine", Private).await;
    assert_eq!(store.texts(&next, &id).await, ["mine", "public"]);
    let query = SessionMessageQuery { visibility: Some(Private), ..SessionMessageQuery::default() };
    assert_eq!(store.db.session_messages(&Caller::owner(), &id, &query).await.unwrap().total_count, 2, "the owner finds both");
}
