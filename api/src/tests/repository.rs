//! The base branch of a new project: the named one, the configured one, or the one that is checked out.

use domain::board::project::Project;
use domain::board::status::Status;
use domain::config::Config;
use domain::config::live::LiveConfig;
use domain::runs::agent_kind::AgentKind;
use repo::testing::TestRepository;
use serde_json::json;
use tokio::sync::watch;

use super::support::TestServer;

/// Creates a project at `path` and returns its base branch.
async fn base_branch(server: &TestServer, path: Option<&str>, branch: Option<&str>) -> String {
    let new = json!({"title": "A page", "repo_path": path, "base_branch": branch});
    let answer = server.call("post", "/api/projects", &new.to_string()).await;
    serde_json::from_value::<Project>(answer.json()).unwrap_or_else(|_| panic!("{}", answer.text)).base_branch
}

#[tokio::test]
async fn configured_base_branch_applies_to_the_configured_repository() {
    let (sample, other) = (TestRepository::new(), TestRepository::new());
    sample.write("notes/a.md", "a\n");
    sample.set_branch("release", sample.commit_all("notes").as_str());
    let top = sample.top().to_owned();
    let config = Config { repo_path: Some(top.clone()), base_branch: Some("release".to_owned()), ..Config::default() };
    let server = TestServer::with(|state| state.config = watch::Sender::new(LiveConfig { config, notice: None }).subscribe()).await;

    let inside = top.join("notes").display().to_string();
    assert_eq!(base_branch(&server, None, None).await, "release");
    assert_eq!(base_branch(&server, Some(&top.display().to_string()), None).await, "release", "named by its path");
    assert_eq!(base_branch(&server, Some(&inside), None).await, "release", "named by another path");
    assert_eq!(base_branch(&server, Some(&inside), Some("main")).await, "main", "an explicit branch wins");
    assert_eq!(base_branch(&server, Some(&other.top().display().to_string()), None).await, "main", "another repository");
}

#[tokio::test]
async fn moved_repository_is_named_again() {
    let server = TestServer::new().await;
    let project = server.project().await;
    server.merged(&project, "one.txt", "1").await;
    let other = TestRepository::new();
    let moved = server.sample.beside("moved");
    std::fs::rename(server.sample.top(), &moved).unwrap();

    let relocate = async |path: &std::path::Path| {
        server.call("post", "/api/projects/PROJ-001/relocate", &json!({"repo_path": path.display().to_string()}).to_string()).await
    };
    let landing = server.call("post", "/api/projects/PROJ-001/land", "").await;
    assert_eq!(landing.json()["code"], "repository-missing", "{}", landing.text);
    let refused = relocate(other.top()).await;
    assert_eq!(refused.json()["code"], "other-repository", "{}", refused.text);
    let relocated = relocate(&moved).await;
    assert_eq!(relocated.json()["repo_path"], moved.display().to_string(), "{}", relocated.text);
    let landed = server.call("post", "/api/projects/PROJ-001/land", "").await;
    assert_eq!(landed.status.as_u16(), 200, "{}", landed.text);
    assert_eq!(std::fs::read_to_string(moved.join("one.txt")).unwrap(), "1");
}

#[tokio::test]
async fn repository_of_working_agents_is_not_relocated() {
    let server = TestServer::new().await;
    let project = server.project().await;
    let task = server.task(&project).await.card.id;
    server.run(&task, AgentKind::Coder, Status::Backlog).await;
    let body = json!({"repo_path": server.sample.top().display().to_string()});
    let answer = server.call("post", "/api/projects/PROJ-001/relocate", &body.to_string()).await;
    assert_eq!((answer.status.as_u16(), answer.json()["code"].as_str()), (409, Some("agents-work")), "{}", answer.text);
}
