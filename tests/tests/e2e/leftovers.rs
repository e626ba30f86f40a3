//! `uninstall` and `clean` name what is left after a project was deleted: in its repository, and in the folders of runs of another one.

use std::time::Duration;

use domain::board::project::Project;
use domain::id::ProjectId;
use domain::wire::NewProject;
use serde_json::Value;
use tests::server::TestServer;

use crate::support;

const ONE_FILE: &str = include_str!("../../scenarios/one_file.json");
/// How long the runner may take to remove a deleted project.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The data that a command prints.
async fn data(server: &TestServer, arguments: &[&str]) -> Value {
    let output = server.command(&[&["--json"], arguments].concat()).output().await.unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The item of a list about `what`.
fn about<'a>(list: &'a Value, what: &str) -> Option<&'a Value> {
    list.as_array().unwrap().iter().find(|item| item["what"] == what)
}

/// Makes a project with one finished task, and lands it.
async fn landed(server: &TestServer, title: &str) -> ProjectId {
    let repo_path = Some(server.repository().display().to_string());
    let new = NewProject { title: title.to_owned(), repo_path, plan: Some(false), ..NewProject::default() };
    let project = server.post::<Project>("/api/projects", &new).await.unwrap().id;
    let task = support::add(server, &project, title).await;
    support::done(server, &project, &task).await;
    data(server, &["land", project.as_str()]).await;
    project
}

#[tokio::test]
async fn deleted_project_leaves_nothing_unnamed() {
    let mut server = support::scripted(ONE_FILE).await;
    let [deleted, kept] = [landed(&server, "First").await, landed(&server, "Second").await];
    data(&server, &["project", "delete", deleted.as_str(), "--title", "First"]).await;
    let removed = async { while server.board(&deleted).await.is_ok() {} };
    tokio::time::timeout(TIMEOUT, removed).await.expect("the rows of the project are removed");

    let branch = format!("vibe-relay/{deleted}");
    let offered = data(&server, &["clean"]).await;
    let litter = about(&offered, "branch of a deleted project").unwrap_or_else(|| panic!("{offered}"));
    assert!(litter["place"].as_str().unwrap().starts_with(&format!("{branch} in ")), "{litter}");

    assert!(server.stop().await.unwrap().success());
    let left = data(&server, &["uninstall"]).await;
    let repository = about(&left, "branches and kept work in the repository of a project").unwrap_or_else(|| panic!("{left}"));
    assert_eq!(repository["place"], server.repository().canonicalize().unwrap().display().to_string());
    let board = about(&left, "database, tokens and run folders").unwrap();
    assert!(board["remove"].as_str().unwrap().contains("/data/runs"), "the runs of {kept}: {board}");
}
