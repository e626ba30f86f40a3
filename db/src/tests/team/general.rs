//! Generals: leads that act in all projects, because the owner created their token for that.

use domain::id::ProjectId;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::{Permissions, TokenAudience, TokenReach, TokenTerms};
use domain::warroom::lead::LeadRole;
use domain::wire::NewProject;

use crate::tests::external_agents::{message, named};
use crate::tests::store::{Store, code, new_task, probe};
use crate::{AgentCaller, Caller};

const ALL: TokenTerms = TokenTerms { permissions: Permissions { write: true, admin: false }, reach: TokenReach::All, expires_in: None };

async fn second(store: &Store) -> ProjectId {
    let new = NewProject { title: "Other".to_owned(), ..NewProject::default() };
    store.db.create_project(&Caller::owner(), new, probe()).await.unwrap().id
}

async fn general(store: &Store, name: &str) -> AgentCaller {
    let token = store.db.create_agent_token(&Caller::owner(), &store.project, named(name, &[Role::Lead]), ALL).await.unwrap();
    let holder = store.db.identify(&token, TokenAudience::Mcp).await.unwrap().unwrap();
    assert_eq!(holder.reach, TokenReach::All);
    let Caller::Agent(agent) = holder.caller else { panic!("the token is not an agent's") };
    agent
}

#[tokio::test]
async fn general_leads_in_every_project() {
    let store = Store::board().await;
    let there = second(&store).await;
    let zoe = general(&store, "zoe").await;
    assert_eq!(store.db.agent(&store.project, "zoe").await.unwrap().lead_role, Some(LeadRole::General));
    let visiting = store.db.enter_project(&zoe, &there).await.unwrap();
    assert_eq!(visiting.project(), Some(&there));
    let agent = store.db.agent(&there, "zoe").await.unwrap();
    assert_eq!((agent.lead_role, agent.trusted, agent.is_lead()), (Some(LeadRole::General), true, true));
    store.db.set_battle_plan(&visiting, &there, plan()).await.unwrap();
    let task = store.db.create_task(&visiting, &there, new_task("Divide")).await.unwrap().card;
    assert_eq!(task.project_id, there);
    store.db.send(&Caller::owner(), &there, message("zoe", "Well done")).await.unwrap();
    assert_eq!(store.db.check_inbox(&visiting, &there, None).await.unwrap().messages.len(), 1);
    // A second call joins nothing, and registering there keeps it a general.
    let before = store.dump().await;
    assert_eq!(store.db.enter_project(&zoe, &there).await.unwrap(), visiting);
    assert_eq!(store.dump().await, before);
    store.db.register(&visiting, &there, Registration { model: Some("opus".to_owned()), ..named("zoe", &[]) }, None).await.unwrap();
    assert_eq!(store.db.enter_project(&zoe, &there).await.unwrap(), visiting);
    store.check_fold().await;
}

#[tokio::test]
async fn only_the_owner_makes_a_general_and_only_of_a_lead() {
    let store = Store::board().await;
    let there = second(&store).await;
    let create = async |by: &Caller, who: Registration| code(store.db.create_agent_token(by, &store.project, who, ALL).await);
    let lena = store.member("lena", &[Role::Lead]).await;
    let zone_lead = Registration { zone: Some("audio".to_owned()), ..named("zoe", &[Role::Lead]) };
    let before = store.dump().await;
    assert_eq!(create(&lena, named("zoe", &[Role::Lead])).await, "human-only");
    assert_eq!(create(&Caller::owner(), named("zoe", &[Role::Builder])).await, "reach-of-other-class");
    assert_eq!(create(&Caller::owner(), zone_lead).await, "reach-of-other-class");
    // An agent that calls itself a general has no token that reaches further.
    let Caller::Agent(lena) = lena else { panic!("not the token of an agent") };
    assert_eq!(code(store.db.enter_project(&lena, &there).await), "not-found");
    assert_eq!(code(store.db.enter_project(&AgentCaller { name: "nobody".to_owned(), ..lena }, &there).await), "not-found");
    assert_eq!(store.dump().await, before);
    let zoe = general(&store, "zoe").await;
    assert_eq!(code(store.db.enter_project(&zoe, &ProjectId::new(99)).await), "not-found");
}

#[tokio::test]
async fn general_is_not_taken_for_another_agent() {
    let store = Store::board().await;
    let there = second(&store).await;
    let mara = store.db.create_agent_token(&Caller::owner(), &there, named("mara", &[]), TokenTerms::default()).await.unwrap();
    let general_mara = general(&store, "mara").await;
    assert_eq!(code(store.db.enter_project(&general_mara, &there).await), "name-of-other");
    assert!(store.db.caller(&mara).await.unwrap().is_some(), "the other agent keeps its token");

    // A removed general does not come back, and a token of that project gives the name to another agent.
    let zoe = general(&store, "zoe").await;
    store.db.enter_project(&zoe, &there).await.unwrap();
    store.db.deregister(&Caller::owner(), &there, "zoe").await.unwrap();
    assert_eq!(code(store.db.enter_project(&zoe, &there).await), "name-of-other");
    let ida = general(&store, "ida").await;
    let visiting = store.db.enter_project(&ida, &there).await.unwrap();
    assert_eq!(code(store.db.rename_agent(&visiting, &there, "ida", "ada").await), "name-of-general");
    let home = Caller::Agent(ida.clone());
    assert_eq!(code(store.db.rename_agent(&home, &store.project, "ida", "ada").await), "name-of-general");
    store.db.create_agent_token(&Caller::owner(), &there, named("ida", &[]), TokenTerms::default()).await.unwrap();
    assert_eq!(code(store.db.enter_project(&ida, &there).await), "name-of-other");
}

#[tokio::test]
async fn reach_ends_with_the_token() {
    let store = Store::board().await;
    let there = second(&store).await;
    let token = store.db.create_agent_token(&Caller::owner(), &store.project, named("zoe", &[Role::Lead]), ALL).await.unwrap();
    let Some(Caller::Agent(zoe)) = store.db.caller(&token).await.unwrap() else { panic!("the token is not an agent's") };
    store.db.enter_project(&zoe, &there).await.unwrap();
    let fresh = store.db.refresh_token(&Caller::Agent(zoe.clone()), &token).await.unwrap();
    assert_eq!(store.db.identify(&fresh.token, TokenAudience::Mcp).await.unwrap().unwrap().reach, TokenReach::All, "refreshing keeps it");
    // The next token of that name reaches one project.
    store.db.create_agent_token(&Caller::owner(), &store.project, named("zoe", &[Role::Lead]), TokenTerms::default()).await.unwrap();
    assert_eq!(code(store.db.enter_project(&zoe, &there).await), "not-found");
    let ole = general(&store, "ole").await;
    store.db.delete_project(&Caller::owner(), &there, "Other").await.unwrap();
    assert_eq!(code(store.db.enter_project(&ole, &there).await), "not-found");
}

fn plan() -> domain::warroom::battle_plan::NewBattlePlan {
    domain::warroom::battle_plan::NewBattlePlan { plan: "Win".to_owned(), scope: None, zone: None }
}
