//! The demo's scenario, played by scripted agents without the board: every branch merges, the page's own check passes, and the review names
//! the wrong line.

use std::path::Path;

use cli::scripted::demo;
use serde_json::{Value, json};
use tests::agent_bench::{AgentBench, Session};
use tests::git::git;
use uuid::Uuid;

const RECORDER: &str = env!("CARGO_BIN_EXE_recording_mcp");
const SCRIPTED: &str = env!("CARGO_BIN_EXE_scripted_agent");

/// The demo's scenario without the pauses for human readers.
fn scenario() -> Value {
    let mut scenario: Value = serde_json::from_str(demo::SCENARIO).unwrap();
    for part in scenario["parts"].as_array_mut().unwrap() {
        for turn in part["turns"].as_array_mut().unwrap() {
            turn["pause_ms"] = json!(0);
        }
    }
    scenario
}

fn bench() -> AgentBench {
    AgentBench::new(&scenario().to_string(), &demo::FILES, Path::new(RECORDER)).unwrap()
}

/// The status that an agent requested last, and its failed tool calls.
#[derive(Debug, PartialEq)]
struct Played {
    status: Value,
    failures: Vec<String>,
}

/// Runs one agent on all prompts until it exits.
async fn play(bench: &AgentBench, phase: &str, title: &str, prompts: &[&str]) -> Played {
    let mut agent = bench.scripted(Session::New(&Uuid::new_v4().to_string()), Path::new(SCRIPTED)).unwrap();
    for rest in prompts {
        agent.send(&bench.prompt(phase, title, rest)).await.unwrap();
        let result = agent.result().await.unwrap().unwrap();
        assert_eq!(result["is_error"], false, "{result}");
    }
    let ended = agent.end().await.unwrap();
    let results = ended.lines.iter().map(|line| &line["message"]["content"][0]).filter(|block| block["is_error"] == true);
    let failures = results.filter_map(|block| block["content"].as_str().map(str::to_owned)).collect();
    let status = bench.calls().unwrap().last().unwrap()["arguments"]["status"].clone();
    assert_eq!(git(&bench.worktree(), &["status", "--porcelain"]).unwrap(), "", "{phase} of {title} leaves nothing behind");
    Played { status, failures }
}

/// The result of an agent without failed tool calls.
fn asked_for(status: &str) -> Played {
    Played { status: json!(status), failures: Vec::new() }
}

fn merge(centre: &AgentBench, branch: &AgentBench) {
    git(&centre.worktree(), &["pull", "-q", "--no-rebase", "--no-edit", branch.worktree().to_str().unwrap(), "main"]).unwrap();
}

#[tokio::test]
async fn review_names_the_wrong_line() {
    let cards = bench();
    assert_eq!(play(&cards, "coder", "Add three cards", &[""]).await, asked_for("in_review"));
    let review = play(&cards, "reviewer", "Add three cards", &[""]).await;
    assert_eq!(review.status, "in_progress");
    assert!(review.failures[0].starts_with("Exit code 1\nindex.html:"), "{review:?}");

    let calls = cards.calls().unwrap();
    let comment = calls.iter().find(|call| call["tool"] == "add_comment").unwrap()["arguments"]["content"].as_str().unwrap();
    let line: usize = comment.strip_prefix("index.html:").and_then(|rest| rest.split(':').next()).unwrap().parse().unwrap();
    let page = std::fs::read_to_string(cards.worktree().join("index.html")).unwrap();
    assert!(page.lines().nth(line - 1).unwrap().contains("<h2></h2>"), "{comment}");
}

#[tokio::test]
async fn every_task_changes_the_page_and_merges() {
    let [centre, headline, colours, cards, footer] = [bench(), bench(), bench(), bench(), bench()];
    let sent_back = "<comments>\n[reviewer] now: index.html:31: empty\n</comments>";
    let answered = "<comments>\n[human] now: Violet\n</comments>";
    assert_eq!(play(&headline, "coder", "Write the headline", &[""]).await, asked_for("in_review"));
    assert_eq!(play(&headline, "reviewer", "Write the headline", &[""]).await, asked_for("done"));
    assert_eq!(play(&colours, "coder", "Choose the colours", &["", answered]).await, asked_for("in_review"));
    assert_eq!(play(&colours, "reviewer", "Choose the colours", &[answered]).await, asked_for("done"));
    assert_eq!(play(&cards, "coder", "Add three cards", &["", sent_back]).await, asked_for("in_review"));
    assert_eq!(play(&cards, "reviewer", "Add three cards", &[sent_back]).await, asked_for("done"));

    // The footer depends on headline and cards. The colours merge in parallel.
    merge(&centre, &headline);
    merge(&centre, &cards);
    merge(&footer, &centre);
    assert_eq!(play(&footer, "coder", "Add the footer with a clock", &[""]).await, asked_for("in_review"));
    assert_eq!(play(&footer, "reviewer", "Add the footer with a clock", &[""]).await, asked_for("done"));
    merge(&centre, &colours);
    merge(&centre, &footer);

    let page = std::fs::read_to_string(centre.worktree().join("index.html")).unwrap();
    assert!(!page.contains("class=\"empty\""), "{page}");
    let style = std::fs::read_to_string(centre.worktree().join("style.css")).unwrap();
    assert!(style.contains("--accent: #6d3fc4;"), "the answer is the colour of the page");
    let whole = play(&centre, "orchestrator", "Check the result", &[""]).await;
    assert_eq!(whole.failures, Vec::<String>::new(), "the page's check passes");
}

#[tokio::test]
async fn plan_allows_three_parallel_tasks() {
    let bench = bench();
    play(&bench, "planner", "Finish the page", &[""]).await;
    let calls = bench.calls().unwrap();
    assert_eq!(calls.iter().map(|call| &call["tool"]).collect::<Vec<_>>(), ["create_subtasks", "complete_task"]);
    let tasks = calls[0]["arguments"]["tasks"].as_array().unwrap();
    assert_eq!(tasks.iter().map(|task| task.get("depends_on")).collect::<Vec<_>>(), [None, None, None, Some(&json!([0, 2]))]);
}

/// The pauses of a part in milliseconds, which are the minimum duration of its agent.
fn pauses(phase: &str, title: &str, attempt: u64) -> u64 {
    let scenario: Value = serde_json::from_str(demo::SCENARIO).unwrap();
    let fits = |part: &&Value| {
        part["phase"] == phase
            && part["title"].as_str().is_none_or(|wanted| title.contains(wanted))
            && part["attempt"].as_u64().is_none_or(|wanted| wanted == attempt)
    };
    let parts = scenario["parts"].as_array().unwrap();
    let turns = parts.iter().find(fits).unwrap()["turns"].as_array().unwrap();
    turns.iter().filter_map(|turn| turn["pause_ms"].as_u64()).sum()
}

#[test]
fn pauses_fit_the_time_limit() {
    assert!(pauses("planner", "", 1) < 2_000, "cards appear within three seconds");
    // The longest chain: plan, cards, review, cards again, review, footer, review, orchestration.
    let review = pauses("reviewer", "", 1);
    let cards = pauses("coder", "cards", 1) + pauses("coder", "cards", 2);
    let chain = pauses("planner", "", 1) + cards + 2 * review + pauses("coder", "footer", 1) + review + pauses("orchestrator", "", 1);
    assert!((20_000..40_000).contains(&chain), "{chain} ms of 75 s");
}
