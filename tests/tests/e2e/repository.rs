//! Changes to a repository behind the board's back: no work is lost, and removed commits return only on request.

use domain::board::card::Card;
use domain::board::comment::AuthorRole;
use domain::board::project::Project;
use domain::board::wait_reason::WaitReason;
use domain::runs::failure::EndClass;
use domain::wire::LandingResult;
use reqwest::Method;
use serde_json::json;
use tests::git::git;

use crate::support::{self, add, at_work, done};

const LANDING: &str = include_str!("../../scenarios/landing.json");
const CONTROL: &str = include_str!("../../scenarios/control.json");
const NESTED: &str = include_str!("../../scenarios/nested.json");
const ONE_FILE: &str = include_str!("../../scenarios/one_file.json");

#[tokio::test]
async fn removed_secret_stays_removed_unless_confirmed() {
    let server = support::scripted(LANDING).await;
    let repository = server.repository();
    std::fs::write(repository.join(".env"), "KEY=1\n").unwrap();
    git(&repository, &["add", "."]).unwrap();
    git(&repository, &["commit", "-q", "-m", "Add a key"]).unwrap();
    let project = server.project("Readme", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    at_work(&server, &task).await;
    git(&repository, &["reset", "-q", "--hard", "HEAD~1"]).unwrap();
    support::open(&server, task.as_str());
    done(&server, &project, &task).await;

    let (land, before) = (format!("/api/projects/{project}/land"), git(&repository, &["rev-parse", "main"]).unwrap());
    let problem = server.refusal(server.request(Method::POST, &land).json(&json!({}))).await.unwrap();
    assert_eq!((problem.status, problem.code.as_str()), (409, "commits-return"));
    assert!(problem.detail.contains("“Add a key”"), "{}", problem.detail);
    assert_eq!((git(&repository, &["rev-parse", "main"]).unwrap(), repository.join(".env").exists()), (before, false));

    let landed: LandingResult = server.post(&land, &json!({"bring_back": problem.returning.unwrap().confirmation})).await.unwrap();
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), landed.sha);
    assert!(repository.join(".env").exists(), "the person asked for it");
}

#[tokio::test]
async fn nested_repository_is_refused_and_its_commits_are_kept() {
    let server = support::scripted(NESTED).await;
    let project = server.project("Nested", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(runs.len(), 2, "the refusal cost no attempt");
    server.until(&project, "the checkout is removed", |board| board.card(&task).is_some_and(|card| card.comments > 0)).await;
    let told = server.comments(&task).await.unwrap().remove(0).comment.content;
    assert!(told.contains("nested repository `inner`"), "{told}");
    let reference = told.split('`').find(|part| part.contains("/nested/inner-")).unwrap_or_else(|| panic!("{told}"));
    assert_eq!(git(&server.repository(), &["log", "--format=%s", reference]).unwrap(), "Work inside");
}

/// The pipe blocks every reader of the branch for ever, as a network drive that is gone would.
#[tokio::test]
async fn repository_that_hangs_stops_nobody_else() {
    let server = support::scripted(ONE_FILE).await;
    let elsewhere = server.root().join("elsewhere");
    git(&server.root(), &["clone", "-q", &server.repository().display().to_string(), "elsewhere"]).unwrap();
    let hung: Project = server.post("/api/projects", &json!({"title": "Hung", "repo_path": elsewhere})).await.unwrap();
    let fine = server.project("Fine", None).await.unwrap().id;
    // Everyone who reads a reference waits for the pipe.
    let packed = elsewhere.join(".git/packed-refs");
    let references = std::fs::read(&packed).unwrap();
    std::fs::remove_file(&packed).unwrap();
    nix::unistd::mkfifo(&packed, nix::sys::stat::Mode::S_IRWXU).unwrap();

    let waiting = add(&server, &hung.id, "Waits").await;
    let first = add(&server, &fine, "First").await;
    done(&server, &fine, &first).await;
    let is_told = |card: &Card| matches!(card.wait_reason, Some(WaitReason::RepositoryNotResponding { .. }));
    server.until(&hung.id, "the card says so", |board| board.card(&waiting).is_some_and(is_told)).await;
    let land = server.request(Method::POST, &format!("/api/projects/{}/land", hung.id)).json(&json!({}));
    assert_eq!(server.refusal(land).await.unwrap().code, "repository-not-responding");
    let second = add(&server, &fine, "Second").await;
    done(&server, &fine, &second).await;

    std::fs::remove_file(&packed).unwrap();
    std::fs::write(&packed, references).unwrap();
    done(&server, &hung.id, &waiting).await;
    let runs = server.runs(&waiting).await.unwrap();
    assert!(runs.iter().all(|run| run.end_class == Some(EndClass::Finished)), "it cost no attempt: {runs:?}");
}

#[tokio::test]
async fn hooks_and_settings_of_an_agent_are_shown_on_its_card() {
    let server = support::scripted(CONTROL).await;
    let project = server.project("Hooks", None).await.unwrap().id;
    let task = add(&server, &project, "One").await;
    done(&server, &project, &task).await;
    let told = server.comments(&task).await.unwrap().remove(0).comment;
    assert_eq!(told.author_role, AuthorRole::Runner);
    for line in ["hooks/post-checkout is new", "+ touch pwned", "config has changed", "+ fsmonitor = /tmp/watch"] {
        assert!(told.content.contains(line), "{line}: {}", told.content);
    }
    let reviewed = server.comments(&task).await.unwrap().into_iter().filter(|view| view.comment.author_role == AuthorRole::Runner).count();
    assert_eq!(reviewed, 1, "the reviewer changed nothing");
}
