//! Invalid requests: each response says what was attempted and what to do next, and nothing changes.

use std::path::Path;

use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::transition::Mover;
use domain::id::{ProjectId, TaskId};
use domain::runs::evidence::{RepositoryInfo, UncommittedFiles};
use domain::wire::{List, Problem};
use reqwest::Method;
use serde_json::{Value, json};
use tests::git::{git, repository};
use tests::server::TestServer;

use crate::support;

const NO_AGENTS: &str = r#"{"parts": []}"#;

async fn board() -> (TestServer, ProjectId, TaskId) {
    let server = support::scripted(NO_AGENTS).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task: Value = server.post(&format!("/api/projects/{project}/tasks"), &json!({"title": "An errand"})).await.unwrap();
    (server, project, task["id"].as_str().unwrap().parse().unwrap())
}

/// Sends a request and asserts the status, the code and parts of the detail and the hint of its refusal.
async fn refused(server: &TestServer, method: Method, path: &str, body: Value, wanted: (u16, &str, &str, &str)) -> Problem {
    let problem = server.refusal(server.request(method, path).json(&body)).await.unwrap();
    let (status, code, detail, hint) = wanted;
    let fits = problem.detail.contains(detail) && problem.hint.contains(hint);
    assert!((problem.status, problem.code.as_str()) == (status, code) && fits, "{path} {}: {problem:#?}", body.to_string().get(..200).unwrap_or(""));
    problem
}

#[tokio::test]
async fn illegal_move_lists_legal_moves() {
    let (server, _, task) = board().await;
    let path = format!("/api/tasks/{task}");
    let wanted = (422, "illegal-move", "you may not move TASK-001 from backlog to in_review", "you can move it to in_progress");
    let problem = refused(&server, Method::PATCH, &path, json!({"status": "in_review"}), wanted).await;
    assert_eq!((problem.from, problem.to), (Some(Status::Backlog), Some(Status::InReview)));
    let targets: Vec<Status> = problem.allowed.iter().filter(|target| target.who.contains(&Mover::Human)).map(|target| target.to).collect();
    assert_eq!(targets, [Status::InProgress, Status::Cancelled]);
    let cancel = (422, "reason-needed", "moving TASK-001 to cancelled needs a reason", "Pass a reason with the move");
    refused(&server, Method::PATCH, &path, json!({"status": "cancelled"}), cancel).await;
    let why = (422, "invalid", "boredom", "failed, abandoned, obsolete or duplicate");
    refused(&server, Method::PATCH, &path, json!({"status": "cancelled", "reason": "boredom"}), why).await;
    assert_eq!(server.task(&task).await.unwrap().task.card.status, Status::Backlog, "it stands where it stood");
}

#[tokio::test]
async fn unknown_id_is_not_found() {
    let (server, ..) = board().await;
    for (path, detail, hint) in [
        ("/api/tasks/TASK-099", "task TASK-099 does not exist", "form TASK-001"),
        ("/api/tasks/banana", "\"banana\" is not a task id", "like TASK-001"),
        ("/api/projects/PROJ-099/board", "project PROJ-099 does not exist", "form PROJ-001"),
        ("/api/runs/RUN-099", "run RUN-099 does not exist", "form RUN-001"),
    ] {
        refused(&server, Method::GET, path, json!({}), (404, "not-found", detail, hint)).await;
    }
    refused(&server, Method::GET, "/api/nowhere", json!({}), (404, "no-such-path", "/api/nowhere does not exist", "/api/openapi.json")).await;
}

#[tokio::test]
async fn invalid_text_is_refused_by_field() {
    let (server, project, task) = board().await;
    let new = format!("/api/projects/{project}/tasks");
    let long = "x".repeat(1 << 20);
    for (body, wanted) in [
        (json!({"title": ""}), (422, "invalid", "title: it is empty", "in a few words")),
        (json!({"title": " \t "}), (422, "invalid", "title: it is empty", "in a few words")),
        (json!({"title": "x".repeat(900_000)}), (422, "invalid", "title: it has 900000 bytes, more than the 500 allowed", "Shorten it")),
        (json!({"title": long}), (413, "too-large", "larger than 1048576 bytes", "Shorten it")),
        (json!({"title": "a\0b"}), (422, "invalid", "title: it contains a control character", "one line")),
        (json!({"title": "a", "description": "a\0b"}), (422, "invalid", "description: it contains a NUL", "U+0000")),
        (json!({"title": 5}), (422, "invalid", "title: invalid type: integer `5`, expected a string", "/api/openapi.json")),
        (json!({"titel": "a"}), (422, "invalid", "titel: unknown field", "/api/openapi.json")),
        (json!({"title": "a", "depends_on": ["TASK-099"]}), (404, "not-found", "task TASK-099 does not exist", "form TASK-001")),
    ] {
        refused(&server, Method::POST, &new, body, wanted).await;
    }
    let comment = format!("/api/tasks/{task}/comments");
    refused(&server, Method::POST, &comment, json!({"content": "a\0b"}), (422, "invalid", "content: it contains a NUL", "U+0000")).await;
    refused(&server, Method::POST, "/api/projects", json!({"title": ""}), (422, "invalid", "title: it is empty", "in a few words")).await;

    let plain = server.request(Method::POST, &new).header("content-type", "text/plain").body(r#"{"title": "a"}"#);
    let problem = server.refusal(plain).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (415, "not-json"));
    assert!(problem.detail.contains("text/plain") && problem.hint.contains("application/json"), "{problem:?}");
    let broken = server.request(Method::POST, &new).header("content-type", "application/json").body(r#"{"title": "#);
    let problem = server.refusal(broken).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (400, "bad-json"));

    let board = server.board(&project).await.unwrap();
    assert_eq!((board.cards.len(), board.cards[0].comments), (1, 0), "nothing was made");
}

#[tokio::test]
async fn path_without_repository_is_refused_with_its_reason() {
    let server = support::scripted(NO_AGENTS).await;
    let root = server.root();
    std::fs::create_dir(root.join("plain")).unwrap();
    std::fs::create_dir(root.join("empty")).unwrap();
    git(&root.join("empty"), &["init", "-q"]).unwrap();
    git(&root, &["clone", "-q", "--bare", "repo", "bare"]).unwrap();
    let path = |name: &str| root.join(name).display().to_string();
    for (repo_path, base, code, detail, hint) in [
        (path("missing"), None, "path-missing", "does not exist", "Check the path"),
        (path("plain"), None, "not-a-repository", "is not inside a git repository", "git init"),
        (path("bare"), None, "bare-repository", "is a bare repository", "a checkout"),
        (path("empty"), None, "no-commit", "has no commit yet", "git commit"),
        (path("repo"), Some("mian"), "branch-missing", "the branch mian does not exist; similar branches: main", "existing local branch"),
        ("repo".to_owned(), None, "invalid", "repo_path: it is not an absolute path", "from the root"),
        ("/a\0b".to_owned(), None, "invalid", "repo_path", "from the root"),
    ] {
        let body = json!({"title": "A project", "repo_path": repo_path, "base_branch": base});
        refused(&server, Method::POST, "/api/projects", body, (422, code, detail, hint)).await;
    }
    assert_eq!(server.get::<List<Project>>("/api/projects").await.unwrap().items, [], "no project was made");
}

/// Creates a repository with a property that the product does not support.
fn unserved(folder: &Path, make: impl FnOnce(&dyn Fn(&[&str]))) {
    repository(folder, &[("README.md", "A test.\n")]).unwrap();
    make(&|arguments| {
        git(folder, arguments).unwrap();
    });
}

#[tokio::test]
async fn unsupported_repository_is_refused_with_its_reason() {
    let server = support::scripted(NO_AGENTS).await;
    let root = server.root();
    unserved(&root.join("filter"), |git| {
        std::fs::write(root.join("filter/.gitattributes"), "*.bin filter=own\n").unwrap();
        std::fs::write(root.join("filter/picture.bin"), "A picture.\n").unwrap();
        git(&["config", "filter.own.clean", "cat"]);
        git(&["add", "-A"]);
        git(&["commit", "-q", "-m", "A filter"]);
    });
    unserved(&root.join("partial"), |git| {
        git(&["config", "remote.origin.url", "https://example.org/x.git"]);
        git(&["config", "remote.origin.promisor", "true"]);
        git(&["config", "remote.origin.partialclonefilter", "blob:none"]);
    });
    unserved(&root.join("vr"), |git| git(&["branch", "vr"]));
    unserved(&root.join("own"), |git| git(&["branch", "vibe-relay"]));
    unserved(&root.join("detached"), |git| git(&["checkout", "-q", "--detach"]));
    for (name, format) in [("sha256", "--object-format=sha256"), ("reftable", "--ref-format=reftable")] {
        let folder = root.join(name);
        std::fs::create_dir(&folder).unwrap();
        // Older versions of git cannot create reftable repositories.
        if let Err(error) = git(&folder, &["init", "-q", format]) {
            eprintln!("not shown: {error}");
            std::fs::remove_dir(&folder).unwrap();
            continue;
        }
        git(&folder, &["commit", "-q", "--allow-empty", "-m", "Begin"]).unwrap();
    }
    for (name, code, detail, hint) in [
        ("filter", "filters", "uses the git filter own, which only the configuration of the repository has", "git config --global filter.own.clean"),
        ("partial", "partial-clone", "is a partial clone", "without `--filter`"),
        ("vr", "name-blocked", "the branch vr conflicts with the branch name vr/", "git branch -m vr my-vr"),
        ("own", "name-blocked", "the branch vibe-relay conflicts with the branch name vibe-relay/", "git branch -m vibe-relay my-vibe-relay"),
        ("detached", "detached-head", "no branch checked out", "git switch"),
        ("sha256", "sha256-objects", "sha256", "--object-format=sha1"),
        ("reftable", "reftable", "reftable", "git refs migrate"),
    ] {
        let folder = root.join(name);
        if folder.exists() {
            let body = json!({"title": "A project", "repo_path": folder});
            refused(&server, Method::POST, "/api/projects", body, (422, code, detail, hint)).await;
        }
    }
    assert_eq!(server.get::<List<Project>>("/api/projects").await.unwrap().items, []);
}

#[tokio::test]
async fn dirty_repository_is_accepted_and_unchanged() {
    let server = support::scripted(NO_AGENTS).await;
    let folder = server.repository();
    std::fs::write(folder.join("README.md"), "Being written.\n").unwrap();
    std::fs::write(folder.join("new.txt"), "New.\n").unwrap();
    std::fs::write(folder.join("staged.txt"), "Staged.\n").unwrap();
    git(&folder, &["add", "staged.txt"]).unwrap();
    let before = git(&folder, &["status", "--porcelain"]).unwrap();
    let found: RepositoryInfo = server.get(&format!("/api/repository?path={}", folder.display())).await.unwrap();
    let uncommitted: UncommittedFiles = server.get(&format!("/api/repository/uncommitted?path={}", folder.display())).await.unwrap();
    assert_eq!((uncommitted.count, found.base_branch.as_str()), (3, "main"));
    assert_eq!(found.base_sha, git(&folder, &["rev-parse", "main"]).unwrap());
    server.project("Beside it", None).await.unwrap();
    assert_eq!(git(&folder, &["status", "--porcelain"]).unwrap(), before);
    assert_eq!(std::fs::read_to_string(folder.join("README.md")).unwrap(), "Being written.\n");
}
