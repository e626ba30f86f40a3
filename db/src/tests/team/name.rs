//! Names: unique regardless of case, unambiguous, and reset when another agent reclaims them.

use domain::board::stage::Stage;
use domain::board::status::{HeldBy, Status};
use domain::team::agent::{Health, Registration};
use domain::team::role::Role;
use domain::team::token::TokenEvent;
use domain::team::token::TokenTerms;

use crate::Caller;
use crate::tests::external_agents::{assigned, call, contributors, messages_to, named, stage};
use crate::tests::store::{Store, code, refusal};

/// Registers `name` with the invite token, presenting `token`.
async fn join(store: &Store, name: &str, token: Option<&str>) -> crate::Result<crate::RegistrationResult> {
    store.db.register(&store.invite(), &store.project, named(name, &[]), token).await
}

async fn caller(store: &Store, token: &str) -> Caller {
    store.db.caller(token).await.unwrap().unwrap()
}

#[tokio::test]
async fn names_are_unique_and_reserved_in_any_case() {
    let store = Store::board().await;
    store.member("mara", &[]).await;
    store.member("Blue/ole", &[]).await;
    let before = store.dump().await;
    let make = async |name: &str| store.db.create_agent_token(&Caller::owner(), &store.project, named(name, &[]), TokenTerms::default()).await;
    for (given, known) in [("Mara", "mara"), ("MARA", "mara"), ("blue/Ole", "Blue/ole")] {
        let refused = refusal(make(given).await);
        assert_eq!((refused.code(), refused.to_string()), ("name-taken", format!("the name {known} is taken")));
        assert_eq!(code(join(&store, given, None).await), "name-taken", "{given}");
    }
    for kept in ["Human", "ALL", "human/x", "x/Runner", "Coder-task-012", "coder-TASK-012/x"] {
        assert_eq!((code(make(kept).await), code(join(&store, kept, None).await)), ("invalid", "invalid"), "{kept}");
    }
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn invited_name_must_not_resemble_an_active_one() {
    let store = Store::board().await;
    let red = store.member("red/mara", &[Role::Tester]).await;
    for name in ["mara", "blue/mara", "Mara"] {
        assert_eq!(code(join(&store, name, None).await), "name-taken", "{name}");
    }
    store.leaves(&red, "mara").await;
    let token = join(&store, "mara", None).await.unwrap().token.unwrap();
    // The human may create a team name like it, and the earlier agent keeps its own.
    store.member("red/mara", &[Role::Tester]).await;
    join(&store, "mara", Some(&token)).await.unwrap();
    let (ida, tom) = (store.member("ida", &[]).await, store.member("red/tom", &[]).await);
    assert_eq!(store.send(&ida, "mara", "Hello").await.unwrap().to_agent, "mara");
    assert_eq!(store.send(&tom, "mara", "Hello").await.unwrap().to_agent, "red/mara");
}

#[tokio::test]
async fn name_is_free_a_minute_after_a_lost_registration() {
    let store = Store::board().await;
    let lost = join(&store, "ole", None).await.unwrap();
    assert_eq!((lost.agent.last_seen, lost.agent.health), (None, Health::Unknown));
    let mara = store.member("mara", &[]).await;
    store.send(&mara, "ole", "It is not dead").await.unwrap();
    assert_eq!(code(join(&store, "ole", None).await), "name-taken");
    store.registered_a_minute_ago("ole").await;
    let second = join(&store, "ole", None).await.unwrap().token.unwrap();
    assert_eq!(code(join(&store, "ole", None).await), "name-taken", "the minute starts again");
    // An agent with a heartbeat has received its token and keeps the name longer.
    store.db.record_heartbeat(&caller(&store, &second).await).await.unwrap();
    store.registered_a_minute_ago("ole").await;
    assert_eq!(code(join(&store, "ole", None).await), "name-taken");
    let own = join(&store, "ole", Some(&second)).await.unwrap();
    assert!(own.agent.last_seen.is_some(), "presenting its own token counts as a heartbeat");
}

#[tokio::test]
async fn repeated_registration_keeps_its_name_until_a_heartbeat() {
    let store = Store::board().await;
    let invite = call(&store.invite(), "1");
    let join = async |by: &Caller| store.db.register(by, &store.project, named("ole", &[Role::Builder]), None).await;
    let mara = store.member("mara", &[]).await;
    let lost = join(&invite).await.unwrap();
    store.send(&mara, "ole", "Welcome").await.unwrap();
    assert_eq!(code(join(&call(&store.invite(), "2")).await), "name-taken", "another call may be another agent's");
    let seq = store.db.latest();
    let found = join(&invite).await.unwrap();
    assert_eq!((&found.agent.name, &found.agent.roles, found.agent.registered_at), (&lost.agent.name, &lost.agent.roles, lost.agent.registered_at));
    assert_eq!(store.since(seq).await, [TokenEvent::Created {}.into()]);
    let [lost, found] = [lost, found].map(|answer| answer.token.unwrap());
    assert_eq!(store.db.caller(&lost).await.unwrap(), None, "a name has one token");
    let kept: Vec<String> = sqlx::query_scalar("SELECT answer FROM calls").fetch_all(&store.db.readers).await.unwrap();
    assert!(!kept.is_empty() && kept.iter().all(|answer| !answer.contains(&lost) && !answer.contains(&found)), "tokens are not stored");

    // An agent with a heartbeat has received its token.
    let ole = caller(&store, &found).await;
    let connected = store.db.connect(&ole).unwrap();
    assert_eq!(code(join(&invite).await), "name-taken");
    drop(connected);
    assert_eq!(store.inbox_texts(&ole).await, ["Welcome"]);
    assert_eq!(code(join(&invite).await), "name-taken");
    // After the agent left, the call is like any other.
    store.leaves(&ole, "ole").await;
    let again = join(&invite).await.unwrap();
    assert!(again.token.is_some() && again.agent.last_seen.is_none());
    store.check_fold().await;
}

#[tokio::test]
async fn repeated_registration_with_own_token_keeps_its_name() {
    let store = Store::board().await;
    let token = join(&store, "ole", None).await.unwrap().token.unwrap();
    store.db.record_heartbeat(&caller(&store, &token).await).await.unwrap();
    let invite = call(&store.invite(), "1");
    let back = async || store.db.register(&invite, &store.project, named("ole", &[]), Some(&token)).await.unwrap().token.unwrap();
    let lost = back().await;
    let found = back().await;
    assert_eq!(store.db.caller(&lost).await.unwrap(), None);
    assert_eq!(caller(&store, &found).await.name().as_deref(), Some("ole"));
}

#[tokio::test]
async fn new_invite_token_discards_stored_answers() {
    let store = Store::board().await;
    let invite = call(&store.invite(), "1");
    let join = async || store.db.register(&invite, &store.project, named("ole", &[]), None).await;
    join().await.unwrap();
    store.db.create_invite_token(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(code(join().await), "name-taken");
}

#[tokio::test]
async fn connected_agent_keeps_its_name() {
    let store = Store::board().await;
    let first = join(&store, "ole", None).await.unwrap().token.unwrap();
    let _connected = store.db.connect(&caller(&store, &first).await).unwrap();
    store.registered_a_minute_ago("ole").await;
    assert_eq!(code(join(&store, "ole", None).await), "name-taken");
    assert!(store.db.caller(&first).await.unwrap().is_some(), "its token is still valid");
}

#[tokio::test]
async fn reclaimed_name_starts_with_empty_inbox() {
    let store = Store::board().await;
    let (mara, first) = (store.member("mara", &[]).await, join(&store, "ole", None).await.unwrap().token.unwrap());
    let ole = caller(&store, &first).await;
    let who = Registration { description: Some("Builds".to_owned()), ..named("ole", &[Role::Builder]) };
    store.db.register(&ole, &store.project, who, None).await.unwrap();
    store.send(&mara, "ole", "Given").await.unwrap();
    store.inbox(&ole).await;
    let first = store.send(&call(&ole, "1"), "human", "Understood").await.unwrap();
    store.send(&mara, "ole", "For ole alone").await.unwrap();
    store.send(&mara, "all", "For those who are there").await.unwrap();
    store.make_unresponsive("ole").await;
    store.db.presence.reset(&store.project, "ole");

    let stranger = join(&store, "ole", None).await.unwrap();
    assert_eq!((stranger.agent.unread, stranger.agent.roles, stranger.agent.description), (0, Vec::new(), None));
    let ole = caller(&store, &stranger.token.unwrap()).await;
    assert_eq!(store.inbox_texts(&ole).await, Vec::<String>::new());
    let second = store.send(&call(&ole, "1"), "mara", "Nothing keeps me").await.unwrap();
    assert!(second.id > first.id, "stored answers of the earlier agent are not returned");
    store.inbox(&mara).await;
    store.send(&mara, "all", "From now on").await.unwrap();
    assert_eq!(store.inbox_texts(&ole).await, ["From now on"]);
    store.check_fold().await;
}

#[tokio::test]
async fn own_token_restores_inbox_and_tasks() {
    let store = Store::board().await;
    let (mara, first) = (store.member("mara", &[]).await, join(&store, "ole", None).await.unwrap().token.unwrap());
    let task = assigned(&store, "One", "ole").await;
    store.send(&mara, "ole", "For ole alone").await.unwrap();
    store.make_unresponsive("ole").await;
    let own = join(&store, "ole", Some(&first)).await.unwrap().token.unwrap();
    assert_eq!(store.card(&task).await.contributors.assigned_to.as_deref(), Some("ole"));
    assert_eq!(store.inbox_texts(&caller(&store, &own).await).await.last().map(String::as_str), Some("For ole alone"));
}

#[tokio::test]
async fn reclaimed_name_unassigns_earlier_tasks() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let (waits, begun) = (assigned(&store, "Waits", "ole").await, assigned(&store, "Begun", "ole").await);
    stage(&store, &ole, &begun, Stage::InProgress).await.unwrap();
    store.leaves(&ole, "ole").await;
    assert!(store.card(&begun).await.attention.is_some());
    let told_before = messages_to(&store, "ole").await;
    join(&store, "ole", None).await.unwrap();
    let (waits, begun) = (store.card(&waits).await, store.card(&begun).await);
    assert_eq!((Stage::of(&waits), waits.held_by, contributors(&waits)), (Stage::Pending, Some(HeldBy::Human), "- /  / - / -".to_owned()));
    assert_eq!((begun.status, begun.held_by, contributors(&begun)), (Status::InProgress, Some(HeldBy::Human), "- / ole / - / -".to_owned()));
    assert_eq!((waits.attention, begun.attention), (None, None), "it is unassigned");
    assert_eq!(messages_to(&store, "ole").await, told_before, "the new agent gets no earlier messages");
    store.check_fold().await;
}
