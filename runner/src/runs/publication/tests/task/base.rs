//! The base of a pull request of a task: it moves while it is followed, it cannot be followed, or it needs a task of its own.

use domain::runs::agent_kind::AgentKind;
use domain::runs::profile::MergeStyle;
use domain::runs::profile::checks::{CheckList, Checks};
use repo::upstream_reference;
use tokio::time::{Instant, sleep};

use super::*;
use crate::process::Programs;
use crate::runs::run::RunContext;

/// A check that runs until the file `go` exists.
const WAITING: &str = "echo run >> @/runs; while [ ! -e @/go ]; do sleep 0.05; done";

impl ByTask {
    /// Sets the check of merges. `@` stands for the folder beside the repository.
    async fn set_check(&self, line: &str) {
        let full = CheckList { commands: vec![line.replace("@/", &self.beside("").display().to_string())], ..CheckList::default() };
        let checks = Checks { full, ..Checks::default() };
        self.set(Profile { pull_requests: PullRequests::Task, checks, ..Profile::default() }).await;
    }

    fn beside(&self, name: &str) -> PathBuf {
        self.board().sample.beside(name)
    }

    /// The harness runs a shim: see `run_as_shim` of the checks.
    fn with_checks(&self) -> RunContext {
        RunContext { programs: Programs::at(std::env::current_exe().unwrap()), ..self.board().context() }
    }

    async fn step_with_checks(&self, task: &TaskId) -> Task {
        merge_with(&self.with_checks(), &self.published.tools, task).await.unwrap();
        self.board().read(task).await
    }

    /// Takes the step of a merged task, and lets `meanwhile` happen once its check runs.
    async fn step_during(&self, task: &TaskId, meanwhile: impl Future<Output = ()>) -> Task {
        let during = async {
            let started = Instant::now();
            while !self.beside("runs").exists() {
                assert!(started.elapsed() < Duration::from_secs(30), "no check runs");
                sleep(Duration::from_millis(5)).await;
            }
            meanwhile.await;
        };
        tokio::join!(self.step_with_checks(task), during).0
    }

    /// A task whose pull request is merged.
    async fn merged(&self) -> Task {
        let task = self.opened(&[("menu.txt", "x")]).await;
        self.host_merges(&task, &["merge", "-q", "--no-ff", "--no-edit"]).await;
        self.answer(&task, "MERGED", "").await
    }
}

/// Another project, or a landing, may fetch at any time.
#[tokio::test]
async fn base_that_moves_on_during_its_checks_asks_nobody() {
    let by_task = ByTask::new().await;
    let merged = by_task.merged().await;
    by_task.set_check(WAITING).await;
    let moved = async {
        by_task.others_push("later.txt", "x").await;
        let update = format!("+refs/heads/main:{}", upstream_reference("main"));
        git(by_task.board().sample.top(), &["fetch", "-q", "origin", &update]).await;
        fs::write(by_task.beside("go"), "").unwrap();
    };
    let done = by_task.step_during(&merged.card.id, moved).await;
    assert_eq!((done.card.status, done.card.attention), (Status::Done, None));
    let repository = by_task.board().repository();
    let (head, base) = (by_task.board().tip(PROJECT_BRANCH).unwrap(), by_task.remote_tip("main").unwrap());
    assert!(repository.is_ancestor(&head, &base).unwrap() && head != base, "what came later is followed later");
}

#[tokio::test]
async fn checks_that_change_while_they_run_ask_nobody() {
    let by_task = ByTask::new().await;
    let merged = by_task.merged().await;
    by_task.set_check(WAITING).await;
    let waiting = by_task.step_during(&merged.card.id, by_task.set_check("true")).await;
    assert!(waiting.card.was_merged_on_host() && waiting.card.attention.is_none(), "{:?}", waiting.card.attention);
    assert_eq!(by_task.step_with_checks(&merged.card.id).await.card.status, Status::Done);
}

#[tokio::test]
async fn base_that_fails_its_checks_waits_for_the_person() {
    let by_task = ByTask::new().await;
    let merged = by_task.merged().await;
    by_task.set_check("test ! -e broken.txt").await;
    by_task.others_push("broken.txt", "x").await;
    let asked = by_task.step_with_checks(&merged.card.id).await;
    let attention = asked.card.attention.unwrap();
    assert_eq!((attention.kind, asked.card.status), (AttentionKind::PullRequest, Status::InReview));
    assert!(attention.detail.contains("could not follow main"), "{}", attention.detail);
    assert!(by_task.pushed(&merged).is_some(), "its branch stays");
}

#[tokio::test]
async fn base_whose_checks_cannot_run_waits_for_the_person() {
    let by_task = ByTask::new().await;
    let merged = by_task.merged().await;
    let full = CheckList { commands: vec!["true".to_owned()], ..CheckList::default() };
    let checks = Checks { full, ..Checks::default() };
    let setup = vec!["echo no such package; exit 7".to_owned()];
    by_task.set(Profile { pull_requests: PullRequests::Task, setup, checks, ..Profile::default() }).await;
    let detail = by_task.step_with_checks(&merged.card.id).await.card.attention.unwrap().detail;
    assert!(detail.contains("could not run: ") && detail.contains("no such package"), "{detail}");
}

/// The person committed to `main` what others changed in another way on its upstream.
#[tokio::test]
async fn conflict_of_the_base_is_merged_here_and_lands_with_the_next_pull_request() {
    for how in [&["merge", "-q", "--no-ff", "--no-edit"][..], &["merge", "-q", "--squash"]] {
        let by_task = ByTask::new().await;
        let board = by_task.board();
        by_task.set(Profile { pull_requests: PullRequests::Task, merge_style: MergeStyle::Squash, ..Profile::default() }).await;
        let ours = board.sample.commit_on("main", &[("README.md", Some("ours\n"))], "ours");
        by_task.others_push("README.md", "theirs\n").await;
        let theirs = by_task.remote_tip("main").unwrap();
        let first = by_task.opened(&[("first.txt", "x")]).await;
        assert!(first.card.awaits_pull_request(), "other work is published meanwhile");
        let sync = board.db.open_sync_task(&board.project.id).await.unwrap().unwrap();
        let (site, reserved, coder) = board.agent(&sync, AgentKind::Coder).await;
        let _ = fs::remove_file(site.path.join("README.md"));
        write_in(&site.path, "README.md", "both\n");
        let resolved = board.sample.commit_as(&commit_all_in(&site.path, "files"), &[&site.base, &theirs], "Merge main");
        board.sample.set_branch(&board.read(&sync).await.branch.unwrap(), &resolved);
        board.move_to(&coder, &sync, Status::InReview, None).await;
        board.end(&reserved).await;
        board.approve(&sync).await;
        let merged = by_task.step(&sync).await;
        assert_eq!((merged.card.status, merged.card.pull_request.clone()), (Status::Done, None), "{how:?}: {:?}", merged.card.attention);
        let head = board.tip(PROJECT_BRANCH).unwrap();
        let repository = board.repository();
        assert!([&ours, &theirs].iter().all(|side| repository.is_ancestor(side, &head).unwrap()), "it is a merge");
        assert!(board.project().await.has_unlanded_work(true), "the base does not have it yet");

        fs::remove_file(by_task.beside("answers/open")).unwrap();
        let next = by_task.opened(&[("menu.txt", "x")]).await;
        by_task.host_merges(&next, how).await;
        let next = by_task.answer(&next, "MERGED", "").await;
        let done = by_task.step(&next.card.id).await;
        assert_eq!(done.card.status, Status::Done, "{how:?}: {:?}", done.card.attention);
        let project = board.project().await;
        assert_eq!((project.landed.as_ref().unwrap().tasks, project.has_unlanded_work(true)), (2, false), "{how:?}");
    }
}
