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

#[tokio::test]
async fn project_begins_with_a_snapshot_that_has_no_secrets() {
    let server = TestServer::new().await;
    let sample = &server.sample;
    for (name, text) in [("README.md", "mine\n"), ("notes.txt", "new\n"), (".env", "KEY=1\n"), ("keys/a.pem", "secret\n")] {
        sample.write(name, text);
    }
    let new = json!({"title": "A page", "repo_path": sample.top(), "start": "snapshot", "profile": {"copy": ["keys"]}});
    let answer = server.call("post", "/api/projects", &new.to_string()).await;
    let project: Project = serde_json::from_value(answer.json()).unwrap_or_else(|_| panic!("{}", answer.text));
    let start = project.integration_head.unwrap();
    let repository = sample.repository();
    let stored = |path| repository.file_at(&start, path).unwrap().map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!((stored("README.md").as_deref(), stored("notes.txt").as_deref()), (Some("mine\n"), Some("new\n")));
    assert_eq!((stored(".env"), stored("keys/a.pem")), (None, None), "both the given and the usual profile name secrets");
    assert_eq!((project.base_head, sample.read("README.md").as_deref()), (repository.ref_sha("main").unwrap().unwrap(), Some("mine\n")));
}

#[tokio::test]
async fn branch_of_a_remote_becomes_the_base_only_on_request() {
    let server = TestServer::new().await;
    let sample = &server.sample;
    let tip = sample.commit_on("elsewhere", &[("next", Some("x"))], "next");
    let folder = sample.git_dir().join("refs/remotes/origin");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("next"), format!("{tip}\n")).unwrap();
    let create = async |make_base: bool| {
        let new = json!({"title": "A page", "repo_path": sample.top(), "base_branch": "origin/next", "make_base": make_base});
        server.call("post", "/api/projects", &new.to_string()).await
    };
    let refused = create(false).await;
    assert_eq!(refused.json()["code"], "branch-not-local", "{}", refused.text);
    let created = create(true).await;
    assert_eq!(created.json()["base_branch"], "next", "{}", created.text);
    assert_eq!(sample.repository().ref_sha("next").unwrap(), Some(tip));
    let again = create(true).await;
    assert!(again.json()["hint"].as_str().is_some_and(|hint| hint.contains("local branch next")), "{}", again.text);
    let behind = json!({"title": "A page", "repo_path": sample.top(), "start": "upstream"});
    let refused = server.call("post", "/api/projects", &behind.to_string()).await;
    assert_eq!(refused.json()["code"], "no-upstream", "{}", refused.text);
}

#[tokio::test]
async fn findings_name_what_the_configuration_makes_of_a_repository() {
    let sample = TestRepository::new();
    sample.configure("commit.gpgsign", "true");
    sample.write("new", "x");
    let worktrees = sample.beside("worktrees");
    let config = Config { worktrees_path: worktrees, max_parallel_agents: u32::MAX, ..Config::default() };
    sample.write("large", &"x".repeat(1 << 20));
    sample.commit_all("a large file");
    sample.write("later", "x");
    let server = TestServer::with(|state| state.config = watch::Sender::new(LiveConfig { config, notice: None }).subscribe()).await;
    let query = format!("?path={}", sample.top().display());
    let found = server.call("get", &format!("/api/repository{query}"), "").await.json();
    let kinds: Vec<&str> = found["findings"].as_array().unwrap().iter().map(|finding| finding["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["signed-commits", "little-space"]);
    let uncommitted = server.call("get", &format!("/api/repository/uncommitted{query}"), "").await.json();
    assert_eq!(uncommitted["finding"]["kind"], "uncommitted-files");
}
