//! Following the base branch: another clone pushes while agents work. Its commits reach the project branch, a coder resolves a conflict, and no
//! branch of the person moves before they land.

use std::path::{Path, PathBuf};

use domain::id::TaskId;
use domain::wire::LandingResult;
use reqwest::Method;
use serde_json::json;
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

pub(crate) const SCENARIO: &str = include_str!("../../scenarios/follow_base.json");
const BRANCH: &str = "vibe-relay/PROJ-001";

/// Gives the `main` of the server's repository an upstream in a bare one, and returns another clone of that.
pub(crate) fn with_upstream(server: &TestServer) -> PathBuf {
    let (repository, remote, other) = (server.repository(), server.root().join("remote.git"), server.root().join("other"));
    let path = |path: &Path| path.display().to_string();
    git(&server.root(), &["clone", "-q", "--bare", &path(&repository), &path(&remote)]).unwrap();
    git(&server.root(), &["clone", "-q", &path(&remote), &path(&other)]).unwrap();
    git(&repository, &["remote", "add", "origin", &path(&remote)]).unwrap();
    git(&repository, &["config", "branch.main.remote", "origin"]).unwrap();
    git(&repository, &["config", "branch.main.merge", "refs/heads/main"]).unwrap();
    other
}

pub(crate) fn push(other: &Path, file: &str, content: &str) -> String {
    std::fs::write(other.join(file), content).unwrap();
    git(other, &["add", "-A"]).unwrap();
    git(other, &["commit", "-q", "-m", file]).unwrap();
    git(other, &["push", "-q", "origin", "HEAD:main"]).unwrap();
    git(other, &["rev-parse", "HEAD"]).unwrap()
}

#[tokio::test]
async fn upstream_is_followed_and_a_conflict_goes_to_a_coder() {
    let server = support::scripted(SCENARIO).await;
    let (other, repository) = (with_upstream(&server), server.repository());
    let refs = || git(&repository, &["for-each-ref", "refs/heads/main", "refs/remotes", "refs/tags"]).unwrap();
    let before = refs();
    push(&other, "theirs.txt", "Theirs.\n");
    let project = server.project("Followed", None).await.unwrap().id;
    let task = add(&server, &project, "Ours").await;
    done(&server, &project, &task).await;
    let show = |file: &str| git(&repository, &["show", &format!("{BRANCH}:{file}")]).unwrap();
    assert_eq!((show("theirs.txt").as_str(), show("README.md").as_str()), ("Theirs.", "Ours."));

    let conflicting = push(&other, "README.md", "Theirs.\n");
    let land = format!("/api/projects/{project}/land");
    let problem = server.refusal(server.request(Method::POST, &land).json(&json!({}))).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (409, "sync-pending"), "{problem:?}");
    let sync: TaskId = "TASK-002".parse().unwrap();
    assert!(problem.detail.contains(sync.as_str()), "{}", problem.detail);
    done(&server, &project, &sync).await;
    assert_eq!(show("README.md"), "Both.");
    assert_eq!(refs(), before, "nothing of the person moved");

    let landed: LandingResult = server.post(&land, &json!({})).await.unwrap();
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), landed.sha);
    git(&repository, &["merge-base", "--is-ancestor", &conflicting, "main"]).unwrap();
    assert_eq!(std::fs::read_to_string(repository.join("theirs.txt")).unwrap(), "Theirs.\n");
}
