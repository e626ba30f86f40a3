//! Following the base branch in real repositories with a real store, and an upstream that another clone pushes to.

use std::fs;
use std::path::PathBuf;

use db::{Caller, MergedPullRequest};
use domain::board::project::ProjectEvent;
use domain::board::status::Status;
use domain::event::Event;
use domain::runs::profile::checks::{CheckList, Checks as ProfileChecks};
use domain::runs::profile::{MergeStyle, Profile, PullRequests};
use domain::runs::publication::Publication;
use domain::wire::ProjectPatch;
use repo::testing::{TestRepository, commit_all_in, write_in};

use super::*;
use crate::fixture::TestBoard;
use crate::process;
use crate::runs::merge;

const BRANCH: &str = "vibe-relay/PROJ-001";

async fn git(folder: &Path, arguments: &[&str]) -> String {
    let git = process::find_program("git", &std::env::var_os("PATH").unwrap()).unwrap();
    let folder = folder.display().to_string();
    let ended = process::probe(&git, &[&["-C", &folder], arguments].concat(), std::time::Duration::from_secs(60)).await.unwrap();
    assert_eq!(ended.code, Some(0), "{arguments:?}: {}", ended.stderr);
    ended.stdout.trim_end().to_owned()
}

/// A board whose `main` follows that of a bare repository, and another clone of that.
struct Followed {
    board: TestBoard,
    other: PathBuf,
}

impl Followed {
    async fn new() -> Self {
        let sample = TestRepository::new();
        let (url, other) = (sample.beside("remote.git"), sample.beside("other"));
        let paths = [sample.top(), &url, &other].map(|path| path.display().to_string());
        git(sample.root(), &["clone", "--quiet", "--bare", &paths[0], &paths[1]]).await;
        git(sample.root(), &["clone", "--quiet", &paths[1], &paths[2]]).await;
        let settings = [("remote.origin.url", paths[1].as_str()), ("branch.main.remote", "origin"), ("branch.main.merge", "refs/heads/main")];
        for (key, value) in settings {
            git(sample.top(), &["config", key, value]).await;
        }
        Self { board: TestBoard::on(sample).await, other }
    }

    /// Someone else pushes to the upstream.
    async fn push(&self, path: &str, content: &str) -> Sha {
        write_in(&self.other, path, content);
        let sha = commit_all_in(&self.other, path);
        git(&self.other, &["push", "--quiet", "origin", "HEAD:main"]).await;
        sha
    }

    /// Merges a task that gives README.md this content.
    async fn merged_with(&self, content: &str) -> TaskId {
        let board = &self.board;
        let task = board.task("Ours").await;
        board.work(&task, &[("README.md", content)]).await;
        board.approve(&task).await;
        merge::merge(&board.context(), &task).await.unwrap();
        task
    }

    async fn follow(&self) {
        follow_before_landing(&self.context(), &self.board.project.id).await.unwrap();
    }

    async fn refused(&self) -> &'static str {
        match follow_before_landing(&self.context(), &self.board.project.id).await {
            Err(db::Error::Refused(refusal)) => refusal.code(),
            other => panic!("{other:?}"),
        }
    }

    /// The harness runs a shim: see `run_as_shim` of the checks.
    fn context(&self) -> RunContext {
        RunContext { programs: crate::process::Programs::at(std::env::current_exe().unwrap()), ..self.board.context() }
    }

    async fn set_check(&self, line: &str) {
        let full = CheckList { commands: vec![line.replace("@/", &self.board.sample.beside("").display().to_string())], minutes: 1 };
        self.set(Profile { checks: ProfileChecks { full, ..ProfileChecks::default() }, ..Profile::default() }).await;
    }

    async fn set(&self, profile: Profile) {
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        self.board.db.edit_project(&Caller::owner(), &self.board.project.id, patch, None).await.unwrap();
    }

    /// The project branch is pushed at `tip`, with a pull request.
    async fn publish(&self, tip: &Sha) {
        let publication = Publication {
            remote: "origin".to_owned(),
            branch: BRANCH.to_owned(),
            sha: tip.clone(),
            at: db::now(),
            by: Caller::owner().actor(),
            pull_request: Some("https://github.example/ann/site/pull/7".to_owned()),
            status: None,
        };
        self.board.db.record_publication(&Caller::owner(), &self.board.project.id, publication).await.unwrap();
    }

    fn file(&self, path: &str) -> Option<String> {
        let bytes = self.board.repository().file_at(&self.board.tip(BRANCH)?, path).unwrap()?;
        Some(String::from_utf8(bytes).unwrap())
    }

    async fn sync_task(&self) -> Option<TaskId> {
        self.board.db.open_sync_task(&self.board.project.id).await.unwrap()
    }
}

#[tokio::test]
async fn upstream_is_merged_and_no_branch_of_the_person_moves() {
    let followed = Followed::new().await;
    let main = followed.board.tip("main");
    let theirs = followed.push("theirs.txt", "x\n").await;
    followed.follow().await;
    assert_eq!(followed.file("theirs.txt").as_deref(), Some("x\n"));
    assert_eq!(followed.board.tip("main"), main);
    let project = followed.board.project().await;
    assert_eq!(project.integration_head, followed.board.tip(BRANCH), "the merge is approved");
    let events = followed.board.db.events_after(0, None, 100).await.unwrap();
    let is_merge = |event: &Event| matches!(event, Event::Project(ProjectEvent::BaseMerged { sha, .. }) if *sha == theirs);
    assert_eq!(events.iter().filter(|envelope| is_merge(&envelope.event)).count(), 1);
    let head = followed.board.tip(BRANCH);
    followed.follow().await;
    assert_eq!(followed.board.tip(BRANCH), head, "nothing is new");
}

#[tokio::test]
async fn base_that_the_person_moved_is_merged_before_work_is() {
    let board = TestBoard::new().await;
    let task = board.task("Add a").await;
    board.work(&task, &[("a", "a")]).await;
    board.approve(&task).await;
    board.sample.commit_on("main", &[("ours.txt", Some("x"))], "ours");
    merge::merge(&board.context(), &task).await.unwrap();
    let commits = board.repository().log(&board.tip("main").unwrap(), &board.tip(BRANCH).unwrap(), 9).unwrap();
    let subjects: Vec<&str> = commits.iter().map(|commit| commit.subject.as_str()).collect();
    assert_eq!(subjects, ["Merge TASK-001: Add a", &format!("Merge main into {BRANCH}"), "work"]);
    assert_eq!(board.read(&task).await.card.status, Status::Done);
}

/// The host squashed the pull request, and the project branch goes on in the same lines.
#[tokio::test]
async fn squashed_pull_request_is_followed_without_a_conflict() {
    let followed = Followed::new().await;
    let board = &followed.board;
    let landed = followed.merged_with("ours\n").await;
    let tip = board.tip(BRANCH).unwrap();
    followed.publish(&tip).await;
    let merged = MergedPullRequest { tip, base_branch: "main".to_owned(), tasks: vec![landed], commits: 1 };
    board.db.record_merged_pull_request(&board.project.id, merged).await.unwrap();
    followed.push("README.md", "ours\n").await;
    let theirs = followed.push("theirs.txt", "x\n").await;
    followed.merged_with("ours, later\n").await;
    // A server was killed before it recorded the merge.
    let (repository, from) = (board.repository(), board.tip(BRANCH).unwrap());
    let squashed = board.sample.commit_on("main", &[("README.md", Some("ours\n"))], "Ours (#7)");
    let (landed, identity) = (board.project().await.landed_by_pull_request().cloned(), repository.identity("runner").unwrap());
    let merged = repository.merge_base_commit(&from, &squashed, landed.as_ref(), "Merge main", &identity).unwrap();
    let MergeOutcome::Merged { sha: merged, .. } = merged else { panic!("{merged:?}") };
    board.sample.set_branch(BRANCH, &merged);
    assert_eq!(project_branch(&board.db, &board.project().await).await.unwrap().1, merged, "it is a real merge");
    board.sample.set_branch(BRANCH, &from);
    board.db.record_branch_tip(&board.project.id, BRANCH, Some(&merged), &from).await.unwrap();
    followed.follow().await;
    assert_eq!(followed.sync_task().await, None);
    assert_eq!((followed.file("README.md").as_deref(), followed.file("theirs.txt").as_deref()), (Some("ours, later\n"), Some("x\n")));
    assert!(board.repository().is_ancestor(&theirs, &board.tip(BRANCH).unwrap()).unwrap());
}

/// The host repeated both commits of the pull request, which changed the same line, and the project branch goes on in it.
#[tokio::test]
async fn rebased_pull_request_is_followed_without_a_conflict() {
    let followed = Followed::new().await;
    let board = &followed.board;
    let tasks = vec![followed.merged_with("half\n").await, followed.merged_with("ours\n").await];
    let tip = board.tip(BRANCH).unwrap();
    followed.publish(&tip).await;
    let merged = MergedPullRequest { tip, base_branch: "main".to_owned(), tasks, commits: 2 };
    board.db.record_merged_pull_request(&board.project.id, merged).await.unwrap();
    followed.push("README.md", "half\n").await;
    let theirs = followed.push("README.md", "ours\n").await;
    followed.merged_with("ours, later\n").await;
    followed.follow().await;
    assert_eq!(followed.sync_task().await, None);
    assert_eq!(followed.file("README.md").as_deref(), Some("ours, later\n"));
    assert!(board.repository().is_ancestor(&theirs, &board.tip(BRANCH).unwrap()).unwrap());
}

#[tokio::test]
async fn conflict_is_one_task_that_holds_up_nothing() {
    let followed = Followed::new().await;
    let board = &followed.board;
    let first = board.task("Ours").await;
    board.work(&first, &[("README.md", "ours\n")]).await;
    board.approve(&first).await;
    merge::merge(&board.context(), &first).await.unwrap();
    // Squashing must not hide that the base was merged.
    followed.set(Profile { merge_style: MergeStyle::Squash, ..Profile::default() }).await;
    let theirs = followed.push("README.md", "theirs\n").await;
    followed.follow().await;
    followed.follow().await;
    let task = followed.sync_task().await.unwrap();
    let sync = board.read(&task).await;
    assert_eq!(sync.card.title, "Merge main into the project branch");
    let description = sync.description.unwrap();
    assert!(description.contains(&format!("git merge {theirs}")), "{description}");
    assert!(description.contains("\nours\n=======\ntheirs\n>>>>>>> "), "{description}");
    let other = board.task("Other").await;
    board.work(&other, &[("other", "x")]).await;
    board.approve(&other).await;
    merge::merge(&board.context(), &other).await.unwrap();
    assert_eq!(followed.file("other").as_deref(), Some("x"), "other work is merged meanwhile");

    let (site, reserved, coder) = board.agent(&task, domain::runs::agent_kind::AgentKind::Coder).await;
    let _ = fs::remove_file(site.path.join("README.md"));
    write_in(&site.path, "README.md", "both\n");
    let resolved = board.sample.commit_as(&commit_all_in(&site.path, "files"), &[&site.base, &theirs], "Merge main");
    let own = board.read(&task).await.branch.unwrap();
    board.sample.set_branch(&own, &resolved);
    board.move_to(&coder, &task, Status::InReview, None).await;
    board.end(&reserved).await;
    board.approve(&task).await;
    merge::merge(&board.context(), &task).await.unwrap();
    assert_eq!((followed.sync_task().await, followed.file("README.md").as_deref()), (None, Some("both\n")));
    let head = board.tip(BRANCH);
    followed.follow().await;
    assert_eq!((followed.sync_task().await, board.tip(BRANCH)), (None, head), "the base is an ancestor now");
}

#[tokio::test]
async fn without_a_network_the_last_known_tip_counts() {
    let followed = Followed::new().await;
    followed.push("one.txt", "1\n").await;
    followed.follow().await;
    git(followed.board.sample.top(), &["config", "remote.origin.url", "/nowhere/remote.git"]).await;
    followed.push("two.txt", "2\n").await;
    for _ in 0..2 {
        followed.follow().await;
    }
    assert_eq!((followed.file("one.txt").as_deref(), followed.file("two.txt")), (Some("1\n"), None));
    let problem = followed.board.project().await.fetch_problem.unwrap();
    assert_eq!(problem.base_branch, "main");
    assert!(problem.detail.starts_with("origin: ") && problem.detail.contains("/nowhere/remote.git"), "{}", problem.detail);
    let task = followed.board.task("Add a").await;
    followed.board.work(&task, &[("a", "a")]).await;
    followed.board.approve(&task).await;
    merge::merge(&followed.board.context(), &task).await.unwrap();
    assert_eq!(followed.board.read(&task).await.card.status, Status::Done);
}

#[tokio::test]
async fn base_is_left_alone_where_nobody_follows_it() {
    let followed = Followed::new().await;
    followed.push("theirs.txt", "x\n").await;
    followed.set(Profile { follow_base: false, ..Profile::default() }).await;
    followed.follow().await;
    assert_eq!(followed.file("theirs.txt"), None);
}

#[tokio::test]
async fn base_is_checked_before_a_landing() {
    let followed = Followed::new().await;
    followed.set_check("echo run >> @/runs; test ! -e bad.txt || { echo bad.txt is bad; exit 1; }").await;
    follow_before_start(&followed.context(), &followed.board.project.id).await;
    followed.push("good.txt", "x\n").await;
    followed.follow().await;
    assert_eq!(followed.file("good.txt").as_deref(), Some("x\n"));
    followed.follow().await;
    let runs = || fs::read_to_string(followed.board.sample.beside("runs")).unwrap_or_default().lines().count();
    assert_eq!(runs(), 1, "nothing is new");
    followed.push("bad.txt", "x\n").await;
    followed.follow().await;
    assert_eq!(followed.file("bad.txt"), None);
    let task = followed.sync_task().await.unwrap();
    let description = followed.board.read(&task).await.description.unwrap();
    assert!(description.contains("merging them fails these checks:") && description.contains("    bad.txt is bad"), "{description}");
}

/// A landing must not wait for minutes. The check goes on, and the next landing finds its result.
#[tokio::test]
async fn landing_is_refused_while_the_base_is_checked() {
    let followed = Followed::new().await;
    followed.set_check("echo run >> @/runs; while [ ! -e @/go ]; do sleep 0.05; done").await;
    followed.push("theirs.txt", "x\n").await;
    assert_eq!((followed.refused().await, followed.refused().await), ("base-checking", "base-checking"));
    assert_eq!(followed.file("theirs.txt"), None);
    fs::write(followed.board.sample.beside("go"), "").unwrap();
    followed.follow().await;
    assert_eq!(followed.file("theirs.txt").as_deref(), Some("x\n"));
    assert_eq!(fs::read_to_string(followed.board.sample.beside("runs")).unwrap(), "run\n");
}

#[tokio::test]
async fn landing_is_refused_when_the_base_cannot_be_checked() {
    let followed = Followed::new().await;
    let full = CheckList { commands: vec!["true".to_owned()], minutes: 1 };
    let setup = vec!["echo no such package; exit 7".to_owned()];
    followed.set(Profile { setup, checks: ProfileChecks { full, ..ProfileChecks::default() }, ..Profile::default() }).await;
    followed.follow().await;
    followed.push("theirs.txt", "x\n").await;
    assert_eq!(followed.refused().await, "base-not-checked");
    followed.set_check("true").await;
    followed.follow().await;
    assert_eq!(followed.file("theirs.txt").as_deref(), Some("x\n"), "the cause is repaired");
}

#[tokio::test]
async fn fetch_that_succeeds_again_ends_its_problem() {
    let followed = Followed::new().await;
    let url = followed.board.sample.beside("remote.git").display().to_string();
    git(followed.board.sample.top(), &["config", "remote.origin.url", "/nowhere/remote.git"]).await;
    followed.follow().await;
    assert!(followed.board.project().await.fetch_problem.is_some());
    git(followed.board.sample.top(), &["config", "remote.origin.url", &url]).await;
    followed.follow().await;
    assert_eq!(followed.board.project().await.fetch_problem, None);
}

/// The server was killed between the repository and the store.
#[tokio::test]
async fn unrecorded_merge_of_the_base_is_approved_and_a_forged_one_is_not() {
    let board = TestBoard::new().await;
    let (_, from) = project_branch(&board.db, &board.project).await.unwrap();
    let base = board.sample.commit_on("main", &[("ours.txt", Some("x"))], "ours");
    let forged = board.sample.commit_as(&from, &[&from, &base], "Merge main");
    board.sample.set_branch(BRANCH, &forged);
    let found = project_branch(&board.db, &board.project().await).await;
    assert!(matches!(found, Err(CheckoutError::UnapprovedCommits(_))), "its files are not those of a merge");
    let merged = board.sample.commit_as(&base, &[&from, &base], "Merge main");
    board.sample.set_branch(BRANCH, &merged);
    assert_eq!(project_branch(&board.db, &board.project().await).await.unwrap().1, merged);
}

/// A project whose tasks have pull requests of their own goes along with its base.
#[tokio::test]
async fn unrecorded_step_to_the_base_is_approved_and_one_that_loses_work_is_not() {
    let followed = Followed::new().await;
    let board = &followed.board;
    let (_, from) = project_branch(&board.db, &board.project).await.unwrap();
    let step = async |to: &Sha| {
        board.sample.set_branch(BRANCH, to);
        let found = project_branch(&board.db, &board.project().await).await;
        found.is_ok_and(|(_, tip)| tip == *to)
    };
    let base = board.sample.commit_on("main", &[("ours.txt", Some("x"))], "ours");
    assert!(!step(&base).await, "work is merged here");
    followed.set(Profile { pull_requests: PullRequests::Task, ..Profile::default() }).await;
    let other = board.sample.commit_as(&base, &[&from], "not the base");
    assert!(!step(&other).await);
    assert!(step(&base).await);
    let theirs = followed.push("theirs.txt", "x").await;
    followed.follow().await;
    let parents = board.repository().parents_of(&board.tip(BRANCH).unwrap()).unwrap();
    assert_eq!(parents, [base, theirs], "both sides have something that the other lacks");
}

#[tokio::test]
async fn base_is_checked_as_the_merge_of_a_task_is() {
    let board = TestBoard::new().await;
    let full = CheckList { commands: vec!["test ! -e bad.txt || { echo bad.txt is bad; exit 1; }".to_owned()], minutes: 1 };
    let profile = Profile { checks: ProfileChecks { full, ..ProfileChecks::default() }, ..Profile::default() };
    let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
    board.db.edit_project(&Caller::owner(), &board.project.id, patch, None).await.unwrap();
    // The harness runs a shim: see `run_as_shim` of the checks.
    let context = RunContext { programs: crate::process::Programs::at(std::env::current_exe().unwrap()), ..board.context() };
    let merged_with = async |path: &str, title: &str| {
        let task = board.task(title).await;
        board.work(&task, &[(title, "x")]).await;
        board.approve(&task).await;
        board.sample.commit_on("main", &[(path, Some("x"))], path);
        merge::merge(&context, &task).await.unwrap();
        assert_eq!(board.read(&task).await.card.status, Status::Done);
        board.repository().file_at(&board.tip(BRANCH).unwrap(), path).unwrap()
    };
    assert!(merged_with("good.txt", "one").await.is_some());
    assert!(merged_with("bad.txt", "two").await.is_none(), "the task is merged without the base");
    let task = board.db.open_sync_task(&board.project.id).await.unwrap().unwrap();
    let description = board.read(&task).await.description.unwrap();
    assert!(description.contains("merging them fails these checks:") && description.contains("    bad.txt is bad"), "{description}");
}
