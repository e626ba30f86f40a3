//! The activity of agents: updates of tasks, and the files that they have to do with.

use domain::board::attention::AttentionKind;
use domain::board::stage::Stage;
use domain::board::task::{NewTask, TaskUpdate};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::time::Timestamp;
use domain::warroom::context_left::ContextReport;
use domain::warroom::freshness::{LoadedFile, MAX_LOADED};
use domain::warroom::zone::NewZone;

use crate::tests::external_agents::{assigned, call, crew, stage, update};
use crate::tests::store::{Store, code, new_task};
use crate::{Caller, now};

async fn result(store: &Store, by: &Caller, task: &TaskId) {
    let kept = TaskUpdate { result: Some("Half".to_owned()), ..TaskUpdate::default() };
    update(store, by, task, kept).await.unwrap();
}

#[tokio::test]
async fn sixth_update_asks_a_person_and_again_after_six_more() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "Search", "ben").await;
    let asks = async || store.card(&task).await.attention.map(|attention| attention.kind);
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let once = call(&crew.ben, "1");
    for _ in 0..2 {
        result(&store, &once, &task).await;
    }
    assert_eq!(store.card(&task).await.activity_count, 2, "a repeated call is one update");
    assert_eq!(code(update(&store, &crew.ben, &task, TaskUpdate::default()).await), "invalid");
    for _ in 3..=5 {
        result(&store, &crew.ben, &task).await;
    }
    assert_eq!((store.card(&task).await.activity_count, asks().await), (5, None), "a refused update does not count");
    result(&store, &crew.lena, &task).await;
    assert_eq!(asks().await, Some(AttentionKind::OftenUpdated));
    let counts = store.db.activity_counts(&store.project).await.unwrap();
    assert_eq!(counts.into_iter().collect::<Vec<_>>(), [("ben".to_owned(), 6)]);
    store.db.retry_task(&Caller::owner(), &task, domain::board::task::retry::RetryOptions::default()).await.unwrap();
    for _ in 0..5 {
        result(&store, &crew.ben, &task).await;
    }
    assert_eq!(asks().await, None, "the person let it go on");
    result(&store, &crew.ben, &task).await;
    assert_eq!(asks().await, Some(AttentionKind::OftenUpdated));
    store.db.assign_task(&Caller::owner(), &task, Some("tess".to_owned()), None).await.unwrap();
    assert_eq!(asks().await, None, "another agent has it");
    store.check_fold().await;
}

#[tokio::test]
async fn updates_of_tasks_without_an_external_agent_ask_nobody() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.db.create_task(&Caller::owner(), &store.project, new_task("Search")).await.unwrap().card.id;
    for _ in 0..7 {
        result(&store, &crew.lena, &task).await;
    }
    let card = store.card(&task).await;
    assert_eq!((card.activity_count, card.attention), (7, None));
    assert!(store.db.activity_counts(&store.project).await.unwrap().is_empty());
}

#[tokio::test]
async fn files_of_an_agent_are_its_claims_zones_and_plans() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let none = store.db.agent_files(&store.project, "tess").await.unwrap();
    assert!(none.claims.is_empty() && none.zone.is_empty() && none.planned.is_empty() && none.loaded_at.is_none());
    let paths = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<domain::warroom::claim::ClaimPath>>();
    let planned = NewTask { assigned_to: Some("ben".to_owned()), files: vec!["src/b.rs".to_owned()], ..new_task("Search") };
    let task = store.db.create_task(&Caller::owner(), &store.project, planned).await.unwrap().card.id;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    store.db.claim_file(&crew.ben, &store.project, &"src/a.rs".parse().unwrap()).await.unwrap();
    let zone = NewZone { name: "audio".to_owned(), paths: vec!["audio/".to_owned()], oracle: Some("ben".to_owned()), ..NewZone::default() };
    store.db.set_zone(&Caller::owner(), &store.project, zone).await.unwrap();
    let report = ContextReport { context: "Search".to_owned(), tokens_used: None, tokens_limit: None };
    store.db.set_context(&crew.ben, &store.project, report).await.unwrap();
    let files = store.db.agent_files(&store.project, "ben").await.unwrap();
    assert_eq!((files.claims, files.zone, files.planned), (paths(&["src/a.rs"]), paths(&["audio/"]), paths(&["src/b.rs"])));
    assert!(files.loaded_at.is_some_and(|at| at <= now()) && files.worktree_of.is_none());
    assert_eq!((files.last_task_update.map(|update| update.task), files.activity_count), (Some(task), 1));

    let own = store.task("Own").await;
    let coder = store.agent(&own, AgentKind::Coder).await;
    store.db.claim_file(&coder.caller, &store.project, &"src/c.rs".parse().unwrap()).await.unwrap();
    let name = coder.caller.name().unwrap();
    let working = store.db.agent_files(&store.project, &name).await.unwrap();
    assert_eq!((working.claims, working.worktree_of.as_ref()), (paths(&["src/c.rs"]), Some(&own)));
    assert!(working.loaded_at.is_some(), "the start of its run");
    assert!(working.loaded.is_empty(), "it read nothing yet");
    assert_eq!(code(store.db.agent_files(&store.project, "nobody").await), "unknown-agent");
    assert_eq!(code(store.db.agent_files(&"PROJ-404".parse().unwrap(), "ben").await), "not-found");
    let party = store.db.party(&store.project).await.unwrap();
    let ben = party.iter().find(|member| member.agent.name == "ben").unwrap();
    assert_eq!((ben.claims.clone(), ben.activity_count, ben.is_report_due), (paths(&["src/a.rs"]), 1, false));
}

#[tokio::test]
async fn files_that_a_run_loaded_are_known_until_it_ends() {
    let store = Store::board().await;
    let task = store.task("Own").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let name = coder.caller.name().unwrap();
    let at = |second: i64| Timestamp::from_milliseconds(second * 1_000);
    let file = |path: &str, second: i64| LoadedFile { path: path.to_owned(), at: at(second) };
    let loaded = async || store.db.agent_files(&store.project, &name).await.unwrap().loaded;
    let seq = store.db.latest();
    store.db.record_loaded_files(&coder.run, vec![file("a.rs", 1), file("b.rs", 2)]).await.unwrap();
    store.db.record_loaded_files(&coder.run, vec![file("a.rs", 3)]).await.unwrap();
    assert_eq!(loaded().await.into_iter().collect::<Vec<_>>(), [("a.rs".to_owned(), at(3)), ("b.rs".to_owned(), at(2))]);
    assert!(store.kinds_since(seq).await.is_empty(), "it is no news");
    let many = (0..MAX_LOADED).map(|number| file(&format!("{number}"), 10)).collect();
    store.db.record_loaded_files(&coder.run, many).await.unwrap();
    let kept = loaded().await;
    assert!(kept.len() == MAX_LOADED && !kept.contains_key("a.rs"), "the oldest are forgotten");
    store.end(&coder.run, EndClass::Parked, None).await;
    store.db.record_loaded_files(&coder.run, vec![file("late.rs", 11)]).await.unwrap();
    assert!(!store.dump().await.iter().any(|row| row.starts_with("run_files")), "nothing is kept of a run that ended");
    assert!(loaded().await.is_empty());
}
