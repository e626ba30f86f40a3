//! Minions: limits per agent, and when a minion stops counting.

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::minion::{MAX_MINIONS, MinionEvent, MinionStatus, SpawnPolicy};
use domain::team::role::Role;

use crate::tests::external_agents::call;
use crate::tests::store::{Store, code, refusal};
use crate::{Caller, Result};

use MinionStatus::{Completed, Failed, Spawned};

async fn log(store: &Store, pilot: &Caller, description: &str, status: MinionStatus) -> Result<domain::team::minion::Minion> {
    store.db.log_minion(pilot, &store.project, description, status, (status != Spawned).then_some("Its result"), None).await
}

#[tokio::test]
async fn default_limit_is_three_minions() {
    let store = Store::board().await;
    let (ann, mara, ole) = (store.member("ann", &[Role::Lead]).await, store.member("blue/mara", &[]).await, store.guest("ole").await);
    let allowed = async |name: &str| {
        let allowance = store.db.allowance(&Caller::owner(), &store.project, Some(name)).await.unwrap();
        (allowance.scope, allowance.enabled, allowance.max_minions, allowance.active_minions, allowance.can_spawn)
    };
    assert_eq!(allowed("ole").await, ("global".to_owned(), true, 3, 0, true));
    assert_eq!(store.db.spawn_policies(&store.project).await.unwrap(), [SpawnPolicy::default()]);
    for number in 0..3 {
        log(&store, &ole, &number.to_string(), Spawned).await.unwrap();
    }
    assert_eq!(allowed("ole").await, ("global".to_owned(), true, 3, 3, false));
    assert_eq!(refusal(log(&store, &ole, "One too many", Spawned).await).to_string(), "ole cannot start a helper: 3 of 3 are running");
    log(&store, &mara, "Each has its own", Spawned).await.unwrap();

    let set = store.db.set_spawn_policy(&ann, &store.project, "mara", true, 1).await.unwrap();
    assert_eq!((set.scope.as_str(), set.set_by.as_deref()), ("blue/mara", Some("ann")), "by full name");
    store.db.set_spawn_policy(&Caller::owner(), &store.project, "global", false, 9).await.unwrap();
    assert_eq!(allowed("ole").await, ("global".to_owned(), false, 9, 3, false));
    assert_eq!(allowed("blue/mara").await, ("blue/mara".to_owned(), true, 1, 1, false), "an agent's own policy takes precedence");
    assert_eq!(refusal(log(&store, &ole, "x", Spawned).await).to_string(), "ole cannot start a helper: the policy allows none");
    let scopes: Vec<String> = store.db.spawn_policies(&store.project).await.unwrap().into_iter().map(|policy| policy.scope).collect();
    assert_eq!(scopes, ["global", "blue/mara"]);
    store.db.set_spawn_policy(&ann, &store.project, "mara", true, 2).await.unwrap();
    assert_eq!(allowed("blue/mara").await, ("blue/mara".to_owned(), true, 2, 1, true), "a policy set again replaces the earlier");
    store.check_fold().await;
}

#[tokio::test]
async fn policy_limit_and_scope_are_validated() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let before = store.dump().await;
    let set = async |caller: &Caller, scope: &str, most| store.db.set_spawn_policy(caller, &store.project, scope, true, most).await;
    assert_eq!(code(set(&Caller::owner(), "global", MAX_MINIONS + 1).await), "invalid");
    assert_eq!(code(set(&Caller::owner(), "nobody", 1).await), "unknown-agent");
    assert_eq!(code(set(&Caller::owner(), "", 1).await), "unknown-agent");
    assert_eq!(code(set(&ole, "global", 1).await), "unverified");
    assert_eq!(store.dump().await, before);
    let seq = store.db.latest();
    assert_eq!(set(&Caller::owner(), "global", MAX_MINIONS).await.unwrap().max_minions, MAX_MINIONS);
    assert_eq!(store.since(seq).await, [MinionEvent::SpawnPolicySet { scope: "global".to_owned() }.into()]);
}

#[tokio::test]
async fn newest_minion_ends_first_and_once() {
    let store = Store::board().await;
    let (ole, ida) = (store.guest("ole").await, store.guest("ida").await);
    let first = log(&store, &ole, "First", Spawned).await.unwrap();
    let second = log(&store, &call(&ole, "1"), "Second", Spawned).await.unwrap();
    assert_eq!(log(&store, &call(&ole, "1"), "Second", Spawned).await.unwrap(), second, "a repeated call starts no second minion");
    log(&store, &ida, "Another agent's", Spawned).await.unwrap();
    let ended = log(&store, &ole, "", Completed).await.unwrap();
    assert_eq!((ended.id, ended.status, ended.result.as_deref()), (second.id, Completed, Some("Its result")));
    assert_eq!(ended.task_description, "Second");
    assert_eq!(log(&store, &ole, "", Failed).await.unwrap().id, first.id);
    assert_eq!(code(log(&store, &ole, "", Completed).await), "invalid");
    assert_eq!(code(log(&store, &ole, " ", Spawned).await), "invalid");
    let all: Vec<(String, MinionStatus)> =
        store.db.minions(&store.project).await.unwrap().into_iter().map(|minion| (minion.pilot, minion.status)).collect();
    assert_eq!(all, [("ida".to_owned(), Spawned), ("ole".to_owned(), Completed), ("ole".to_owned(), Failed)], "newest first");
}

#[tokio::test]
async fn minion_ends_with_its_run_or_agent() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let ole = store.guest("ole").await;
    log(&store, &coder.caller, "Finished", Spawned).await.unwrap();
    log(&store, &coder.caller, "", Completed).await.unwrap();
    log(&store, &coder.caller, "Under way", Spawned).await.unwrap();
    log(&store, &ole, "Under way too", Spawned).await.unwrap();
    let seq = store.db.latest();
    store.end(&coder.run, EndClass::Failed, None).await;
    assert!(store.kinds_since(seq).await.contains(&"minion_logged"));
    assert_eq!(store.db.allowance(&Caller::owner(), &store.project, Some("coder-TASK-001")).await.unwrap().active_minions, 0);
    assert_eq!(store.db.allowance(&Caller::owner(), &store.project, Some("ole")).await.unwrap().active_minions, 1);
    store.leaves(&ole, "ole").await;
    let ended: Vec<(MinionStatus, Option<String>)> =
        store.db.minions(&store.project).await.unwrap().into_iter().map(|minion| (minion.status, minion.result)).collect();
    let because = |reason: &str| Some(reason.to_owned());
    assert_eq!(ended, [(Failed, because("Its agent left first.")), (Failed, because("Its run ended first.")), (Completed, because("Its result"))]);
    store.check_fold().await;
}

#[tokio::test]
async fn concurrent_minions_are_counted_exactly() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let begun: Vec<_> = (0..20)
        .map(|number: u32| {
            let (db, project, ole) = (store.db.clone(), store.project.clone(), ole.clone());
            tokio::spawn(async move { db.log_minion(&ole, &project, &number.to_string(), Spawned, None, None).await.is_ok() })
        })
        .collect();
    let mut started = 0;
    for outcome in begun {
        started += u32::from(outcome.await.unwrap());
    }
    assert_eq!((started, store.db.minions(&store.project).await.unwrap().len()), (3, 3));
}

#[tokio::test]
async fn tool_use_id_selects_the_minion_that_ends() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let log = async |status, tool: Option<&str>| store.db.log_minion(&ole, &store.project, "Looks", status, None, tool).await;
    let first = log(Spawned, Some("toolu_1")).await.unwrap();
    let second = log(Spawned, Some("toolu_2")).await.unwrap();
    assert_eq!(log(Spawned, Some("toolu_2")).await.unwrap(), second, "logged once");
    assert_eq!(log(Completed, Some("toolu_1")).await.unwrap().id, first.id);
    assert_eq!(log(Failed, Some("toolu_1")).await.unwrap().status, Completed, "the first report wins");
    assert_eq!(code(log(Completed, Some("toolu_404")).await), "invalid");
    assert_eq!(log(Completed, None).await.unwrap().id, second.id, "without an id the newest one ends");
}

#[tokio::test]
async fn late_start_of_a_failed_minion_uses_no_quota() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    let log = async |status| store.db.log_minion(&ole, &store.project, "Looks", status, None, Some("toolu_1")).await.unwrap();
    assert_eq!(log(Failed).await.status, Failed);
    assert_eq!(log(Spawned).await.status, Failed);
    assert_eq!(store.db.allowance(&Caller::owner(), &store.project, Some("ole")).await.unwrap().active_minions, 0);
}

#[tokio::test]
async fn newest_two_hundred_minions_are_listed() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    for number in 0..201 {
        log(&store, &ole, &number.to_string(), Spawned).await.unwrap();
        log(&store, &ole, "Its end", Completed).await.unwrap();
    }
    let listed: Vec<String> = store.db.minions(&store.project).await.unwrap().into_iter().map(|minion| minion.task_description).collect();
    assert_eq!((listed.len(), listed[0].as_str(), listed[199].as_str()), (200, "200", "1"));
}
