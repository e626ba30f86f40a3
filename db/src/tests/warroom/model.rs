//! Models of agents: which are refused for a role, and that an unknown one is not.

use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::class::AgentClass;
use domain::warroom::lead::LeadRole;

use crate::tests::external_agents::named;
use crate::tests::store::{Store, code, refusal};
use crate::{Caller, Result};

fn who(name: &str, class: Option<AgentClass>, role: Option<LeadRole>, model: &str) -> Registration {
    Registration { class, lead_role: role, model: Some(model.to_owned()), ..named(name, &[]) }
}

#[tokio::test]
async fn model_is_on_record_and_checked_against_the_role() {
    let store = Store::board().await;
    let (mara, lena) = (store.member("mara", &[]).await, store.member("lena", &[Role::Lead]).await);
    let join =
        async |by: &Caller, who: Registration| -> Result<Option<String>> { Ok(store.db.register(by, &store.project, who, None).await?.agent.model) };
    let before = store.dump().await;
    let refused = refusal(join(&mara, who("mara", None, None, "claude-haiku-4-5")).await);
    assert_eq!(refused.code(), "model-not-allowed");
    assert_eq!(refused.to_string(), "claude-haiku-4-5 is not a model for the role coder; allowed are opus, sonnet, gemini pro");
    assert!(refused.hint().contains("model_restrictions.coder"), "{}", refused.hint());
    assert_eq!(code(join(&lena, who("lena", None, None, "haiku")).await), "model-not-allowed", "a commander");
    assert_eq!(store.dump().await, before);
    assert_eq!(join(&mara, named("mara", &[])).await.unwrap(), None, "an unknown model is accepted");
    assert_eq!(join(&mara, who("mara", None, None, " Claude Sonnet 4 ")).await.unwrap().as_deref(), Some("Claude Sonnet 4"));
    assert_eq!(join(&mara, named("mara", &[])).await.unwrap().as_deref(), Some("Claude Sonnet 4"), "an omitted model stays");
    assert_eq!(join(&lena, who("lena", None, Some(LeadRole::General), "haiku")).await.unwrap().as_deref(), Some("haiku"));
    // The model that is on record counts for a new class, too.
    let ole = store.guest("ole").await;
    join(&ole, who("ole", Some(AgentClass::Oracle), None, "haiku")).await.unwrap();
    let token = |model| Registration { model: Some(String::from(model)), ..named("kim", &[]) };
    let create = async |model| store.db.create_agent_token(&Caller::owner(), &store.project, token(model), TokenTerms::default()).await;
    assert_eq!(code(create("haiku").await), "model-not-allowed");
    create("opus").await.unwrap();
    store.check_fold().await;
}

#[tokio::test]
async fn configured_list_replaces_the_default() {
    let store = Store::with_config(|config| {
        config.model_restrictions.coder = None;
        config.model_restrictions.builder = Some(vec!["flash lite".to_owned()]);
    })
    .await;
    let mara = store.member("mara", &[]).await;
    let join = async |class, model| store.db.register(&mara, &store.project, who("mara", class, None, model), None).await;
    join(None, "gpt-5").await.unwrap();
    assert_eq!(code(join(Some(AgentClass::Builder), "opus").await), "model-not-allowed");
    join(Some(AgentClass::Builder), "gemini-flash-2.0-lite").await.unwrap();
}
