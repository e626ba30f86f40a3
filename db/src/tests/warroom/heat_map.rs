//! The work on the files of a project: where it is known from, what counts, and for how long.

use std::time::Duration;

use domain::board::stage::Stage;
use domain::board::status::Status;
use domain::board::task::{NewTask, TaskUpdate};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};
use domain::warroom::heat_map::{MAX_FINISHED, TaskActivity};
use domain::warroom::zone::NewZone;

use crate::tests::external_agents::{assigned, stage, update};
use crate::tests::store::{Store, clean, code, head};
use crate::{Caller, MoveRequest};

async fn tasks(store: &Store) -> Vec<TaskActivity> {
    store.db.heat_facts(&store.project).await.unwrap().tasks
}

fn paths(task: &TaskActivity) -> Vec<&str> {
    task.paths.iter().map(domain::warroom::claim::ClaimPath::as_str).collect()
}

#[tokio::test]
async fn work_is_known_from_plans_claims_and_submitted_changes() {
    let store = Store::board().await;
    let zone = NewZone { name: "audio".to_owned(), paths: vec!["audio/".to_owned()], ..NewZone::default() };
    store.db.set_zone(&Caller::owner(), &store.project, zone).await.unwrap();
    let new = NewTask { title: "Planned".to_owned(), files: vec!["src/a.rs".to_owned(), "docs/".to_owned()], start: true, ..NewTask::default() };
    let task = store.db.create_task(&Caller::owner(), &store.project, new).await.unwrap().card.id;
    assert_eq!(paths(&tasks(&store).await[0]), ["docs/**", "src/a.rs"]);
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.claim(&coder.caller, "src/b.rs").await.unwrap();
    assert_eq!(paths(&tasks(&store).await[0]), ["src/b.rs"], "what it holds is better known");
    store.db.record_checkout(&task, "vr/TASK-001/work", "worktrees/TASK-001").await.unwrap();
    let changed_paths = ["src/c.rs", "a\nb"].map(str::to_owned).to_vec();
    let submitted = EvidenceResult::Evidence(Evidence { changed_paths, ..clean() });
    store.move_with(&coder.caller, &task, Status::InReview, None, submitted).await.unwrap();
    store.finish(&coder).await;
    store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
    store.db.record_merge_failure(&task, "head", "It conflicts in src/c.rs").await.unwrap();
    store.work(&task).await;
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("Rename it"), EvidenceResult::Nothing).await.unwrap();
    let facts = store.db.heat_facts(&store.project).await.unwrap();
    let found = &facts.tasks[0];
    assert_eq!((found.is_open, found.runs, found.updates, found.send_backs, found.conflicts), (true, 2, 1, 1, 1), "{found:?}");
    assert_eq!((facts.zones.len(), facts.is_cut), (1, false));
    store.cancel(&task, "obsolete").await;
    let ended = tasks(&store).await;
    assert_eq!((ended.len(), ended[0].is_open, ended[0].conflicts), (1, false, 1));
    assert_eq!(code(store.db.heat_facts(&ProjectId::new(99)).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn updates_of_a_task_count_beside_its_comments() {
    let store = Store::board().await;
    let ole = store.member("ole", &[]).await;
    let task = assigned(&store, "Mix", "ole").await;
    stage(&store, &ole, &task, Stage::InProgress).await.unwrap();
    let before = tasks(&store).await[0].updates;
    let noted = store.card(&task).await;
    for _ in 0..3 {
        update(&store, &ole, &task, TaskUpdate { result: Some("More".to_owned()), ..TaskUpdate::default() }).await.unwrap();
    }
    let card = store.card(&task).await;
    assert_eq!(card.activity_count - noted.activity_count, 3);
    assert_eq!(tasks(&store).await[0].updates - before, 3 + card.comments - noted.comments);
}

#[tokio::test]
async fn tasks_that_ended_long_ago_do_not_count() {
    let store = Store::board().await;
    let (old, new) = (store.task("Old").await, store.task("New").await);
    for task in [&old, &new] {
        store.move_to(&Caller::owner(), task, Status::InProgress).await.unwrap();
        store.db.move_task(&Caller::owner(), task, MoveRequest::to(Status::Done), EvidenceResult::Nothing).await.unwrap();
    }
    store.backdate("UPDATE tasks SET updated_at = $1 WHERE id = $2", Duration::from_secs(31 * 24 * 60 * 60), old.as_str()).await;
    assert_eq!(tasks(&store).await.len(), 1);
    let many = "INSERT INTO tasks (id, project_id, title, phase, status, created_at, updated_at)
        WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 505)
        SELECT 'TASK-' || (1000 + i), project_id, title, phase, 'cancelled', $1, $1 FROM n, tasks WHERE id = $2";
    store.backdate(many, Duration::from_secs(60), new.as_str()).await;
    let facts = store.db.heat_facts(&store.project).await.unwrap();
    assert_eq!((facts.tasks.len(), facts.is_cut), (MAX_FINISHED, true));
}
