//! Isolation: agents neither see nor change another project.

use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::team::contract::{ContractType, NewContract};
use domain::team::message::NewMessage;
use domain::team::minion::MinionStatus;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::wire::NewProject;

use crate::tests::external_agents::{message, named};
use crate::tests::store::{Store, code, new_task, probe};
use crate::{Caller, HistoryQuery};

/// Creates a second project with an agent of a name that the first also has.
async fn elsewhere(store: &Store) -> (ProjectId, Caller) {
    let new = NewProject { title: "Other".to_owned(), ..NewProject::default() };
    let other = store.db.create_project(&Caller::owner(), new, probe()).await.unwrap().id;
    let token = store.db.create_agent_token(&Caller::owner(), &other, named("mara", &[Role::Lead]), TokenTerms::default()).await.unwrap();
    let mara = store.db.caller(&token).await.unwrap().unwrap();
    (other, mara)
}

#[tokio::test]
async fn agents_cannot_act_in_another_project() {
    let store = Store::board().await;
    let (db, here) = (&store.db, &store.project);
    let (mara, ole) = (store.member("mara", &[Role::Lead]).await, store.guest("ole").await);
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let (there, theirs) = elsewhere(&store).await;
    let hidden = db.create_task(&Caller::owner(), &there, new_task("Hidden")).await.unwrap().card.id;
    let token = db.create_agent_token(&Caller::owner(), &there, named("ida", &[]), TokenTerms::default()).await.unwrap();
    let ida = db.caller(&token).await.unwrap().unwrap();
    let handshake = db.initiate_handshake(&theirs, &there, "Ours", Vec::new()).await.unwrap().id;
    db.check_inbox(&ida, &there, None).await.unwrap();
    let said = db.send(&ida, &there, message("mara", "Ours")).await.unwrap().message.id;
    let before = store.dump().await;
    let contract = || NewContract { name: "save".to_owned(), kind: ContractType::Other, spec: "x".to_owned() };
    for stranger in [&mara, &ole, &coder.caller, &store.invite()] {
        assert_eq!(code(db.send(stranger, &there, message("ida", "Hello")).await), "not-found");
        assert_eq!(code(db.check_inbox(stranger, &there, None).await), "not-found");
        assert_eq!(code(db.declare_contract(stranger, &there, contract()).await), "not-found");
        assert_eq!(code(db.initiate_handshake(stranger, &there, "Hello", Vec::new()).await), "not-found");
        assert_eq!(code(db.acknowledge(stranger, handshake).await), "not-found");
        assert_eq!(code(db.set_spawn_policy(stranger, &there, "global", true, 1).await), "not-found");
        assert_eq!(code(db.log_minion(stranger, &there, "x", MinionStatus::Spawned, None, None).await), "not-found");
        assert_eq!(code(db.deregister(stranger, &there, "ida").await), "not-found");
        assert_eq!(code(db.register(stranger, &there, named("mara", &[]), None).await), "not-found");
        assert_eq!(code(db.add_comment(stranger, &hidden, "Hello", None).await), "not-found");
    }
    for stranger in [&mara, &ole, &coder.caller] {
        assert_eq!(code(db.set_status(stranger, &there, "Here").await), "not-found");
        let foreign = NewMessage { reply_to: Some(said), ..message("human", "Hello") };
        assert_eq!(code(db.send(stranger, here, foreign).await), "not-found");
        let foreign = NewMessage { task_id: Some(hidden.clone()), ..message("human", "Hello") };
        assert_eq!(code(db.send(stranger, here, foreign).await), "not-found");
        assert_eq!(code(db.send(stranger, here, message("ida", "Hello")).await), "unknown-agent");
    }
    assert_eq!(store.dump().await, before);
}

#[tokio::test]
async fn same_name_in_two_projects_is_two_agents() {
    let store = Store::board().await;
    let (db, here) = (&store.db, &store.project);
    let (mara, ole) = (store.member("mara", &[]).await, store.guest("ole").await);
    let (there, theirs) = elsewhere(&store).await;
    store.send(&ole, "mara", "For ours").await.unwrap();
    store.send(&ole, "all", "For all of ours").await.unwrap();
    db.declare_contract(&ole, here, NewContract { name: "a".to_owned(), kind: ContractType::Other, spec: "x".to_owned() }).await.unwrap();
    assert_eq!((db.agent(here, "mara").await.unwrap().unread, db.agent(&there, "mara").await.unwrap().unread), (3, 0));
    assert_eq!(db.check_inbox(&theirs, &there, None).await.unwrap().messages, []);
    assert_eq!(db.history(&there, &HistoryQuery::default()).await.unwrap(), []);
    assert_eq!((db.contracts(&there).await.unwrap().len(), db.handshakes(&there).await.unwrap().len()), (0, 0));
    assert_eq!(store.inbox(&mara).await.messages.len(), 3);
    db.record_heartbeat(&mara).await.unwrap();
    assert_ne!(db.agent(&there, "mara").await.unwrap().last_seen, db.agent(here, "mara").await.unwrap().last_seen);
    // Token and acknowledgements are separate too.
    db.send(&theirs, &there, message("human", "Hello")).await.unwrap();
    assert_eq!(store.inbox(&mara).await.messages.len(), 3);
    db.create_agent_token(&Caller::owner(), &there, named("mara", &[]), TokenTerms::default()).await.unwrap();
    store.send(&mara, "ole", "Still here").await.unwrap();
}
