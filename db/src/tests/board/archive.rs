//! Archived and deleted projects: hidden, without agents, and in the end without rows, while the log has no gap.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use domain::board::attention::AttentionKind;
use domain::board::status::Status;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::checkout::KeptWork;
use domain::wire::NewProject;

use crate::tests::store::{Store, code, new_task, probe};
use crate::{Caller, MoveRequest, SearchQuery, recorded_references};

/// A word that only the second project has.
const SECRET: &str = "Zanzibar";

/// Adds a project with an open task, which has a checkout, and one that needs the owner.
async fn second(store: &Store) -> (ProjectId, TaskId) {
    let human = Caller::owner();
    let new = NewProject { title: SECRET.to_owned(), ..NewProject::default() };
    let project = store.db.create_project(&human, new, probe()).await.unwrap().id;
    let first = store.db.create_task(&human, &project, new_task(&format!("{SECRET} one"))).await.unwrap().card.id;
    let second = store.db.create_task(&human, &project, new_task(&format!("{SECRET} two"))).await.unwrap().card.id;
    store.db.start_task(&human, &first).await.unwrap();
    let agent = store.agent(&first, AgentKind::Coder).await;
    store.db.add_comment(&agent.caller, &first, &format!("{SECRET} three"), None).await.unwrap();
    store.db.record_checkout(&first, "vr/TASK-001/work", "/w/TASK-001").await.unwrap();
    store.finish(&agent).await;
    store.db.request_attention(&second, AttentionKind::Conflict, SECRET).await.unwrap();
    (project, first)
}

async fn listed(store: &Store, archived: bool) -> Vec<ProjectId> {
    store.db.project_summaries(&Caller::owner(), archived).await.unwrap().into_iter().map(|summary| summary.project.id).collect()
}

#[tokio::test]
async fn archived_project_is_hidden_and_starts_no_agent() {
    let store = Store::board().await;
    let (project, task) = second(&store).await;
    let human = Caller::owner();
    let needs_you = async || store.db.needs_you(&human).await.unwrap().items.len();
    assert_eq!((needs_you().await, listed(&store, false).await.len()), (1, 2));
    let seq = store.db.latest();
    let archived = store.db.archive_project(&human, &project).await.unwrap();
    assert_eq!(store.db.archive_project(&human, &project).await.unwrap(), archived, "once");
    assert_eq!((needs_you().await, listed(&store, false).await, listed(&store, true).await), (0, vec![store.project.clone()], vec![project.clone()]));
    let report = store.db.report(archived.created_at).await.unwrap();
    assert!(report.projects.iter().all(|report| report.project_id != project), "{report:?}");
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "base").await), "not-now");
    assert!(store.db.snapshot().await.unwrap().pauses[&project].paused_at.is_some());
    assert_eq!(store.db.board(&project).await.unwrap().board.cards.len(), 2, "it can be read");
    assert_eq!(store.db.open_cards(None, 500).await.unwrap().items, [], "the board of all projects is without it");

    let restored = store.db.restore_project(&human, &project).await.unwrap();
    assert_eq!(store.db.restore_project(&human, &project).await.unwrap(), restored);
    assert_eq!((needs_you().await, listed(&store, true).await), (1, Vec::new()));
    assert_eq!(store.kinds_since(seq).await, ["project_archived", "project_restored"]);
    store.check_fold().await;
}

#[tokio::test]
async fn project_at_work_is_neither_archived_nor_deleted() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let human = Caller::owner();
    assert_eq!(code(store.db.archive_project(&human, &store.project).await), "project-at-work");
    assert_eq!(code(store.db.delete_project(&human, &store.project, "Board").await), "project-at-work");
    store.finish(&agent).await;
    assert_eq!(code(store.db.delete_project(&human, &store.project, "Bored").await), "invalid");
    assert_eq!(code(store.db.archive_project(&agent.caller, &store.project).await), "human-only");
    store.db.archive_project(&human, &store.project).await.unwrap();
}

#[tokio::test]
async fn deleted_project_waits_for_its_checkouts_and_leaves_nothing() {
    let store = Store::board().await;
    let kept = store.task("Stays").await;
    let (project, task) = second(&store).await;
    let human = Caller::owner();
    let deleted = store.db.delete_project(&human, &project, SECRET).await.unwrap();
    assert!(deleted.deleted_at.is_some() && deleted.archived_at.is_some());
    assert_eq!(store.db.delete_project(&human, &project, SECRET).await.unwrap(), deleted, "once");
    assert_eq!(code(store.db.restore_project(&human, &project).await), "project-deleted");
    assert_eq!(store.status(&task).await, Status::Cancelled, "so that the runner removes its checkout");
    assert_eq!(store.db.snapshot().await.unwrap().removable, []);
    store.db.remove_deleted_project(&project).await.unwrap();
    assert_eq!(store.db.project(&project).await.unwrap(), deleted, "a checkout is left");

    // The person's repository keeps both, so they stay on record. They grow with the projects and tasks that had an agent.
    let (git_dir, branches) = (deleted.git_dir.clone(), ["vibe-relay/PROJ-002", "vr/TASK-002/work"]);
    for (branch, of) in branches.into_iter().zip([None, Some(&task)]) {
        store.db.claim_reference(&git_dir, branch, of).await.unwrap();
    }
    store.db.checkout_removed(&task, KeptWork::default()).await.unwrap();
    assert_eq!(store.db.snapshot().await.unwrap().removable, std::slice::from_ref(&project));
    assert_eq!(store.db.run_folders_of(&project).await.unwrap().len(), 1);
    let before = store.db.latest();
    store.db.remove_deleted_project(&project).await.unwrap();
    assert_eq!(code(store.db.project(&project).await), "not-found");
    assert_eq!((listed(&store, true).await, listed(&store, false).await), (Vec::new(), vec![store.project.clone()]));
    let recorded = BTreeMap::from([(PathBuf::from(git_dir), BTreeSet::from(branches.map(str::to_owned)))]);
    assert_eq!(recorded_references(store.db.path()).await.unwrap(), recorded);
    assert!(recorded_references(Path::new("missing.db")).await.unwrap().is_empty());

    // The vocabulary of the search has words without their texts.
    let rows = store.readable_rows().await.into_iter().filter(|row| !row.starts_with("search_")).collect::<Vec<_>>();
    let text = rows.join("\n").to_lowercase();
    assert!(!text.contains(&SECRET.to_lowercase()), "{text}");
    let broken: Vec<String> = sqlx::query_scalar("SELECT \"table\" FROM pragma_foreign_key_check").fetch_all(&store.db.readers).await.unwrap();
    assert!(broken.is_empty(), "{broken:?}");
    let found = store.db.search(&Caller::owner(), &SearchQuery { text: SECRET.to_owned(), project: None, limit: 9 }).await.unwrap();
    assert!(found.is_empty(), "{found:?}");

    let events = store.db.events_after(0, None, u32::MAX).await.unwrap();
    assert_eq!(events.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), (1..=before + 1).collect::<Vec<_>>(), "no gap");
    assert!(
        matches!(&events.last().unwrap().event, Event::Project(domain::board::project::ProjectEvent::Removed { project: removed, by }) if *removed == project && by == "human")
    );
    assert_eq!(store.status(&kept).await, Status::Backlog);
    store.check_fold().await;
    let report = store.db.report(deleted.created_at).await.unwrap();
    assert!(report.projects.iter().all(|report| report.project_id != project));
    assert_eq!(
        code(store.db.move_task(&human, &task, MoveRequest::to(Status::Backlog), domain::runs::evidence::EvidenceResult::Nothing).await),
        "not-found"
    );
}
