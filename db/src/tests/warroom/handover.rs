//! Handovers: each is read once by its successor, and no external agent leaves without one.

use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::team::role::Role;
use domain::warroom::handover::{HandoverFile, MAX_FILES, NewHandover, REMOVABLE_AFTER};
use domain::warroom::raid_log::{NewRaidLogEntry, Priority};

use crate::tests::external_agents::manifest;
use crate::tests::store::{Store, code};
use crate::{Caller, now};

#[tokio::test]
async fn successor_of_a_run_gets_the_handover_once() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    store.db.hand_over(&first.caller, &store.project, manifest("Old")).await.unwrap();
    let files = vec![HandoverFile { path: "notes.md".to_owned(), bytes: 7 }];
    let left = store.db.hand_over(&first.caller, &store.project, NewHandover { manifest: "Next: the parser".to_owned(), files }).await.unwrap();
    assert_eq!(
        (left.agent.as_str(), &left.task_id, &left.run_id, left.automatic),
        ("coder-TASK-001", &Some(task.clone()), &Some(first.run.clone()), false)
    );
    let entry = NewRaidLogEntry { entry: "Port 80 is taken".to_owned(), priority: Some(Priority::High) };
    store.db.log_raid(&Caller::owner(), &store.project, entry).await.unwrap();
    store.end(&first.run, EndClass::Stopped, None).await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();

    let second = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    let handoff = store.db.handoff(&second.run).await.unwrap();
    assert_eq!((handoff.predecessor.as_ref().unwrap(), handoff.log.len()), (&left, 1), "the newest one");
    assert!(store.db.handoff(&second.run).await.unwrap().predecessor.is_some(), "reading it for a prompt is not enough");
    store.db.continue_handover(&second.run).await.unwrap();
    store.db.continue_handover(&second.run).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["handover_continued"]);
    let handoff = store.db.handoff(&second.run).await.unwrap();
    assert_eq!((handoff.predecessor, handoff.log.len()), (None, 0));
    let all = store.db.handovers(&store.project, None, 50).await.unwrap();
    let read: Vec<(&str, Option<&str>)> = all.iter().map(|one| (one.manifest.as_str(), one.continued_by.as_deref())).collect();
    assert_eq!(read, [("Next: the parser", Some("coder-TASK-001")), ("Old", Some("coder-TASK-001"))], "both are kept");
    assert_eq!(store.db.handovers(&store.project, Some(all[0].id), 50).await.unwrap(), all[1..]);
    let other = store.task("Sort").await;
    let other = store.agent(&other, AgentKind::Coder).await;
    assert_eq!(store.db.handoff(&other.run).await.unwrap().predecessor, None, "the coder of another task");
}

#[tokio::test]
async fn runner_records_only_a_missing_handover() {
    let store = Store::board().await;
    let task = store.task("Search").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.hand_over_for_run(&coder.run, manifest("It said last: Hm.")).await.unwrap();
    store.db.hand_over_for_run(&coder.run, manifest("Again")).await.unwrap();
    let all = store.db.handovers(&store.project, None, 50).await.unwrap();
    assert_eq!((all.len(), all[0].automatic, all[0].manifest.as_str()), (1, true, "It said last: Hm."));
    assert_eq!(code(store.db.hand_over_for_run(&domain::id::RunId::new(99), manifest("x")).await), "not-found");
}

#[tokio::test]
async fn external_agent_continues_the_work_of_one_that_left() {
    let store = Store::board().await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    store.db.hand_over(&mara, &store.project, manifest("Next: the parser")).await.unwrap();
    let cold = async |who: &Caller, predecessor: Option<&str>| store.db.cold_start(who, &store.project, predecessor).await;
    assert_eq!(code(cold(&ole, Some("mara")).await), "lead-only", "mara is still present");
    assert_eq!(cold(&ole, None).await.unwrap().handover, None, "the handover of another");
    store.db.deregister(&mara, &store.project, "mara").await.unwrap();
    let briefing = cold(&ole, None).await.unwrap();
    assert_eq!(briefing.waiting.iter().map(|one| one.agent.as_str()).collect::<Vec<_>>(), ["mara"]);
    assert_eq!(cold(&ole, Some("mara")).await.unwrap().handover.unwrap().manifest, "Next: the parser");
    assert_eq!(code(cold(&ole, Some("mara")).await), "no-handover", "it is read once");
    assert_eq!(code(cold(&ole, Some("zoe")).await), "not-found");
    let briefing = cold(&ole, None).await.unwrap();
    assert_eq!((briefing.waiting.len(), briefing.handover), (0, None));
    store.db.hand_over(&ole, &store.project, manifest("Mine")).await.unwrap();
    assert_eq!(cold(&ole, None).await.unwrap().handover.unwrap().continued_by, None, "its own earlier session");
    assert_eq!(cold(&ole, None).await.unwrap().handover, None);
}

#[tokio::test]
async fn agent_that_gets_a_name_does_not_get_the_handover_of_the_one_before() {
    let store = Store::board().await;
    let ole = store.guest("ole").await;
    store.leaves(&ole, "ole").await;
    let next = store.guest("ole").await;
    assert_eq!(store.db.cold_start(&next, &store.project, None).await.unwrap().handover, None);
}

#[tokio::test]
async fn briefing_names_tasks_plan_and_log() {
    let store = Store::board().await;
    let (lena, ole) = (store.member("lena", &[Role::Lead]).await, store.member("ole", &[]).await);
    store.plan_battle().await;
    let mine = store.task("Search").await;
    store.task("Sort").await;
    store.db.assign_task(&lena, &mine, Some("ole".to_owned()), None).await.unwrap();
    for (text, priority) in [("a", Priority::Normal), ("b", Priority::Critical)] {
        let entry = NewRaidLogEntry { entry: text.to_owned(), priority: Some(priority) };
        store.db.log_raid(&lena, &store.project, entry).await.unwrap();
    }
    let briefing = store.db.cold_start(&ole, &store.project, None).await.unwrap();
    assert_eq!((briefing.plan.unwrap().plan.as_str(), briefing.log.len(), briefing.log[0].entry.as_str()), ("Win", 1, "b"));
    assert_eq!(briefing.tasks.iter().map(|task| task.title.as_str()).collect::<Vec<_>>(), ["Search"]);
    let all = store.db.cold_start(&lena, &store.project, None).await.unwrap();
    assert_eq!(all.tasks.len(), 2, "a lead sees all open tasks");
}

#[tokio::test]
async fn external_agent_leaves_only_after_it_handed_over() {
    let store = Store::board().await;
    let (lena, ole) = (store.member("lena", &[Role::Lead]).await, store.member("ole", &[]).await);
    let at = store.db.record_heartbeat(&ole).await.unwrap();
    let remove = async |by: &Caller, name: &str| store.db.deregister(by, &store.project, name).await;
    assert_eq!(code(remove(&ole, "ole").await), "handover-needed");
    assert_eq!(code(remove(&lena, "ole").await), "handover-needed");
    crate::testing::set_time(at.after(REMOVABLE_AFTER));
    assert_eq!(code(remove(&ole, "ole").await), "handover-needed", "silence is no excuse for itself");
    remove(&lena, "ole").await.unwrap();
    assert_eq!(code(remove(&lena, "lena").await), "handover-needed");
    store.db.hand_over(&lena, &store.project, manifest("Nothing is open.")).await.unwrap();
    remove(&lena, "lena").await.unwrap();
    let kim = store.guest("kim").await;
    store.db.record_heartbeat(&kim).await.unwrap();
    remove(&Caller::owner(), "kim").await.unwrap();
    assert!(now() > at);
}

#[tokio::test]
async fn impossible_handovers_leave_nothing() {
    let store = Store::board().await;
    let ole = store.member("ole", &[]).await;
    let file = || HandoverFile { path: "a.md".to_owned(), bytes: 1 };
    for new in
        [manifest(""), manifest("a\0b"), manifest(&"x".repeat(1 << 20)), NewHandover { manifest: "x".to_owned(), files: vec![file(); MAX_FILES + 1] }]
    {
        assert_eq!(code(store.db.hand_over(&ole, &store.project, new).await), "invalid");
    }
    assert_eq!(code(store.db.hand_over(&Caller::owner(), &store.project, manifest("x")).await), "invalid", "persons write comments");
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let other = store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id;
    assert_eq!(code(store.db.hand_over(&ole, &other, manifest("x")).await), "not-found");
    assert_eq!(code(store.db.cold_start(&ole, &other, None).await), "not-found");
    assert_eq!(store.db.handovers(&store.project, None, 50).await.unwrap(), []);
}
