//! Agents: registration, ownership of names and departure.

use domain::runs::agent_kind::AgentKind;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::agent::{AgentEvent, Health, Registration};
use domain::team::role::Role;
use domain::team::token::TokenTerms;

use crate::Caller;
use crate::tests::external_agents::{call, manifest, named};
use crate::tests::store::{Store, code, refusal};

#[tokio::test]
async fn human_created_token_is_trusted() {
    let store = Store::board().await;
    let new = Registration {
        name: "mara".to_owned(),
        roles: vec![Role::Tester, Role::Lead, Role::Tester],
        description: Some("Looks twice".to_owned()),
        team: Some("platform".to_owned()),
        ..Registration::default()
    };
    let token = store.db.create_agent_token(&Caller::owner(), &store.project, new.clone(), TokenTerms::default()).await.unwrap();
    let mara = store.db.caller(&token).await.unwrap().unwrap();
    assert_eq!((mara.name().as_deref(), mara.project(), mara.run()), (Some("platform/mara"), Some(&store.project), None));
    assert_eq!((mara.actor().to_string(), mara.mover()), ("platform/mara".to_owned(), None));
    let agent = store.db.agent(&store.project, "platform/mara").await.unwrap();
    assert_eq!(
        (agent.roles.as_slice(), agent.trusted, agent.is_lead(), agent.health),
        (&[Role::Lead, Role::Tester][..], true, true, Health::Unknown)
    );
    assert_eq!((agent.team.as_deref(), agent.description.as_deref(), agent.left_at), (Some("platform"), Some("Looks twice"), None));
    assert_eq!(store.db.agents(&store.project).await.unwrap(), [agent]);
    for other in [&mara, &Caller::Runner, &store.invite()] {
        assert_eq!(code(store.db.create_agent_token(other, &store.project, new.clone(), TokenTerms::default()).await), "human-only");
        assert_eq!(code(store.db.create_invite_token(other, &store.project).await), "human-only");
    }
    for bad in ["", "a b", "all", "human", "runner", "coder-TASK-001"] {
        assert_eq!(
            code(store.db.create_agent_token(&Caller::owner(), &store.project, named(bad, &[]), TokenTerms::default()).await),
            "invalid",
            "{bad}"
        );
    }
    assert_eq!(code(store.db.create_invite_token(&Caller::owner(), &"PROJ-404".parse().unwrap()).await), "not-found");
    assert_eq!(code(store.db.agent(&store.project, "ole").await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn invite_token_can_only_register() {
    let store = Store::board().await;
    let (old, token) = (
        store.db.create_invite_token(&Caller::owner(), &store.project).await.unwrap(),
        store.db.create_invite_token(&Caller::owner(), &store.project).await.unwrap(),
    );
    assert_eq!(store.db.caller(&old).await.unwrap(), None, "the earlier token is revoked");
    let invite = store.db.caller(&token).await.unwrap().unwrap();
    assert_eq!((&invite, invite.name(), invite.project()), (&store.invite(), None, Some(&store.project)));
    let task = store.task("One").await;
    let before = store.dump().await;
    assert_eq!(code(store.send(&invite, "all", "Hello").await), "not-registered");
    assert_eq!(code(store.db.check_inbox(&invite, &store.project, None).await), "not-registered");
    assert_eq!(code(store.db.set_status(&invite, &store.project, "here").await), "not-registered");
    assert_eq!(code(store.db.add_comment(&invite, &task, "Hello", None).await), "not-registered");
    assert_eq!(store.dump().await, before);

    let joined = store.db.register(&invite, &store.project, named("ole", &[Role::Coder]), None).await.unwrap();
    assert_eq!((joined.agent.name.as_str(), joined.agent.trusted, joined.agent.is_lead()), ("ole", false, false));
    assert_eq!((joined.agent.roles, joined.agent.health), (vec![Role::Coder], Health::Unknown), "no heartbeat yet");
    let ole = store.db.caller(&joined.token.unwrap()).await.unwrap().unwrap();
    assert_eq!(ole.name().as_deref(), Some("ole"));
    assert_eq!(store.send(&ole, "all", "Hello").await.unwrap().from_agent, "ole");
}

#[tokio::test]
async fn register_cannot_grant_lead_or_claim_trusted_name() {
    let store = Store::board().await;
    let mara = store.member("mara", &[Role::Tester]).await;
    let invite = store.invite();
    let lead = store.db.register(&invite, &store.project, named("ole", &[Role::Coder, Role::Lead]), None).await;
    assert_eq!(refusal(lead).to_string(), "ole joined with an invite token, but taking the lead role requires a trusted agent");
    assert_eq!(code(store.db.register(&mara, &store.project, named("mara", &[Role::Lead]), None).await), "lead-only");
    store.make_unresponsive("mara").await;
    assert_eq!(code(store.db.register(&invite, &store.project, named("mara", &[]), None).await), "name-taken", "however silent it is");
    store.db.deregister(&Caller::owner(), &store.project, "mara").await.unwrap();
    assert_eq!(code(store.db.register(&invite, &store.project, named("mara", &[]), None).await), "name-taken", "nor when it has left");
    for caller in [&Caller::owner(), &Caller::Runner] {
        assert_eq!(code(store.db.register(caller, &store.project, named("ida", &[]), None).await), "not-you");
    }
    assert_eq!(store.db.agents(&store.project).await.unwrap(), []);
    assert_eq!(store.db.departed_agents(&store.project).await.unwrap().len(), 1);
}

#[tokio::test]
async fn register_updates_own_name_and_keeps_omitted_fields() {
    let store = Store::board().await;
    let lead = store.member("platform/mara", &[Role::Lead, Role::Pen]).await;
    let say = |description: Option<&str>, roles: &[Role]| Registration { description: description.map(str::to_owned), ..named("mara", roles) };
    let updated = store.db.register(&lead, &store.project, say(Some("Leads"), &[Role::Tester]), None).await.unwrap();
    assert_eq!((updated.token, updated.agent.roles), (None, vec![Role::Lead, Role::Tester]), "a lead keeps its role");
    let kept = store.db.register(&lead, &store.project, say(None, &[]), None).await.unwrap().agent;
    assert_eq!((kept.roles, kept.description.as_deref(), kept.trusted), (vec![Role::Lead, Role::Tester], Some("Leads"), true));
    for (claimed, team, read) in [
        ("ole", None, "ole"),
        ("mara", Some("other"), "other/mara"),
        ("platform/mara", Some("other"), "other/mara"),
        ("other/mara", None, "other/mara"),
        ("other/mara", Some("platform"), "other/mara"),
        ("", None, ""),
    ] {
        let who = Registration { team: team.map(str::to_owned), ..named(claimed, &[]) };
        let refused = refusal(store.db.register(&lead, &store.project, who, None).await);
        assert_eq!(refused, AgentRefusal::WrongIdentity { own: "platform/mara".to_owned(), claimed: read.to_owned() }.into());
    }
    let repeated = call(&lead, "1");
    let first = store.db.register(&repeated, &store.project, say(Some("Once"), &[]), None).await.unwrap();
    let again = store.db.register(&repeated, &store.project, say(Some("Twice"), &[]), None).await.unwrap();
    assert_eq!((first.agent.description.as_deref(), again.agent.description.as_deref()), (Some("Once"), Some("Once")));
    // An agent that left meanwhile joins again.
    store.leaves(&lead, "platform/mara").await;
    let back = store.db.register(&repeated, &store.project, say(None, &[]), None).await.unwrap().agent;
    assert_eq!(back.left_at, None);
}

#[tokio::test]
async fn invited_name_can_be_reclaimed() {
    let store = Store::board().await;
    let invite = store.invite();
    let join = async |shown: Option<&str>| store.db.register(&invite, &store.project, named("ole", &[]), shown).await;
    let first = join(None).await.unwrap().token.unwrap();
    assert_eq!(code(join(None).await), "name-taken");
    assert_eq!(code(join(Some("guessed")).await), "name-taken");
    let stranger = store.db.register(&invite, &store.project, named("ida", &[]), None).await.unwrap().token.unwrap();
    assert_eq!(code(join(Some(&stranger)).await), "name-taken", "the token of another agent claims only its own name");

    let second = join(Some(&first)).await.unwrap().token.unwrap();
    assert_eq!(store.db.caller(&first).await.unwrap(), None, "a name has one token");
    let ole = store.db.caller(&second).await.unwrap().unwrap();

    let connected = store.db.connect(&ole).unwrap();
    store.make_unresponsive("ole").await;
    assert_eq!(code(join(None).await), "name-taken", "who is connected is not silent");
    drop(connected);
    assert_eq!(code(join(None).await), "name-taken", "it was there a moment ago");

    store.leaves(&ole, "ole").await;
    assert_eq!(refusal(store.send(&ole, "ida", "Still me").await), AgentRefusal::Left { agent: "ole".to_owned() }.into());
    assert_eq!(refusal(store.db.set_status(&ole, &store.project, "Here").await), AgentRefusal::Left { agent: "ole".to_owned() }.into());
    store.db.register(&ole, &store.project, named("ole", &[]), None).await.unwrap();
    store.send(&ole, "ida", "Back").await.unwrap();
    store.leaves(&ole, "ole").await;
    join(None).await.unwrap();

    store.make_unresponsive("ida").await;
    store.db.register(&invite, &store.project, named("ida", &[]), None).await.unwrap();
    assert_eq!(store.db.caller(&stranger).await.unwrap(), None);
}

#[tokio::test]
async fn concurrent_registration_has_one_winner() {
    let store = Store::board().await;
    let joining: Vec<_> = (0..20)
        .map(|number| {
            let (db, invite, project) = (store.db.clone(), store.invite(), store.project.clone());
            let name = if number % 2 == 0 { "ole".to_owned() } else { format!("agent-{number}") };
            tokio::spawn(async move { db.register(&invite, &project, named(&name, &[]), None).await.is_ok() })
        })
        .collect();
    let mut joined = 0;
    for outcome in joining {
        joined += u32::from(outcome.await.unwrap());
    }
    assert_eq!(joined, 11, "ten distinct names, and one of ten equal ones");
    assert_eq!(store.db.agents(&store.project).await.unwrap().len(), 11);
    let tokens: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM tokens WHERE kind = 'agent'").fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(tokens, 11);
}

#[tokio::test]
async fn managed_agent_keeps_its_inbox_across_runs() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    let agent = store.db.agent(&store.project, "coder-TASK-001").await.unwrap();
    assert_eq!((agent.roles, agent.trusted, agent.run_id.as_ref()), (vec![Role::Coder], true, Some(&first.run)));
    assert_eq!((agent.task_id, agent.description.as_deref()), (Some(task.clone()), Some("One")));
    let ole = store.guest("ole").await;
    store.send(&ole, "coder-TASK-001", "Mind the gap").await.unwrap();
    store.end(&first.run, domain::runs::failure::EndClass::Failed, None).await;
    store.send(&ole, "all", "Hello").await.unwrap();

    let second = store.agent(&task, AgentKind::Coder).await;
    let who = Registration { description: Some("Again".to_owned()), ..named("coder-TASK-001", &[]) };
    store.db.register(&second.caller, &store.project, who, None).await.unwrap();
    let agent = store.db.agent(&store.project, "coder-TASK-001").await.unwrap();
    assert_eq!((agent.unread, agent.run_id.as_ref(), agent.trusted), (2, Some(&second.run), true));
    assert_eq!(store.inbox_texts(&second.caller).await, ["Mind the gap", "Hello"]);
    assert_eq!(code(store.db.deregister(&first.caller, &store.project, "coder-TASK-001").await), "stale-run");
    assert_eq!(code(store.db.check_inbox(&first.caller, &store.project, None).await), "stale-run");
    store.check_fold().await;
}

#[tokio::test]
async fn managed_agents_leave_with_their_task() {
    let store = Store::board().await;
    let task = store.task("One").await;
    store.complete(&task).await;
    let left: Vec<(String, bool)> =
        store.db.departed_agents(&store.project).await.unwrap().into_iter().map(|agent| (agent.name, agent.left_at.is_some())).collect();
    assert_eq!(store.db.agents(&store.project).await.unwrap(), []);
    assert_eq!(left, [("coder-TASK-001".to_owned(), true), ("reviewer-TASK-001".to_owned(), true)]);
    assert_eq!(code(store.send(&Caller::owner(), "coder-TASK-001", "Thanks").await), "dead-agent");
}

#[tokio::test]
async fn agent_leaves_or_is_removed_by_a_lead() {
    let store = Store::board().await;
    let (lead, mara, ole) = (store.member("ann", &[Role::Lead]).await, store.member("mara", &[]).await, store.guest("ole").await);
    let project = &store.project;
    assert_eq!(code(store.db.deregister(&mara, project, "ole").await), "lead-only");
    assert_eq!(code(store.db.deregister(&ole, project, "mara").await), "unverified");
    assert_eq!(code(store.db.deregister(&mara, project, "nobody").await), "unknown-agent");
    store.db.hand_over(&mara, project, manifest("Nothing is open.")).await.unwrap();
    let seq = store.db.latest();
    store.db.deregister(&lead, project, "ole").await.unwrap();
    store.db.deregister(&mara, project, "mara").await.unwrap();
    assert_eq!(store.since(seq).await, [AgentEvent::Left { agent: "ole".to_owned() }.into(), AgentEvent::Left { agent: "mara".to_owned() }.into()]);
    assert_eq!(code(store.db.deregister(&mara, project, "mara").await), "not-registered");
    // An agent that left may return with its token; a removed one needs a new token.
    store.db.register(&mara, project, named("mara", &[]), None).await.unwrap();
    for by in [&Caller::owner(), &lead] {
        let token = store.db.create_agent_token(&Caller::owner(), project, named("ida", &[]), TokenTerms::default()).await.unwrap();
        store.db.deregister(by, project, "ida").await.unwrap();
        assert_eq!(store.db.caller(&token).await.unwrap(), None, "{by:?}");
    }
    store.check_fold().await;
}

#[tokio::test]
async fn status_is_shown_until_cleared() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let seq = store.db.latest();
    let set = store.db.set_status(&call(&ole, "1"), &store.project, " Writes tests ").await.unwrap();
    assert_eq!(set.status.as_deref(), Some("Writes tests"));
    store.db.set_status(&call(&ole, "1"), &store.project, "Repeated").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["agent_status"]);
    assert_eq!(code(store.db.set_status(&ole, &store.project, &"x".repeat(501)).await), "invalid");
    assert_eq!(code(store.db.set_status(&Caller::owner(), &store.project, "Here").await), "not-registered");
    assert_eq!(store.db.set_status(&ole, &store.project, "  ").await.unwrap().status, None);
}
