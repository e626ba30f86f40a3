//! Pull requests of single tasks, with a bare remote that someone else merges on, and a stand-in for `gh`.

use std::collections::HashMap;
use std::time::Duration;

use domain::board::attention::AttentionKind;
use domain::board::comment::AuthorRole;
use domain::board::project::ProjectStatus;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::board::task::retry::RetryOptions;
use domain::id::TaskId;
use domain::runs::profile::{Profile, PullRequests};
use domain::runs::publication::issue::Issue;
use domain::wire::ProjectPatch;
use repo::testing::{TestRepository, commit_all_in, write_in};

use super::*;
use crate::fixture::git;
use crate::runs::merge::merge_with;
use crate::runs::publication::follow::follow_tasks;
use crate::runs::publication::task::follow;

mod base;

const PROJECT_BRANCH: &str = "vibe-relay/PROJ-001";

/// A board whose tasks have pull requests of their own. Its `main` follows that of the remote, and `host` is a clone in which the host merges.
struct ByTask {
    published: Published,
    host: PathBuf,
}

impl ByTask {
    async fn new() -> Self {
        let sample = TestRepository::new();
        let (remote, host) = (sample.beside("remote.git"), sample.beside("host"));
        let paths = [sample.top(), &remote, &host].map(|path| path.display().to_string());
        git(sample.root(), &["clone", "-q", "--bare", &paths[0], &paths[1]]).await;
        git(sample.root(), &["clone", "-q", &paths[1], &paths[2]]).await;
        for setting in [["config", "user.name", "Host"], ["config", "user.email", "host@example.org"]] {
            git(&host, &setting).await;
        }
        let mut published = Published::on(TestBoard::on(sample).await);
        // `git` fetches from the folder, and its stand-in pushes to it under the address of a host.
        let settings = [
            ("remote.origin.url", paths[1].as_str()),
            ("remote.origin.pushurl", ADDRESS),
            ("branch.main.remote", "origin"),
            ("branch.main.merge", "refs/heads/main"),
        ];
        for (key, value) in settings {
            published.board.sample.configure(key, value);
        }
        let answers = published.board.sample.beside("answers");
        fs::create_dir_all(&answers).unwrap();
        let lines = format!(
            "echo \"$@\" >> {0}\ncase \"$1 $2\" in\n'pr list') cat {1}/open 2>/dev/null || true ;;\n'pr view') cat {1}/view ;;\napi*) cat {1}/comments ;;\n'run view') echo 'error: it is red' ;;\n\
             *) while [ \"$1\" != --body-file ]; do shift; done; cp \"$2\" {1}/text; echo {ADDRESS}/pull/7 | tee {1}/open ;;\nesac",
            published.calls.display(),
            answers.display()
        );
        published.tools.gh = Some(script(&published.board, "gh-of-tasks", &lines));
        let by_task = Self { published, host };
        by_task.set(Profile { pull_requests: PullRequests::Task, ..Profile::default() }).await;
        by_task
    }

    async fn set(&self, profile: Profile) {
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        self.board().db.edit_project(&Caller::owner(), &self.board().project.id, patch, None).await.unwrap();
    }

    const fn board(&self) -> &TestBoard {
        &self.published.board
    }

    async fn step(&self, task: &TaskId) -> Task {
        merge_with(&self.board().context(), &self.published.tools, task).await.unwrap();
        self.board().read(task).await
    }

    /// A task whose work is approved and under review as a pull request.
    async fn opened(&self, files: &[(&str, &str)]) -> Task {
        let task = self.board().task("Add a menu").await;
        self.board().work(&task, files).await;
        self.board().approve(&task).await;
        self.step(&task).await
    }

    /// Lets the host answer about the pushed tip of a task, and asks it.
    async fn answer(&self, task: &Task, state: &str, more: &str) -> Task {
        let view = format!(r#"{{"state": "{state}", "headRefOid": "{}"{more}}}"#, self.pushed(task).unwrap());
        fs::write(self.board().sample.beside("answers/view"), view).unwrap();
        follow(&self.board().db, &self.published.tools, &task.card.id).await.unwrap();
        self.board().read(&task.card.id).await
    }

    /// Lets the host merge a task in its own way.
    async fn host_merges(&self, task: &Task, how: &[&str]) {
        let branch = format!("origin/{}", task.card.pull_request.as_ref().unwrap().branch);
        for arguments in [&["fetch", "-q"][..], &["reset", "-q", "--hard", "origin/main"], &[how, &[&branch]].concat()] {
            git(&self.host, arguments).await;
        }
        if how.contains(&"--squash") {
            git(&self.host, &["commit", "-q", "-m", "Add a menu (#7)"]).await;
        }
        git(&self.host, &["push", "-q", "origin", "HEAD:main"]).await;
    }

    async fn others_push(&self, path: &str, content: &str) {
        git(&self.host, &["fetch", "-q"]).await;
        git(&self.host, &["reset", "-q", "--hard", "origin/main"]).await;
        write_in(&self.host, path, content);
        commit_all_in(&self.host, path);
        git(&self.host, &["push", "-q", "origin", "HEAD:main"]).await;
    }

    fn remote_tip(&self, branch: &str) -> Option<Sha> {
        repo::Repository::open(&self.published.remote).unwrap().ref_sha(branch).unwrap()
    }

    fn pushed(&self, task: &Task) -> Option<Sha> {
        self.remote_tip(&task.card.pull_request.as_ref()?.branch)
    }
}

#[tokio::test]
async fn approved_task_is_pushed_and_opened_instead_of_merged() {
    let by_task = ByTask::new().await;
    let (board, db) = (by_task.board(), &by_task.board().db);
    let issue = Issue {
        address: format!("{ADDRESS}/issues/3"),
        title: "Add a menu".to_owned(),
        body: "It is empty.".to_owned(),
        author: "eve".to_owned(),
        labels: Vec::new(),
    };
    let id = db.import_issue(&Caller::owner(), &board.project.id, issue, true).await.unwrap().card.id;
    let (_, sha) = board.work(&id, &[("menu.txt", "x")]).await;
    board.approve(&id).await;
    let main = board.tip("main");
    let task = by_task.step(&id).await;
    let opened = task.card.pull_request.clone().unwrap();
    let branch = format!("vr/TASK-001/work-{}", &sha[..7]);
    assert_eq!((opened.address, opened.branch.clone(), opened.sha.clone()), (format!("{ADDRESS}/pull/7"), branch.clone(), sha.clone()));
    assert!(task.card.awaits_pull_request() && task.merged_sha.is_none(), "it waits where it is");
    assert_eq!((by_task.pushed(&task), board.tip(PROJECT_BRANCH), board.tip("main")), (Some(sha), main.clone(), main), "nothing is merged here");
    let text = fs::read_to_string(board.sample.beside("answers/text")).unwrap();
    assert!(text.contains("It is empty.") && text.contains("\nCloses #3\n") && text.contains("This is TASK-001 of project PROJ-001"), "{text}");
    let calls = by_task.published.calls();
    assert!(
        calls.contains(&format!("pr create --repo github.example/ann/site --head {branch} --base main --title Add a menu --body-file ")),
        "{calls}"
    );
    // A killed server repeats the step.
    by_task.step(&id).await;
    assert_eq!(by_task.published.calls().matches("pr create").count(), 1);
    assert!(!db.folder().join("publishing/TASK-001.git").exists(), "the folder of the push is removed");
}

/// Each way in which a host merges, with a commit of someone else before it. The work changes the same line twice.
#[tokio::test]
async fn task_is_done_once_the_base_has_its_work() {
    for how in [&["merge", "-q", "--no-ff", "-m", "Merge pull request #7"][..], &["merge", "-q", "--squash"], &["rebase", "-q", "origin/main"]] {
        let by_task = ByTask::new().await;
        let board = by_task.board();
        let task = by_task.opened(&[("menu.txt", "half\n")]).await;
        let checkout = PathBuf::from(task.worktree_path.as_ref().unwrap());
        let back = by_task.answer(&task, "OPEN", &red()).await;
        assert_eq!(back.card.status, Status::InProgress);
        board.work(&task.card.id, &[("menu.txt", "whole\n")]).await;
        board.approve(&task.card.id).await;
        let task = by_task.step(&task.card.id).await;
        assert!(checkout.exists());
        by_task.others_push("theirs.txt", "x\n").await;
        by_task.host_merges(&task, how).await;
        let merged = by_task.answer(&task, "MERGED", "").await;
        assert!(merged.card.was_merged_on_host() && merged.card.status == Status::InReview, "not done before its base is followed");

        let done = by_task.step(&task.card.id).await;
        assert_eq!(
            (done.card.status, done.merged_sha.as_ref()),
            (Status::Done, task.card.approved_sha.as_ref()),
            "{how:?}: {:?}",
            done.card.attention
        );
        assert_eq!(board.tip(PROJECT_BRANCH), by_task.remote_tip("main"), "the project branch went along, without a merge");
        let project = board.project().await;
        assert!(!project.has_unlanded_work(true));
        let landing = project.landed.unwrap();
        assert_eq!((landing.tasks, landing.commits, landing.pull_request), (1, 2, Some(format!("{ADDRESS}/pull/7"))), "{how:?}");
        assert_eq!((project.status, by_task.pushed(&task)), (ProjectStatus::Complete, None), "its branch on the remote is removed");
        assert_eq!(board.clean(&task.card.id).await, None, "nothing is left that had to be kept");
    }
}

fn red() -> String {
    format!(r#", "statusCheckRollup": [{{"name": "test", "conclusion": "FAILURE", "detailsUrl": "{ADDRESS}/actions/runs/42/job/1"}}]"#)
}

#[tokio::test]
async fn red_checks_and_reviews_come_back_twice_and_then_need_a_person() {
    let by_task = ByTask::new().await;
    let (board, db) = (by_task.board(), &by_task.board().db);
    let mut task = by_task.opened(&[("menu.txt", "0")]).await;
    assert!(by_task.answer(&task, "OPEN", "").await.card.awaits_pull_request());
    let review = r#", "reviews": [{"id": "R1", "author": {"login": "ann"}, "authorAssociation": "OWNER", "body": "Use a map.", "state": "CHANGES_REQUESTED"}]"#;
    for (round, more, expected) in [(1, red(), "error: it is red"), (2, review.to_owned(), "Use a map.")] {
        fs::write(board.sample.beside("answers/comments"), "[]").unwrap();
        let back = by_task.answer(&task, "OPEN", &more).await;
        assert_eq!((back.card.status, back.card.approved_sha.clone()), (Status::InProgress, None));
        let comment = db.comments(&task.card.id).await.unwrap().pop().unwrap();
        assert!(comment.author_role == AuthorRole::Runner && comment.content.contains(expected), "{}", comment.content);
        let (_, sha) = board.work(&task.card.id, &[("menu.txt", &round.to_string())]).await;
        board.approve(&task.card.id).await;
        task = by_task.step(&task.card.id).await;
        assert_eq!(by_task.pushed(&task), Some(sha), "the repair is pushed to the same pull request");
    }
    let calls = by_task.published.calls();
    assert_eq!(calls.matches("pr create").count(), 1, "{calls}");
    let asked = by_task.answer(&task, "OPEN", &red()).await;
    let attention = asked.card.attention.unwrap();
    assert_eq!((attention.kind, asked.card.status), (AttentionKind::PullRequest, Status::InReview));
    assert!(attention.detail.starts_with("test failed, after its findings came back to a coder 2 times. Look at https://"), "{}", attention.detail);
}

#[tokio::test]
async fn closed_pull_request_needs_a_person_who_can_open_it_again() {
    let by_task = ByTask::new().await;
    let task = by_task.opened(&[("menu.txt", "x")]).await;
    let closed = by_task.answer(&task, "CLOSED", "").await;
    assert_eq!(closed.card.attention.unwrap().kind, AttentionKind::PullRequest);
    fs::remove_file(by_task.board().sample.beside("answers/open")).unwrap();
    // Its host offers to remove the branch too.
    let branch = format!("refs/heads/{}", task.card.pull_request.as_ref().unwrap().branch);
    git(&by_task.published.remote, &["update-ref", "-d", &branch]).await;
    by_task.board().db.retry_task(&Caller::owner(), &task.card.id, RetryOptions::default()).await.unwrap();
    assert!(by_task.step(&task.card.id).await.card.awaits_pull_request());
    assert_eq!(by_task.published.calls().matches("pr create").count(), 2);
}

#[tokio::test]
async fn host_that_does_not_answer_needs_a_person_and_a_merge_there_is_noticed_afterwards() {
    let mut by_task = ByTask::new().await;
    let task = by_task.opened(&[("menu.txt", "x")]).await;
    let id = &task.card.id;
    let gh = by_task.published.tools.gh.take();
    let mut unanswered = HashMap::new();
    for (limit, asks) in [(Duration::from_hours(1), false), (Duration::ZERO, true)] {
        follow_tasks(&by_task.board().db, &by_task.published.tools, &mut unanswered, limit).await.unwrap();
        assert_eq!(by_task.board().read(id).await.card.attention.is_some(), asks, "{limit:?}");
    }
    let detail = by_task.board().read(id).await.card.attention.unwrap().detail;
    assert!(detail.starts_with("Its pull request cannot be read: gh is not installed"), "{detail}");

    by_task.published.tools.gh = gh;
    let unchanged = by_task.answer(&task, "OPEN", &red()).await;
    assert_eq!((unchanged.card.status, unchanged.card.attention.is_some()), (Status::InReview, true), "the person decides first");
    by_task.host_merges(&task, &["merge", "-q", "--no-ff", "--no-edit"]).await;
    let merged = by_task.answer(&task, "MERGED", "").await;
    assert!(merged.card.attention.is_none());
    follow_tasks(&by_task.board().db, &by_task.published.tools, &mut unanswered, Duration::ZERO).await.unwrap();
    assert!(unanswered.is_empty());
    assert_eq!(by_task.step(id).await.card.status, Status::Done);
}

#[tokio::test]
async fn merge_that_cannot_be_fetched_is_said_so() {
    let by_task = ByTask::new().await;
    let task = by_task.opened(&[("menu.txt", "x")]).await;
    by_task.host_merges(&task, &["merge", "-q", "--no-ff", "--no-edit"]).await;
    by_task.answer(&task, "MERGED", "").await;
    let (remote, away) = (by_task.published.remote.clone(), by_task.board().sample.beside("away"));
    fs::rename(&remote, &away).unwrap();
    let asked = by_task.step(&task.card.id).await;
    let detail = asked.card.attention.unwrap().detail;
    assert!(detail.starts_with("Its pull request was merged, but the upstream of main cannot be fetched: "), "{detail}");
    fs::rename(&away, &remote).unwrap();
    by_task.board().db.retry_task(&Caller::owner(), &task.card.id, RetryOptions::default()).await.unwrap();
    assert_eq!(by_task.step(&task.card.id).await.card.status, Status::Done);
}

#[tokio::test]
async fn merge_that_the_base_does_not_have_finishes_nothing() {
    let by_task = ByTask::new().await;
    let task = by_task.opened(&[("menu.txt", "x")]).await;
    // Someone changed the work when it was squashed.
    by_task.others_push("menu.txt", "something else").await;
    by_task.answer(&task, "MERGED", "").await;
    let asked = by_task.step(&task.card.id).await;
    let attention = asked.card.attention.unwrap();
    assert_eq!((attention.kind, asked.card.status), (AttentionKind::PullRequest, Status::InReview));
    assert!(attention.detail.contains("has neither"), "{}", attention.detail);
    assert!(by_task.pushed(&task).is_some(), "its branch stays");
}

#[tokio::test]
async fn conflict_with_the_base_goes_back_and_nothing_is_pushed() {
    let by_task = ByTask::new().await;
    let id = by_task.board().task("Add a menu").await;
    by_task.board().work(&id, &[("README.md", "ours\n")]).await;
    by_task.board().approve(&id).await;
    by_task.others_push("README.md", "theirs\n").await;
    let task = by_task.step(&id).await;
    assert_eq!((task.card.status, task.card.pull_request.clone()), (Status::InProgress, None));
    assert_eq!(by_task.pushed(&task), None);
}

#[tokio::test]
async fn missing_program_remote_or_host_is_said_on_the_card_and_the_step_can_be_repeated() {
    let mut by_task = ByTask::new().await;
    let id = by_task.board().task("Add a menu").await;
    by_task.board().work(&id, &[("menu.txt", "x")]).await;
    by_task.board().approve(&id).await;
    let gh = by_task.published.tools.gh.take();
    let sample = &by_task.published.board.sample;
    let detail = async |by_task: &ByTask| {
        let attention = by_task.step(&id).await.card.attention.unwrap();
        assert_eq!(attention.kind, AttentionKind::PullRequest);
        by_task.board().db.retry_task(&Caller::owner(), &id, RetryOptions::default()).await.unwrap();
        attention.detail
    };
    insta::assert_snapshot!(detail(&by_task).await, @"Its pull request was not opened: gh is not installed or not signed in, so no pull request can be opened. Install the GitHub CLI and run `gh auth login`, or choose one pull request for the project. Press Retry to try again.");
    sample.configure("branch.main.merge", "main");
    insta::assert_snapshot!(detail(&by_task).await, @"Its pull request was not opened: main does not follow a branch of a remote, so the board would not notice that a pull request was merged. Set it with `git branch --set-upstream-to=origin/main main`, or choose one pull request for the project. Press Retry to try again.");
    sample.configure("branch.main.merge", "refs/heads/main");
    sample.configure("remote.origin.pushurl", "/srv/site.git");
    insta::assert_snapshot!(detail(&by_task).await, @"Its pull request was not opened: /srv/site.git is not on a host that has pull requests. Push the branch only, and open the pull request where its host offers it. Press Retry to try again.");
    sample.configure("remote.origin.pushurl", ADDRESS);
    by_task.published.tools.gh = gh;
    assert!(by_task.step(&id).await.card.awaits_pull_request());
}
