//! Publishing with the real `git`, a bare remote, and a stand-in for `gh` that records its arguments.

mod contract;
mod follow;
mod gitlab;
mod issue;
mod lfs;
mod task;

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::fixture::TestBoard;
use crate::runs::merge::merge;

const ADDRESS: &str = "https://github.example/ann/site";

/// A board with merged work, whose remote is a bare repository that `git` finds under the address of a host.
struct Published {
    board: TestBoard,
    tools: Tools,
    remote: PathBuf,
    calls: PathBuf,
}

impl Published {
    async fn new() -> Self {
        Self::on(TestBoard::new().await)
    }

    fn on(board: TestBoard) -> Self {
        let remote = board.sample.beside("remote.git");
        repo::testing::init_bare_in(&remote);
        board.sample.configure("remote.origin.url", ADDRESS);
        let calls = board.sample.beside("calls");
        let git = script(&board, "git-stand-in", &format!("exec git -c url.{}.insteadOf={ADDRESS} \"$@\"", remote.display()));
        let gh = script(
            &board,
            "gh-stand-in",
            &format!("echo \"$@\" >> {0}\ncase $2 in list) ;; *) echo Creating; echo {ADDRESS}/pull/7 ;; esac", calls.display()),
        );
        Self { board, tools: Tools { git: Some(git), gh: Some(gh), glab: None }, remote, calls }
    }

    async fn merge_work(&self, file: &str) {
        let task = self.board.task(&format!("Add {file}")).await;
        self.board.work(&task, &[(file, "x")]).await;
        self.board.approve(&task).await;
        merge(&self.board.context(), &task).await.unwrap();
    }

    async fn publish(&self, pull_request: bool) -> db::Result<Project> {
        publish(&self.board.db, &self.tools, &Caller::owner(), &self.board.project().await.id, PublishOptions { pull_request }).await
    }

    async fn refused(&self, pull_request: bool) -> String {
        match self.publish(pull_request).await {
            Err(db::Error::Refused(refusal)) => format!("{}: {refusal}", refusal.code()),
            other => panic!("{other:?}"),
        }
    }

    fn pushed(&self) -> Option<Sha> {
        repo::Repository::open(&self.remote).unwrap().ref_sha("vibe-relay/PROJ-001").unwrap()
    }

    fn calls(&self) -> String {
        fs::read_to_string(&self.calls).unwrap_or_default()
    }
}

fn script(board: &TestBoard, name: &str, lines: &str) -> PathBuf {
    let path = board.sample.beside(name);
    fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

#[tokio::test]
async fn branch_is_pushed_and_its_pull_request_opened_once() {
    let published = Published::new().await;
    assert!(published.refused(false).await.starts_with("nothing-to-publish: "));
    published.merge_work("a").await;
    let project = published.publish(false).await.unwrap();
    let first = project.published.unwrap();
    assert_eq!((first.remote.as_str(), first.branch.as_str(), &first.pull_request), ("origin", "vibe-relay/PROJ-001", &None));
    assert_eq!((published.pushed(), published.calls().as_str()), (Some(first.sha), ""), "gh is not asked");

    published.merge_work("b").await;
    let project = published.publish(true).await.unwrap();
    let second = project.published.unwrap();
    assert_eq!(second.pull_request.as_deref(), Some("https://github.example/ann/site/pull/7"));
    assert_eq!((Some(&second.sha), Some(second.sha.clone())), (project.integration_head.as_ref(), published.pushed()));
    let file = published.board.db.folder().join("publishing/PROJ-001.git/pull-request.md");
    insta::assert_snapshot!(published.calls().replace(file.to_str().unwrap(), "FILE"), @r"
    pr list --repo github.example/ann/site --head vibe-relay/PROJ-001 --state open --json url,isCrossRepository --jq [.[] | select(.isCrossRepository | not)][0].url
    pr create --repo github.example/ann/site --head vibe-relay/PROJ-001 --base main --title Board --body-file FILE
    ");
    assert!(!file.exists(), "the folder of the push is removed");
    // Pushing again keeps the pull request.
    assert_eq!(published.publish(false).await.unwrap().published.unwrap().pull_request, second.pull_request);
}

#[tokio::test]
async fn open_pull_request_is_not_opened_again() {
    let mut published = Published::new().await;
    published.merge_work("a").await;
    let calls = published.calls.display().to_string();
    published.tools.gh = Some(script(&published.board, "gh-with-open", &format!("echo $2 >> {calls}; echo {ADDRESS}/pull/3")));
    let pull_request = published.publish(true).await.unwrap().published.unwrap().pull_request;
    assert_eq!((pull_request.as_deref(), published.calls().as_str()), (Some("https://github.example/ann/site/pull/3"), "list\n"));
}

#[tokio::test]
async fn failure_says_what_is_missing_and_a_push_stays() {
    let mut published = Published::new().await;
    published.merge_work("a").await;
    let stand_in = published.tools.clone();
    published.tools.gh = None;
    assert_eq!(published.refused(true).await, "program-missing: gh is not installed");
    assert_eq!(published.pushed(), None, "nothing is pushed before everything is there");
    published.tools.gh = Some(script(&published.board, "gh-signed-out", "echo 'To get started, run: gh auth login' >&2; exit 4"));
    let refused = published.refused(true).await;
    assert_eq!(refused, "no-pull-request: vibe-relay/PROJ-001 was pushed, but no pull request was opened: To get started, run: gh auth login");
    assert_eq!(published.board.project().await.published.map(|published| published.sha), published.pushed(), "the push is recorded");

    published.tools = stand_in;
    published.board.sample.configure("remote.origin.url", "https://ann:secret@nowhere.invalid/ann/site");
    let refused = published.refused(false).await;
    assert!(refused.starts_with("not-pushed: origin rejected vibe-relay/PROJ-001: ") && !refused.contains("secret"), "{refused}");
    published.board.sample.configure("remote.origin.url", "ext::touch /tmp/evil");
    assert!(published.refused(false).await.contains("transport 'ext' not allowed"));
    published.board.sample.configure("remote.origin.url", "/srv/site.git");
    assert_eq!(published.refused(true).await, "no-pull-requests: /srv/site.git is not on a host that has pull requests");
}

#[tokio::test]
async fn commits_that_nobody_approved_are_not_pushed() {
    let published = Published::new().await;
    published.merge_work("a").await;
    published.board.sample.commit_on("vibe-relay/PROJ-001", &[("b", Some("b"))], "unapproved");
    assert!(published.refused(false).await.starts_with("branch-foreign: "));
    assert_eq!(published.pushed(), None);
    let ann = Caller::Person(db::PersonCaller { id: 2, name: "ann".to_owned(), role: domain::team::person::PersonRole::Viewer, is_companion: false });
    let project = published.board.project().await.id;
    let refused = publish(&published.board.db, &published.tools, &ann, &project, PublishOptions::default()).await;
    assert!(matches!(refused, Err(db::Error::Refused(_))), "{refused:?}");
}
