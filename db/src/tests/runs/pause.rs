//! Pauses: recorded once, kept by the store, and without a new run.

use domain::runs::agent_kind::AgentKind;
use domain::runs::pause::PauseStatus;
use domain::team::agent::Health;
use domain::team::person::PersonRole;
use domain::team::role::Role;

use crate::Pause;
use crate::caller::{Caller, PersonCaller};
use crate::tests::store::{Store, code, refusal};

async fn pause_of(store: &Store) -> Pause {
    store.db.snapshot().await.unwrap().pauses[&store.project]
}

#[tokio::test]
async fn pause_of_a_project_is_recorded_once_and_ends_once() {
    let store = Store::board().await;
    store.task("One").await;
    let seq = store.db.latest();
    let human = Caller::owner();
    let paused = store.db.pause_project(&human, &store.project).await.unwrap();
    assert_eq!(store.db.pause_project(&human, &store.project).await.unwrap(), paused, "the first time stays");
    assert_eq!(pause_of(&store).await, Pause { paused_at: paused.paused_at, resumed_at: None, is_archived: false });
    let resumed = store.db.resume_project(&human, &store.project).await.unwrap();
    assert_eq!(store.db.resume_project(&human, &store.project).await.unwrap(), resumed);
    assert_eq!(pause_of(&store).await, Pause { paused_at: None, resumed_at: Some(resumed.updated_at), is_archived: false });
    assert_eq!(store.kinds_since(seq).await, ["project_paused", "project_resumed"]);
    store.check_fold().await;
}

#[tokio::test]
async fn pause_of_all_leaves_that_of_a_project() {
    let store = Store::board().await;
    store.task("One").await;
    let human = Caller::owner();
    let own = store.db.pause_project(&human, &store.project).await.unwrap().paused_at;
    let seq = store.db.latest();
    let all = store.db.pause_all(&human).await.unwrap();
    assert!(all.paused_at.is_some());
    assert_eq!((store.db.pause_all(&human).await.unwrap(), store.db.pause_status().await.unwrap()), (all, all));
    assert_eq!(pause_of(&store).await.paused_at, own, "since the earlier one");
    assert_eq!(store.db.resume_all(&human).await.unwrap(), PauseStatus { paused_at: None });
    store.db.resume_all(&human).await.unwrap();
    assert_eq!(pause_of(&store).await.paused_at, own);
    assert!(pause_of(&store).await.resumed_at.is_some());
    assert_eq!(store.kinds_since(seq).await, ["work_paused", "work_resumed"]);
}

#[tokio::test]
async fn paused_task_gets_no_run_and_a_working_agent_goes_on() {
    let store = Store::board().await;
    let (one, two) = (store.task("One").await, store.task("Two").await);
    let agent = store.agent(&one, AgentKind::Coder).await;
    let human = Caller::owner();
    store.db.pause_project(&human, &store.project).await.unwrap();
    let refused = refusal(store.reserve(&two, AgentKind::Coder, "base").await);
    assert!(refused.to_string().contains("a person paused it"), "{refused}");
    store.db.add_comment(&agent.caller, &one, "Still here", None).await.unwrap();
    store.db.resume_project(&human, &store.project).await.unwrap();
    store.db.pause_all(&human).await.unwrap();
    assert!(refusal(store.reserve(&two, AgentKind::Coder, "base").await).to_string().contains("a person paused it"));
    store.db.resume_all(&human).await.unwrap();
    store.reserve(&two, AgentKind::Coder, "base").await.unwrap();
}

#[tokio::test]
async fn handshake_does_not_time_out_in_a_pause() {
    let store = Store::board().await;
    let ann = store.member("ann", &[Role::Lead]).await;
    store.guest("tom").await;
    let handshake = store.db.initiate_handshake(&ann, &store.project, "Ready?", vec!["tom".to_owned()]).await.unwrap();
    store.make_unresponsive("tom").await;
    let unanswered = async || store.db.snapshot().await.unwrap().unanswered;
    assert!(unanswered().await.iter().any(|(id, at)| *id == handshake.id && *at <= crate::now()));
    store.db.pause_project(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(unanswered().await, []);
    let resumed = store.db.resume_project(&Caller::owner(), &store.project).await.unwrap().updated_at;
    assert_eq!(unanswered().await, [(handshake.id, resumed.after(Health::DEAD_AFTER))], "ten minutes after the pause");
}

#[tokio::test]
async fn members_may_pause_and_agents_may_not() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await.caller;
    assert_eq!(code(store.db.pause_project(&agent, &store.project).await), "human-only");
    assert_eq!(code(store.db.resume_project(&agent, &store.project).await), "human-only");
    assert_eq!(code(store.db.pause_all(&agent).await), "human-only");
    assert_eq!(code(store.db.resume_all(&agent).await), "human-only");
    let member = Caller::Person(PersonCaller { id: 2, name: "ann".to_owned(), role: PersonRole::Member, is_companion: false });
    store.db.pause_all(&member).await.unwrap();
    store.db.pause_project(&member, &store.project).await.unwrap();
    assert_eq!(code(store.db.pause_project(&member, &"PROJ-009".parse().unwrap()).await), "not-found");
}
