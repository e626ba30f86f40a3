//! Classes of agents: who names them, and what they keep agents from.

use domain::board::stage::Stage;
use domain::board::task::{NewTask, TaskUpdate};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::class::AgentClass;
use domain::warroom::transport::Transport;

use crate::Caller;
use crate::tests::external_agents::{assigned, named, stage, submission, submit, update};
use crate::tests::store::{Store, code, new_task, refusal};

/// The class that an agent names, and the one that it has.
async fn register(store: &Store, caller: &Caller, name: &str, class: Option<AgentClass>) -> crate::Result<AgentClass> {
    let who = Registration { class, ..named(name, &[]) };
    Ok(store.db.register(caller, &store.project, who, None).await?.agent.class)
}

#[tokio::test]
async fn kind_of_a_managed_agent_is_its_class() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let agent = store.db.agent(&store.project, "coder-TASK-001").await.unwrap();
    assert_eq!((agent.class, agent.transport), (AgentClass::Coder, Transport::Daemon));
    assert_eq!(code(register(&store, &coder.caller, "coder-TASK-001", Some(AgentClass::Oracle)).await), "class-is-fixed");
}

#[tokio::test]
async fn external_agent_names_its_class_once_and_is_a_coder_or_lead_before() {
    let store = Store::board().await;
    let (mara, lena) = (store.member("mara", &[Role::Tester]).await, store.member("lena", &[Role::Lead]).await);
    let class = async |name: &str| store.db.agent(&store.project, name).await.unwrap().class;
    assert_eq!((class("mara").await, class("lena").await), (AgentClass::Coder, AgentClass::Lead));
    assert_eq!(register(&store, &mara, "mara", None).await.unwrap(), AgentClass::Coder);
    assert_eq!(register(&store, &mara, "mara", Some(AgentClass::Oracle)).await.unwrap(), AgentClass::Oracle);
    assert_eq!(register(&store, &mara, "mara", None).await.unwrap(), AgentClass::Oracle, "an omitted class stays");
    let before = store.dump().await;
    let fixed = refusal(register(&store, &mara, "mara", Some(AgentClass::Coder)).await);
    assert_eq!((fixed.code(), fixed.to_string().as_str()), ("class-is-fixed", "mara has the class oracle, and a class never changes"));
    assert_eq!(store.dump().await, before);
    assert_eq!(register(&store, &lena, "lena", Some(AgentClass::Recon)).await.unwrap(), AgentClass::Recon);
    // The person may give the name to another agent.
    store.db.create_agent_token(&Caller::owner(), &store.project, named("mara", &[]), TokenTerms::default()).await.unwrap();
    assert_eq!(class("mara").await, AgentClass::Coder);
    store.check_fold().await;
}

#[tokio::test]
async fn reclaimed_name_starts_without_the_class_of_its_former_agent() {
    let store = Store::board().await;
    let who = |class| Registration { class, transport: Some(Transport::Daemon), ..named("ole", &[]) };
    let joined = store.db.register(&store.invite(), &store.project, who(Some(AgentClass::Recon)), None).await.unwrap();
    assert_eq!((joined.agent.class, joined.agent.transport), (AgentClass::Recon, Transport::Daemon));
    let ole = store.db.caller(&joined.token.unwrap()).await.unwrap().unwrap();
    store.leaves(&ole, "ole").await;
    let again = store.db.register(&store.invite(), &store.project, named("ole", &[]), None).await.unwrap().agent;
    assert_eq!((again.class, again.transport), (AgentClass::Coder, Transport::Terminal));
    // Returning with its own token, it keeps both.
    let token = store
        .db
        .register(&store.invite(), &store.project, Registration { name: "kim".to_owned(), ..who(Some(AgentClass::Builder)) }, None)
        .await
        .unwrap()
        .token;
    let kim = store.db.register(&store.invite(), &store.project, named("kim", &[]), token.as_deref()).await.unwrap().agent;
    assert_eq!((kim.class, kim.transport), (AgentClass::Builder, Transport::Daemon));
}

#[tokio::test]
async fn classes_that_change_no_code_get_no_task_of_a_coder() {
    let store = Store::board().await;
    let lena = store.member("lena", &[Role::Lead]).await;
    store.plan_battle().await;
    for class in [AgentClass::Oracle, AgentClass::Recon, AgentClass::Builder] {
        let name = class.as_str();
        let agent = store.member(name, &[]).await;
        register(&store, &agent, name, Some(class)).await.unwrap();
        let task = store.task("One").await;
        let before = store.dump().await;
        let to = || Some(name.to_owned());
        for by in [&lena, &Caller::owner()] {
            let refused = refusal(store.db.assign_task(by, &task, to(), None).await);
            assert_eq!(refused.to_string(), format!("{name} has the class {class}, which changes no code"));
            assert!(refused.hint().contains("an agent of the class lead or coder"), "{}", refused.hint());
            let wish = TaskUpdate { assigned_to: to(), ..TaskUpdate::default() };
            assert_eq!(code(update(&store, by, &task, wish.clone()).await), "wrong-class");
            let staged = TaskUpdate { stage: Some(Stage::Assigned), ..wish };
            assert_eq!(code(update(&store, by, &task, staged).await), "wrong-class");
            let new = NewTask { assigned_to: to(), ..new_task("Two") };
            assert_eq!(code(store.db.create_task(by, &store.project, new).await), "wrong-class");
        }
        assert_eq!(store.dump().await, before, "nothing was written");
    }
    for class in [AgentClass::Coder, AgentClass::Lead] {
        let agent = store.member(class.as_str(), &[]).await;
        register(&store, &agent, class.as_str(), Some(class)).await.unwrap();
        let task = assigned(&store, "Three", class.as_str()).await;
        submit(&store, &task, &agent).await;
    }
    store.check_fold().await;
}

/// The class can be named after the task was assigned.
#[tokio::test]
async fn agent_that_changes_no_code_submits_no_task() {
    let store = Store::board().await;
    let ben = store.member("ben", &[]).await;
    let (begun, waiting): (TaskId, TaskId) = (assigned(&store, "One", "ben").await, assigned(&store, "Two", "ben").await);
    stage(&store, &ben, &begun, Stage::InProgress).await.unwrap();
    register(&store, &ben, "ben", Some(AgentClass::Recon)).await.unwrap();
    let before = store.dump().await;
    assert_eq!(code(store.db.submit_for_review(&ben, &begun, submission("Done")).await), "wrong-class");
    assert_eq!(code(stage(&store, &ben, &begun, Stage::Review).await), "wrong-class");
    assert_eq!(code(stage(&store, &ben, &waiting, Stage::InProgress).await), "wrong-class");
    assert_eq!(store.dump().await, before, "nothing was written");
    stage(&store, &ben, &begun, Stage::Failed).await.unwrap();
}
