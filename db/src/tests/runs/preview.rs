//! Previews: a person opens the app of a task or a project, the runner records how far it is, and no preview is mistaken for a later one.

use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::preview::{PreviewState, PreviewSubject};
use domain::runs::profile::Profile;
use domain::wire::ProjectPatch;

use crate::Caller;
use crate::runs::preview::{OF_PROJECTS, OF_TASKS};
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, code};

impl Store {
    async fn with_preview() -> Self {
        let store = Self::board().await;
        let profile = Profile { preview: Some("npm run dev -- --port {port}".to_owned()), ..Profile::default() };
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        store.db.edit_project(&Caller::owner(), &store.project, patch, None).await.unwrap();
        store
    }

    async fn task_at_work(&self, title: &str) -> TaskId {
        let task = self.task(title).await;
        self.db.start_task(&Caller::owner(), &task).await.unwrap();
        self.work(&task).await;
        task
    }
}

#[tokio::test]
async fn app_of_a_task_starts_answers_and_ends() {
    let store = Store::with_preview().await;
    let (db, human) = (&store.db, Caller::owner());
    let task = store.task_at_work("Page").await;
    let subject = PreviewSubject::Task(task.clone());
    let seq = db.latest();
    let requested = db.request_preview(&human, &subject).await.unwrap();
    assert_eq!(db.request_preview(&human, &subject).await.unwrap(), requested, "a second click changes nothing");
    let log = db.preview_log(&subject).await.unwrap();
    assert!(
        log.starts_with(db.preview_folder(&store.project, &subject, requested.started_at)) && log.starts_with(db.previews_folder(&store.project))
    );
    assert_eq!(code(db.preview_log(&PreviewSubject::Project(store.project.clone())).await), "no-preview-running");
    let live = db.live_previews().await.unwrap();
    assert!(live.len() == 1 && live[0].subject == subject && live[0].has_files, "{live:?}");

    db.record_preview_start(&subject, requested.started_at, &[4001, 4002]).await.unwrap();
    db.record_preview_answer(&subject, requested.started_at, 4001).await.unwrap();
    db.record_preview_answer(&subject, requested.started_at, 4001).await.unwrap();
    let running = store.card(&task).await.preview.unwrap();
    assert_eq!(running.state, PreviewState::Running);
    assert_eq!(running.address.as_deref(), Some("http://task-001.localhost:4001/"));

    db.stop_preview(&human, &subject).await.unwrap();
    assert_eq!(db.preview(&subject).await.unwrap().map(|preview| preview.state), Some(PreviewState::Stopping));
    db.end_preview(&subject, requested.started_at, "a person asked for it").await.unwrap();
    assert_eq!(store.card(&task).await.preview, None);
    assert_eq!(store.kinds_since(seq).await, ["preview_requested", "preview_started", "preview_answered", "preview_ended", "preview_ended"]);
    store.check_fold().await;
}

#[tokio::test]
async fn preview_needs_a_command_and_files() {
    let store = Store::board().await;
    let (db, human) = (&store.db, Caller::owner());
    let task = store.task_at_work("Page").await;
    let subject = PreviewSubject::Task(task.clone());
    assert_eq!(code(db.request_preview(&human, &subject).await), "no-preview");

    let store = Store::with_preview().await;
    let (db, planned) = (&store.db, store.task("Later").await);
    assert_eq!(code(db.request_preview(&human, &PreviewSubject::Task(planned)).await), "no-files");
    let project = PreviewSubject::Project(store.project.clone());
    assert_eq!(code(db.request_preview(&human, &project).await), "nothing-merged");
    assert_eq!(code(db.stop_preview(&human, &project).await), "no-preview-running");
    let agent = store.task_at_work("Page").await;
    store.review_and_merge(&agent).await;
    assert_eq!(store.status(&agent).await, Status::Done);
    assert_eq!(code(db.request_preview(&human, &PreviewSubject::Task(agent)).await), "no-files");
    assert_eq!(db.request_preview(&human, &project).await.unwrap().state, PreviewState::Starting);
    assert_eq!(code(db.request_preview(&Caller::Runner, &project).await), "human-only");
    assert_eq!(code(db.stop_preview(&Caller::Runner, &project).await), "human-only");
    store.check_fold().await;
}

#[tokio::test]
async fn failure_stays_on_the_card_until_the_next_start() {
    let store = Store::with_preview().await;
    let (db, human) = (&store.db, Caller::owner());
    let task = store.task_at_work("Page").await;
    let subject = PreviewSubject::Task(task.clone());
    let first = db.request_preview(&human, &subject).await.unwrap();
    db.fail_preview(&subject, first.started_at, "Error: no module").await.unwrap();
    let failed = store.card(&task).await.preview.unwrap();
    assert_eq!((failed.state, failed.failure.as_deref()), (PreviewState::Failed, Some("Error: no module")));
    assert!(db.live_previews().await.unwrap().is_empty());

    let second = db.request_preview(&human, &subject).await.unwrap();
    db.end_preview(&subject, first.started_at, "late").await.unwrap();
    assert_eq!(db.preview(&subject).await.unwrap(), Some(second.clone()), "the end of the first preview does not concern the second");
    db.fail_preview(&subject, second.started_at, "again").await.unwrap();
    db.stop_preview(&human, &subject).await.unwrap();
    assert_eq!(store.card(&task).await.preview, None, "a failure that was read");
}

#[tokio::test]
async fn live_previews_are_read_by_their_index() {
    let store = Store::board().await;
    for (statement, index) in [(OF_TASKS, "tasks_with_preview"), (OF_PROJECTS, "projects_with_preview")] {
        let plan = plan(&store, statement).await;
        assert!(plan.contains(index), "{plan}");
    }
}
