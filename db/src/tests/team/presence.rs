//! Presence: heartbeats and open connections.

use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Health;

use crate::Caller;
use crate::tests::open::open_again;
use crate::tests::store::Store;

#[tokio::test]
async fn connections_and_calls_count_as_heartbeats() {
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
async fn last_heartbeat_survives_restart_and_ages() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let at = store.db.record_heartbeat(&mara).await.unwrap();
    let seq = store.db.latest();
    store.db.record_heartbeat(&mara).await.unwrap();
    assert_eq!(store.db.latest(), seq, "heartbeats are not in the log");
    let stored: String = sqlx::query_scalar("SELECT heartbeat_at FROM agents").fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(stored, at.to_string(), "heartbeats are stored at intervals");
    let Store { db, config, project, folder } = store;
    drop(db);
    let db = open_again(&config).await.unwrap();
    assert_eq!(db.agent(&project, "mara").await.unwrap().health, Health::Healthy);
    let store = Store { db, config, project, folder };
    store.make_unresponsive("mara").await;
    assert_eq!(store.db.agent(&store.project, "mara").await.unwrap().health, Health::Dead);
}

#[tokio::test]
async fn runs_send_heartbeats_and_other_callers_are_ignored() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.make_unresponsive("coder-TASK-001").await;
    store.db.record_heartbeat(&coder.caller).await.unwrap();
    assert_eq!(store.db.agent(&store.project, "coder-TASK-001").await.unwrap().health, Health::Healthy);
    for caller in [Caller::owner(), Caller::Runner, store.invite()] {
        store.db.record_heartbeat(&caller).await.unwrap();
        assert!(store.db.connect(&caller).is_none());
    }
    assert_eq!(store.db.agents(&store.project).await.unwrap().len(), 1);
}
