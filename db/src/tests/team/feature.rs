//! Which features a project uses, and when it stops.

use domain::board::goal::NewGoal;
use domain::runs::agent_kind::AgentKind;
use domain::warroom::raid_log::NewRaidLogEntry;
use domain::warroom::zone::NewZone;

use crate::tests::store::Store;
use crate::{Caller, FeaturesInUse};

#[tokio::test]
async fn features_are_in_use_once_someone_uses_them() {
    let store = Store::board().await;
    let task = store.task("Add a page").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let in_use = async || store.db.features_in_use(&store.project, Some(&coder.caller)).await.unwrap();
    assert_eq!(in_use().await, FeaturesInUse::default(), "a managed agent is not an external one");

    let ole = store.guest("ole").await;
    assert_eq!(in_use().await, FeaturesInUse { external_agents: true, ..FeaturesInUse::default() });
    store.leaves(&ole, "ole").await;
    assert_eq!(in_use().await, FeaturesInUse::default());

    let kai = store.guest("kai").await;
    let other = store.db.initiate_handshake(&Caller::owner(), &store.project, "The plan", vec!["kai".to_owned()]).await.unwrap().id;
    assert_eq!(in_use().await, FeaturesInUse { external_agents: true, ..FeaturesInUse::default() }, "it waits for another agent");
    store.db.acknowledge(&kai, other).await.unwrap();
    store.leaves(&kai, "kai").await;
    let handshake = store.db.initiate_handshake(&Caller::owner(), &store.project, "The plan", vec![coder.caller.name().unwrap()]).await.unwrap().id;
    assert_eq!(in_use().await, FeaturesInUse { handshakes: true, ..FeaturesInUse::default() });
    store.db.acknowledge(&coder.caller, handshake).await.unwrap();
    assert_eq!(in_use().await, FeaturesInUse::default());

    let entry = serde_json::from_value(serde_json::json!({"key": "build", "value": "make"})).unwrap();
    store.db.set_memory(&coder.caller, entry).await.unwrap();
    assert_eq!(in_use().await, FeaturesInUse { memory: true, ..FeaturesInUse::default() });
    let lena = store.guest("lena").await;
    assert!(!store.db.features_in_use(&store.project, Some(&lena)).await.unwrap().memory, "it is the memory of coders");
    assert!(store.db.features_in_use(&store.project, None).await.unwrap().memory);
    store.leaves(&lena, "lena").await;
    store.db.delete_memory(&coder.caller, "build", None).await.unwrap();

    store.db.log_raid(&ole, &store.project, NewRaidLogEntry { entry: "Gone".to_owned(), priority: None }).await.unwrap_err();
    store.db.log_raid(&coder.caller, &store.project, NewRaidLogEntry { entry: "Taken".to_owned(), priority: None }).await.unwrap();
    assert_eq!(in_use().await, FeaturesInUse { raid_log: true, ..FeaturesInUse::default() });
    store.db.create_goal(&Caller::owner(), &store.project, NewGoal { title: "All of it".to_owned(), description: None }).await.unwrap();
    assert_eq!(in_use().await, FeaturesInUse { goals: true, raid_log: true, ..FeaturesInUse::default() });
    for oracle in [None, Some("human".to_owned())] {
        let zone = NewZone { name: "audio".to_owned(), paths: vec!["audio/".to_owned()], oracle: oracle.clone(), ..NewZone::default() };
        store.db.set_zone(&Caller::owner(), &store.project, zone).await.unwrap();
        assert_eq!(in_use().await.oracles, oracle.is_some());
    }
    let kim = store.guest("kim").await;
    store.claim(&coder.caller, "src/lib.rs").await.unwrap();
    store.claim(&kim, "src/main.rs").await.unwrap();
    assert!(!in_use().await.claim_waits, "no agent is in line");
    store.claim(&kim, "src/lib.rs").await.unwrap();
    assert!(in_use().await.claim_waits);
    assert!(!store.db.features_in_use(&store.project, Some(&kim)).await.unwrap().claim_waits, "it waits itself");
    assert!(!store.db.features_in_use(&store.project, None).await.unwrap().claim_waits);
}
