//! Presence: who is there, by signs of life and by open connections.

use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Health;

use crate::Caller;
use crate::tests::open::open_again;
use crate::tests::store::Store;

#[tokio::test]
async fn a_connection_or_a_call_is_a_sign_of_life_and_silence_is_none() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let seen = async || {
        let agent = store.db.agent(&store.project, "mara").await.unwrap();
        (agent.health, agent.connected)
    };
    assert_eq!(seen().await, (Health::Unknown, false));
    let connected = store.db.connect(&mara).unwrap();
    assert_eq!(seen().await, (Health::Healthy, true));
    drop(connected);
    assert_eq!(seen().await, (Health::Healthy, false));
    let at = store.db.record_heartbeat(&mara).await.unwrap();
    assert_eq!(store.db.agent(&store.project, "mara").await.unwrap().last_seen, Some(at));
}

#[tokio::test]
async fn the_last_sign_of_life_outlives_the_process_and_grows_old() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let at = store.db.record_heartbeat(&mara).await.unwrap();
    let seq = store.db.latest();
    store.db.record_heartbeat(&mara).await.unwrap();
    assert_eq!(store.db.latest(), seq, "signs of life are not in the log");
    let stored: String = sqlx::query_scalar("SELECT heartbeat_at FROM agents").fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(stored, at.to_string(), "and are stored now and then");
    let Store { db, config, project, folder } = store;
    drop(db);
    let db = open_again(&config).await.unwrap();
    assert_eq!(db.agent(&project, "mara").await.unwrap().health, Health::Healthy);
    let store = Store { db, config, project, folder };
    store.silence("mara").await;
    assert_eq!(store.db.agent(&store.project, "mara").await.unwrap().health, Health::Dead);
}

#[tokio::test]
async fn runs_give_signs_of_life_and_those_who_are_no_agents_need_none() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.silence("coder-TASK-001").await;
    store.db.record_heartbeat(&coder.caller).await.unwrap();
    assert_eq!(store.db.agent(&store.project, "coder-TASK-001").await.unwrap().health, Health::Healthy);
    for caller in [Caller::Human, Caller::Runner, store.room()] {
        store.db.record_heartbeat(&caller).await.unwrap();
        assert!(store.db.connect(&caller).is_none());
    }
    assert_eq!(store.db.agents(&store.project).await.unwrap().len(), 1);
}
