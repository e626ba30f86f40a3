//! The main flow from a goal to landed work, with the real `claude` program on a scripted model and with the scripted agent.

use std::collections::BTreeSet;
use std::path::Path;

use domain::board::comment::AuthorRole;
use domain::board::project::ProjectStatus;
use domain::board::reducer::Board;
use domain::board::wait_reason::WaitReason;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;
use domain::runs::run::Run;
use domain::wire::LandingResult;
use serde_json::json;
use tests::git::git;
use tests::server::{TestServer, all_done, card};

use crate::support::{self, agents_of, nothing_left};

pub(crate) const SCENARIO: &str = include_str!("../../scenarios/pipeline.json");

#[tokio::test]
async fn real_agent_takes_a_goal_to_landed_work() {
    let (server, model) = support::real_with(SCENARIO, |_, root| hostile_settings(&root.join("repo"), &root.join("fired"))).await;

    story(&server).await;

    let coders = model.requests_of("coder");
    assert!(coders.iter().any(|request| request.text().contains("heliotrope")), "the repository's CLAUDE.md reached no coder");
    assert!(!server.root().join("fired").exists(), "a hook of the repository ran");
    let resumed = coders.iter().filter(|request| request.text().contains("beta.txt:1: say that it was mended."));
    assert!(resumed.count() > 0, "the coder did not see the review");

    let rounds = model.requests_of("orchestrator");
    let told = rounds.first().unwrap().text();
    for line in ["\nGoal: Letters\n  Write alpha, beta, gamma and whatever else is missing.\nAttempt: 1\n", "\nBase branch: main\n"] {
        assert!(told.contains(line), "{line:?} is not in: {told}");
    }
    for (kind, moves) in [("coder", json!(["in_review"])), ("reviewer", json!(["in_progress", "done"]))] {
        let request = model.requests_of(kind).remove(0);
        let tool = |name: &str| request.body["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == name).cloned();
        let update = tool("mcp__vibe-relay__update_task_status").unwrap();
        assert_eq!(update["input_schema"]["properties"]["status"]["enum"], moves, "{kind}");
        assert_eq!(tool("mcp__vibe-relay__ack_handshake"), None, "{kind}");
    }
}

#[tokio::test]
async fn scripted_agent_takes_a_goal_to_landed_work() {
    let server = support::scripted(SCENARIO).await;
    story(&server).await;
}

/// Commits a hook and an MCP server to the repository. Each would create the file `mark` if it ran.
fn hostile_settings(repository: &Path, mark: &Path) {
    let command = format!("touch {}", mark.display());
    let hook = json!([{ "matcher": "*", "hooks": [{ "type": "command", "command": command }] }]);
    std::fs::create_dir_all(repository.join(".claude")).unwrap();
    let settings = json!({ "hooks": { "PreToolUse": hook, "SessionStart": hook, "UserPromptSubmit": hook } });
    std::fs::write(repository.join(".claude/settings.json"), settings.to_string()).unwrap();
    let server = json!({ "mcpServers": { "evil": { "command": "sh", "args": ["-c", command] } } });
    std::fs::write(repository.join(".mcp.json"), server.to_string()).unwrap();
    git(repository, &["add", "-A"]).unwrap();
    git(repository, &["commit", "-q", "-m", "Settings"]).unwrap();
}

async fn story(server: &TestServer) {
    let repository = server.repository();
    let before = git(&repository, &["rev-parse", "main"]).unwrap();
    let project = server.project("Letters", Some("Write alpha, beta, gamma and whatever else is missing.")).await.unwrap();

    let both = |board: &Board| board.cards.iter().filter(|card| card.run.as_ref().is_some_and(|run| run.phase == AgentKind::Coder)).count() == 2;
    let board = server.until(&project.id, "two coders work at once", both).await;
    let waiting = card(&board, "gamma").wait_reason.clone();
    assert_eq!(waiting, Some(WaitReason::BlockedBy { tasks: vec![card(&board, "alpha").id.clone()] }), "gamma says why it waits");

    let complete = |board: &Board| board.project.status == ProjectStatus::Complete && all_done(board);
    let board = server.until(&project.id, "the project is complete", complete).await;

    let beta = card(&board, "beta").id.clone();
    let runs = server.runs(&beta).await.unwrap();
    let phases: Vec<AgentKind> = runs.iter().map(|run| run.phase).collect();
    assert_eq!(
        phases,
        [AgentKind::Coder, AgentKind::Reviewer, AgentKind::Coder, AgentKind::Reviewer],
        "exactly four runs for the task that was sent back"
    );
    assert!(runs.iter().all(|run| run.end_class == Some(EndClass::Finished)), "{runs:?}");
    let session = |run: &Run| run.session_id.clone().unwrap();
    assert_eq!(session(&runs[0]), session(&runs[2]), "the coder resumed its session");
    assert_eq!(runs[0].worktree_path, runs[2].worktree_path, "in the same worktree");
    let sessions: BTreeSet<String> = runs.iter().map(session).collect();
    assert_eq!(sessions.len(), 3, "each reviewer has a session of its own");
    let roles: Vec<AuthorRole> = server.comments(&beta).await.unwrap().iter().map(|view| view.comment.author_role).collect();
    assert_eq!(roles, [AuthorRole::Reviewer, AuthorRole::Coder]);

    let branch = &board.project.integration_branch;
    assert_eq!(branch, "vibe-relay/PROJ-001");
    let merges = git(&repository, &["log", "--reverse", "--merges", "--format=%s", &format!("main..{branch}")]).unwrap();
    let place = |title: &str| merges.lines().position(|line| line.contains(title)).unwrap();
    assert!(place("alpha") < place("gamma") && place("gamma") < place("delta"), "merged in the order of dependencies:\n{merges}");
    for commit in ["Write alpha", "Write beta", "Mend beta", "Write gamma", "Write delta"] {
        let found = git(&repository, &["log", "--format=%s", "--fixed-strings", "--grep", commit, branch]).unwrap();
        assert!(found.lines().any(|line| line == commit), "the project branch has no commit {commit}");
    }
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), before, "the base is untouched until land");

    server.until(&project.id, "the checkouts are gone", |_| nothing_left(server)).await;
    let worktrees = git(&repository, &["worktree", "list"]).unwrap();
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    assert_eq!(git(&repository, &["branch", "--list", "vr/*"]).unwrap(), "");
    assert!(agents_of(server).is_empty(), "processes are left: {:?}", agents_of(server));

    let landed: LandingResult = server.post(&format!("/api/projects/{}/land", project.id), &json!({})).await.unwrap();
    assert_eq!(git(&repository, &["rev-parse", "main"]).unwrap(), landed.sha);
    assert_eq!(std::fs::read_to_string(repository.join("delta.txt")).unwrap(), "delta\n");
    assert_eq!(git(&repository, &["status", "--porcelain"]).unwrap(), "");
}
