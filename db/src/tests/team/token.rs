//! Tokens: they identify the caller and are stored as hashes.

use domain::board::transition::Mover;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use domain::team::token::TokenTerms;

use crate::tests::external_agents::named;
use crate::tests::store::{Store, code};
use crate::{Caller, new_token};

#[tokio::test]
async fn caller_comes_from_token_only() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let human = new_token();
    store.db.set_owner("owner", &human).await.unwrap();
    assert_eq!(store.db.caller(&human).await.unwrap(), Some(Caller::owner()));
    assert_eq!(store.db.caller(&agent.token).await.unwrap().as_ref(), Some(&agent.caller));
    let Caller::Run(run) = &agent.caller else { panic!("a run's token names a run") };
    assert_eq!((&run.run_id, &run.task_id, &run.project_id, run.phase), (&agent.run, &task, &store.project, AgentKind::Coder));
    assert_eq!((agent.caller.actor().to_string(), agent.caller.mover()), ("coder-TASK-001".to_owned(), Some(Mover::Coder)));
    assert_eq!((agent.caller.run(), Caller::owner().run()), (Some(&agent.run), None));
    for stranger in ["", "human", "' OR 1", &new_token(), &human[1..], &human.to_uppercase()] {
        assert_eq!(store.db.caller(stranger).await.unwrap(), None, "{stranger}");
    }
    assert_eq!((human.len(), human == new_token()), (64, false));
    let rows = store.dump().await.concat();
    let stored = |token: &str| token.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
    assert!(!rows.contains(&stored(&human)) && !rows.contains(&stored(&agent.token)), "only hashes are kept");
}

#[tokio::test]
async fn agent_and_invite_tokens_are_stored_as_hashes() {
    let store = Store::board().await;
    let (human, project) = (&Caller::owner(), &store.project);
    let seq = store.db.latest();
    let invite = store.db.create_invite_token(human, project).await.unwrap();
    let old = store.db.create_agent_token(human, project, named("mara", &[]), TokenTerms::default()).await.unwrap();
    let mara = store.db.create_agent_token(human, project, named("mara", &[Role::Lead]), TokenTerms::default()).await.unwrap();
    let ole = store.db.register(&store.invite(), project, named("ole", &[]), None).await.unwrap().token.unwrap();
    let kinds = ["token_made", "agent_registered", "token_made", "agent_registered", "token_made", "agent_registered"];
    assert_eq!(store.kinds_since(seq).await, kinds);
    assert_eq!(store.db.caller(&old).await.unwrap(), None, "a name has one token");
    let caller = async |token: &str| store.db.caller(token).await.unwrap().unwrap();
    assert_eq!((caller(&mara).await.name(), caller(&ole).await.name()), (Some("mara".to_owned()), Some("ole".to_owned())));
    assert_eq!(caller(&invite).await, store.invite());
    store.db.require_active_reader(&caller(&mara).await).await.unwrap();
    let rows = store.dump().await.concat();
    for token in [invite, old, mara, ole] {
        let stored = token.bytes().map(|byte| format!("{byte:02X}")).collect::<String>();
        assert!(!rows.contains(&stored));
        assert_eq!(token.len(), 64);
    }
}

#[tokio::test]
async fn new_human_token_revokes_the_previous_one() {
    let store = Store::board().await;
    let (old, new) = (new_token(), new_token());
    let seq = store.db.latest();
    store.db.set_owner("owner", &old).await.unwrap();
    store.db.set_owner("owner", &old).await.unwrap();
    store.db.set_owner("owner", &new).await.unwrap();
    assert_eq!(store.db.caller(&old).await.unwrap(), None);
    assert_eq!(store.db.caller(&new).await.unwrap(), Some(Caller::owner()));
    assert_eq!(store.kinds_since(seq).await, ["token_made", "token_made"]);
    store.check_fold().await;
}

/// Subscribers to revocations are not woken by other commits.
#[tokio::test]
async fn only_revocations_notify_subscribers() {
    let store = Store::board().await;
    let (human, project) = (&Caller::owner(), &store.project);
    let mut taken_back = store.db.token_revocations();
    let mut woken = || {
        let woken = taken_back.has_changed().unwrap();
        taken_back.mark_unchanged();
        woken
    };
    let mara = store.db.create_agent_token(human, project, named("mara", &[]), TokenTerms::default()).await.unwrap();
    assert!(store.db.caller(&mara).await.unwrap().is_some());
    woken();
    store.task("One").await;
    assert!(!woken(), "a commit without tokens");
    store.db.create_agent_token(human, project, named("mara", &[]), TokenTerms::default()).await.unwrap();
    assert!(woken(), "a name has one token");
    assert_eq!(store.db.caller(&mara).await.unwrap(), None);
    store.db.create_invite_token(human, project).await.unwrap();
    assert!(woken());
    store.db.set_owner("owner", &new_token()).await.unwrap();
    assert!(woken());
}

#[tokio::test]
async fn ended_run_cannot_read() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.require_active_reader(&Caller::owner()).await.unwrap();
    store.db.require_active_reader(&agent.caller).await.unwrap();
    store.finish(&agent).await;
    assert_eq!(
        store.db.caller(&agent.token).await.unwrap().as_ref(),
        Some(&agent.caller),
        "the token still identifies its run, so the refusal can say why"
    );
    assert_eq!(code(store.db.require_active_reader(&agent.caller).await), "stale-run");
}

#[tokio::test]
async fn departed_agent_cannot_read_until_it_registers() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    store.db.require_active_reader(&mara).await.unwrap();
    store.leaves(&mara, "mara").await;
    assert_eq!(code(store.db.require_active_reader(&mara).await), "not-registered");
    store.db.register(&mara, &store.project, named("mara", &[]), None).await.unwrap();
    store.db.require_active_reader(&mara).await.unwrap();
}
