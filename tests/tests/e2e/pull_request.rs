//! A pull request with a bare remote and a stand-in for `gh`: a red check that names the file of one task reopens the card of this task.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use domain::board::card::Card;
use domain::board::comment::AuthorRole;
use domain::board::project::Project;
use domain::board::reducer::Board;
use domain::board::status::Status;
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

#[tokio::test]
async fn red_check_reopens_the_card_whose_file_it_names() {
    let start = support::scripted_with(SCENARIO, |options| {
        let bin = options.config.db_path.parent().unwrap().parent().unwrap().join("bin");
        std::fs::create_dir_all(&bin).unwrap();
        let path = options.environment.iter_mut().find(|(name, _)| name == "PATH").unwrap();
        path.1 = format!("{}:{}", bin.display(), path.1);
    });
    let mut server = start.await;
    with_host(&server);
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
