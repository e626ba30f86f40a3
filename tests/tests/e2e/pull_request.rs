//! Pull requests with a bare remote and a stand-in for `gh`: a red check that names the file of one task reopens the card of this task, and tasks
//! with pull requests of their own are done when their host has merged them.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::board::card::Card;
use domain::board::comment::AuthorRole;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::wire::TaskView;
use reqwest::Method;
use serde_json::json;
use tests::git::git;
use tests::server::TestServer;

use crate::support::{self, add, done};

const SCENARIO: &str = include_str!("../../scenarios/pull_request.json");
const ADDRESS: &str = "https://github.example/ann/site";
const BRANCH: &str = "vibe-relay/PROJ-001";

/// Gives the repository a remote that `git` finds under the address of a host, and the server a stand-in for the program of that host.
fn with_host(server: &TestServer) {
    let root = server.root();
    let shown = |path: &Path| path.display().to_string();
    git(&root, &["clone", "-q", "--bare", &shown(&server.repository()), &shown(&root.join("remote.git"))]).unwrap();
    git(&server.repository(), &["remote", "add", "origin", ADDRESS]).unwrap();
    std::fs::create_dir_all(root.join("home")).unwrap();
    let rewrite = format!("[url \"{}\"]\n  insteadOf = {ADDRESS}\n", root.join("remote.git").display());
    std::fs::write(root.join("home/.gitconfig"), rewrite).unwrap();
    let gh = root.join("bin/gh");
    let lines = format!(
        "#!/bin/sh\necho \"$@\" >> {0}/calls\ncase \"$1 $2\" in\n'pr create') echo {ADDRESS}/pull/7 ;;\n'pr view') cat {0}/view ;;\n\
         'run view') cat {0}/log ;;\nesac\n",
        root.display()
    );
    std::fs::write(&gh, lines).unwrap();
    std::fs::set_permissions(&gh, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// The tip of the branch on the remote.
fn pushed(server: &TestServer) -> String {
    git(&server.root().join("remote.git"), &["rev-parse", BRANCH]).unwrap()
}

/// Lets the host answer about the pushed tip, and the server ask at once, as it does when it starts.
async fn answer(server: &mut TestServer, checks: serde_json::Value) {
    let view = json!({"state": "OPEN", "headRefOid": pushed(server), "statusCheckRollup": checks});
    std::fs::write(server.root().join("view"), view.to_string()).unwrap();
    server.stop().await.unwrap();
    server.serve().await.unwrap();
}

async fn server_with_host() -> TestServer {
    let start = support::scripted_with(SCENARIO, |options| {
        let bin = options.config.db_path.parent().unwrap().parent().unwrap().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let path = options.environment.iter_mut().find(|(name, _)| name == "PATH").unwrap();
        path.1 = format!("{}:{}", bin.display(), path.1);
    });
    let server = start.await;
    with_host(&server);
    server
}

#[tokio::test]
async fn red_check_reopens_the_card_whose_file_it_names() {
    let mut server = server_with_host().await;
    let project = server.project("Published", None).await.unwrap().id;
    let tasks = [add(&server, &project, "One").await, add(&server, &project, "Two").await];
    for task in &tasks {
        done(&server, &project, task).await;
    }
    let published: Project = server.post(&format!("/api/projects/{project}/publication"), &json!({"pull_request": true})).await.unwrap();
    let publication = published.published.unwrap();
    assert_eq!((publication.pull_request, &publication.sha), (Some(format!("{ADDRESS}/pull/7")), &pushed(&server)));

    std::fs::write(server.root().join("log"), format!("test\t/ci/site/{}.txt: expected green, found red\n", tasks[1])).unwrap();
    let red = json!([{"name": "test", "conclusion": "FAILURE", "detailsUrl": format!("{ADDRESS}/actions/runs/42/job/1")}]);
    answer(&mut server, red).await;
    let repaired = |card: &Card| card.runs == 4 && card.status == Status::Done && card.run.is_none();
    let is_repaired = |board: &Board| board.card(&tasks[1]).is_some_and(repaired);
    server.until(&project, "the task of the file was repaired", is_repaired).await;
    let comments = server.comments(&tasks[1]).await.unwrap();
    let finding = comments.iter().find(|view| view.comment.author_role == AuthorRole::Runner).unwrap();
    assert!(finding.comment.content.contains("expected green, found red"), "{finding:?}");
    let board = server.board(&project).await.unwrap();
    assert_eq!(board.cards.len(), 2, "no new task");
    assert_eq!(board.card(&tasks[0]).unwrap().runs, 2, "the other task stays as it is");

    answer(&mut server, json!([])).await;
    let tip = || git(&server.repository(), &["rev-parse", BRANCH]).unwrap();
    tests::wait_for("the repair is pushed", || pushed(&server) == tip()).await;
    let calls = std::fs::read_to_string(server.root().join("calls")).unwrap();
    assert_eq!(calls.lines().filter(|call| call.starts_with("pr create")).count(), 1, "{calls}");
    assert!(calls.contains("run view 42 --repo github.example/ann/site --log-failed\n"), "{calls}");
}

/// Someone on the host squashes the pull request of a branch.
fn squash_on_host(server: &TestServer, branch: &str) -> String {
    let (remote, clone) = (server.root().join("remote.git").display().to_string(), server.root().join("host"));
    if !clone.exists() {
        git(&server.root(), &["clone", "-q", &remote, &clone.display().to_string()]).unwrap();
    }
    git(&clone, &["fetch", "-q", "origin"]).unwrap();
    git(&clone, &["reset", "-q", "--hard", "origin/main"]).unwrap();
    git(&clone, &["merge", "-q", "--squash", &format!("origin/{branch}")]).unwrap();
    git(&clone, &["commit", "-q", "-m", &format!("{branch} (#7)")]).unwrap();
    git(&clone, &["push", "-q", "origin", "HEAD:main"]).unwrap();
    git(&clone, &["rev-parse", "HEAD"]).unwrap()
}

#[tokio::test]
async fn tasks_with_pull_requests_of_their_own_are_done_when_the_host_merged_them() {
    let mut server = server_with_host().await;
    let (repository, remote) = (server.repository(), server.root().join("remote.git"));
    let main = git(&repository, &["rev-parse", "main"]).unwrap();
    let project = server.project("By task", None).await.unwrap().id;
    let (path, by_task) = (format!("/api/projects/{project}"), json!({"profile": {"pull_requests": "task"}}));
    let problem = server.refusal(server.request(Method::PATCH, &path).json(&by_task)).await.unwrap();
    assert_eq!(problem.code, "no-upstream", "{problem:?}");
    git(&repository, &["config", "branch.main.remote", "origin"]).unwrap();
    git(&repository, &["config", "branch.main.merge", "refs/heads/main"]).unwrap();
    let answered = server.request(Method::PATCH, &path).json(&by_task).send().await.unwrap();
    assert!(answered.status().is_success(), "{answered:?}");
    let one = add(&server, &project, "One").await;
    let new = json!({"title": "Two", "start": true, "depends_on": [one]});
    let two: TaskView = server.post(&format!("{path}/tasks"), &new).await.unwrap();
    let two = two.task.card.id;

    for task in [&one, &two] {
        let waits = |board: &Board| board.card(task).is_some_and(|card| card.wait_reason == Some(WaitReason::PullRequest));
        server.until(&project, "the pull request is open", waits).await;
        let board = server.board(&project).await.unwrap();
        let known = board.card(task).unwrap().pull_request.clone().unwrap();
        assert_eq!(git(&remote, &["rev-parse", &known.branch]).unwrap(), known.sha);
        if task == &one {
            assert_eq!(board.card(&two).unwrap().runs, 0, "it waits for what is not merged");
        }
        let squashed = squash_on_host(&server, &known.branch);
        let view = json!({"state": "MERGED", "headRefOid": known.sha, "statusCheckRollup": []});
        std::fs::write(server.root().join("view"), view.to_string()).unwrap();
        server.stop().await.unwrap();
        server.serve().await.unwrap();
        let is_done = |board: &Board| board.card(task).is_some_and(|card| card.status == Status::Done);
        server.until(&project, "its task is done", is_done).await;
        assert_eq!(git(&repository, &["rev-parse", BRANCH]).unwrap(), squashed, "the project branch went along");
        tests::wait_for("its branch is removed", || git(&remote, &["rev-parse", "--verify", "-q", &known.branch]).is_err()).await;
        let view = json!({"state": "OPEN", "headRefOid": "", "statusCheckRollup": []});
        std::fs::write(server.root().join("view"), view.to_string()).unwrap();
    }
    let parents = git(&repository, &["log", "--format=%s", &format!("{main}..{BRANCH}")]).unwrap();
    assert_eq!(parents.lines().count(), 2, "no merge commit of the board is in between: {parents}");
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), main, "no branch of the person moved");
    let calls = std::fs::read_to_string(server.root().join("calls")).unwrap();
    assert!(calls.contains("pr create --repo github.example/ann/site --head vr/TASK-002/"), "{calls}");
}
