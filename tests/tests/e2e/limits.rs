//! Limits of requests, time and money: an endless agent is told to hand over and is ended, the card says why, and raising the limit lets the
//! task go on. Spending is on the card while an agent works and whatever ends it.

use domain::board::attention::{Attention, AttentionKind};
use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::limit::{LimitMeasure, LimitScope, Usd};
use domain::runs::run::Run;
use domain::warroom::handover::Handover;
use domain::wire::{CommentView, List, ProjectUsage, TaskView};
use serde_json::{Value, json};
use tests::server::{ServerOptions, TestServer};

use crate::support::{self, add, agents_of, done};

fn bash(text: &str, command: &str) -> Value {
    json!({"text": text, "calls": [{"tool": "Bash", "input": {"command": command}}], "pause_ms": 50})
}

fn submit() -> Vec<Value> {
    let call = json!({"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "in_review"}});
    vec![
        bash("I finish.", "echo done > {{task_id}}.txt && git add -A && git commit -q -m '{{title}}'"),
        json!({"text": "I submit.", "calls": [call]}),
        json!({"text": "Done."}),
    ]
}

/// Coders of tasks named "Endless" work on and on in their first attempt, and those of "Ponder" until they learn that a conversation was full. Others write a file and submit.
fn scenario() -> String {
    let endless: Vec<Value> = (0..400).map(|number| bash(&format!("Round {number}."), "true")).collect();
    let killed = |how: &str| [bash("I work.", "true"), bash("I break.", how), bash("Never said.", "true")];
    let approve = json!({"tool": "mcp__vibe-relay__update_task_status", "input": {"task_id": "{{task_id}}", "status": "done"}});
    let fills: Vec<Value> = (0..60).map(|_| bash(&"I think about it. ".repeat(200), "true")).collect();
    json!({"parts": [
        {"phase": "coder", "sees": "the conversation was full", "turns": submit()},
        {"phase": "coder", "title": "Ponder", "turns": fills},
        {"phase": "coder", "title": "Endless", "attempt": 1, "turns": endless},
        {"phase": "coder", "title": "Sleep", "turns": [bash("I wait.", "sleep 100"), bash("Never said.", "true")]},
        {"phase": "coder", "title": "Kill the agent", "turns": killed("kill -9 $PPID; sleep 5")},
        {"phase": "coder", "title": "Kill the shim", "turns": killed("kill -9 $(cut -d' ' -f4 /proc/$PPID/stat); sleep 30")},
        {"phase": "coder", "turns": submit()},
        {"phase": "reviewer", "turns": [{"text": "Good.", "calls": [approve]}, {"text": "Approved."}]},
    ]})
    .to_string()
}

async fn standing_board(change: impl FnOnce(&mut ServerOptions)) -> (TestServer, ProjectId) {
    let scenario = scenario();
    let server = support::scripted_with(&scenario, |options| {
        options.config.max_attempts = 1;
        change(options);
    });
    let server = server.await;
    let project = server.project("Errands", None).await.unwrap().id;
    (server, project)
}

/// Waits until the person is asked and the agent is gone.
async fn asked(server: &TestServer, project: &ProjectId, task: &TaskId) -> (Attention, Run) {
    let is_asked = |card: &Card| card.attention.is_some() && card.run.is_none();
    let board = server.until(project, "the person is asked", |board: &Board| board.card(task).is_some_and(is_asked)).await;
    let run = server.runs(task).await.unwrap().pop().unwrap();
    tests::wait_for("no agent is left", || agents_of(server).is_empty()).await;
    (board.card(task).unwrap().attention.clone().unwrap(), run)
}

async fn raise(server: &TestServer, task: &TaskId) {
    let _: TaskView = server.post(&format!("/api/tasks/{task}/raise"), &json!({})).await.unwrap();
}

#[tokio::test]
async fn endless_agent_is_ended_at_its_limit_of_requests() {
    let (server, project) = standing_board(|options| options.config.limits.run_turns = Some(5)).await;
    let task = add(&server, &project, "Endless").await;
    let spends = |board: &Board| board.card(&task).is_some_and(|card| card.run.is_some() && card.tokens > 0);
    server.until(&project, "its tokens are on the card while it works", spends).await;
    let hands_over = |board: &Board| matches!(board.card(&task).unwrap().wait_reason, Some(WaitReason::HandingOver { .. }));
    server.until(&project, "it is told to hand over", hands_over).await;

    let (attention, run) = asked(&server, &project, &task).await;
    assert_eq!((attention.kind, attention.limit), (AttentionKind::Budget, Some(LimitScope::Run)));
    assert!(attention.detail.contains("of 5 requests") && attention.detail.contains("Press Raise"), "{}", attention.detail);
    assert_eq!((run.end_class, run.failure), (Some(EndClass::Limited), Some(FailureClass::MaxTurns)), "{:?}", run.error);
    assert!((15..=60).contains(&run.turns), "ten more requests were allowed: {}", run.turns);
    let folder = std::fs::read_dir(server.root().join("data/runs")).unwrap().next().unwrap().unwrap().path();
    let output = std::fs::read_to_string(folder.join("stdout")).unwrap();
    assert_eq!(output.matches("A limit is reached: the attempt used").count(), 1, "the agent was told once");
    let usage: ProjectUsage = server.get(&format!("/api/projects/{project}/usage")).await.unwrap();
    assert_eq!((usage.total.turns, usage.by_task[0].task_id.clone()), (run.turns, task.clone()));

    raise(&server, &task).await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    assert_eq!(runs[1].session_id, runs[0].session_id, "the session goes on");
    assert_eq!(runs[1].attempt, 1, "no attempt was used");
}

#[tokio::test]
async fn budget_of_tokens_stops_the_project_until_it_is_raised() {
    let (server, project) = standing_board(|options| options.config.limits.project_tokens = Some(60_000)).await;
    let endless = add(&server, &project, "Endless").await;
    let (attention, run) = asked(&server, &project, &endless).await;
    assert_eq!((attention.limit, run.failure), (Some(LimitScope::Project), Some(FailureClass::Budget)));
    let other = add(&server, &project, "Errand").await;
    let waits = |board: &Board| matches!(board.card(&other).unwrap().wait_reason, Some(WaitReason::OverLimit { .. }));
    let board = server.until(&project, "the other card says the figures", waits).await;
    let why = board.card(&other).unwrap().wait_reason.clone().unwrap().sentence();
    assert!(why.starts_with("waiting for a higher limit: the project used ") && why.ends_with(" of 60.0k tokens"), "{why}");

    let budget = async || server.get::<ProjectUsage>(&format!("/api/projects/{project}/usage")).await.unwrap().budget.unwrap();
    // The agent went beyond its limit before it was ended.
    while budget().await.is_reached() {
        let raised = server.command(&["project", "raise", project.as_str()]).output().await.unwrap();
        let printed = String::from_utf8(raised.stdout).unwrap();
        assert!(printed.starts_with("PROJ-001: the project used "), "{printed}");
    }
    done(&server, &project, &other).await;
}

#[tokio::test]
async fn full_conversation_is_followed_by_a_new_session() {
    let (server, project) = standing_board(|options| options.config.limits.run_context_percent = Some(6)).await;
    // Its turns show how much the model can read.
    let errand = add(&server, &project, "Errand").await;
    done(&server, &project, &errand).await;
    let task = add(&server, &project, "Ponder").await;
    done(&server, &project, &task).await;
    let runs = server.runs(&task).await.unwrap();
    let (first, second) = (&runs[0], &runs[1]);
    assert_eq!((first.end_class, first.failure), (Some(EndClass::Limited), Some(FailureClass::ContextFull)), "{:?}", first.error);
    assert!(first.context_tokens >= Some(12_000) && first.context_limit == Some(200_000), "{first:?}");
    assert_eq!((second.phase, second.attempt, second.end_class), (first.phase, 1, Some(EndClass::Finished)), "no attempt was used");
    assert!(first.session_id.is_some() && second.session_id.is_some() && first.session_id != second.session_id);
    let handovers: List<Handover> = server.get(&format!("/api/projects/{project}/handovers")).await.unwrap();
    let handover = &handovers.items[0];
    assert_eq!((&handover.run_id, handover.automatic), (&Some(first.id.clone()), true), "the agent left none itself");
    assert!(handover.manifest.contains("Nothing is committed") && handover.manifest.contains("Its last message: "), "{}", handover.manifest);
    assert_eq!(handover.continued_by.as_ref(), Some(&handover.agent));
    let outputs = std::fs::read_dir(server.root().join("data/runs")).unwrap();
    let outputs: Vec<String> = outputs.map(|run| std::fs::read_to_string(run.unwrap().path().join("stdout")).unwrap()).collect();
    let told = outputs.iter().map(|output| output.matches("Your conversation is nearly full: the conversation has ").count()).sum::<usize>();
    assert_eq!(told, 1, "the agent was told once");
    let events = server.events(&project).await.unwrap();
    assert!(!events.iter().any(|event| event.event.kind() == "task_needs_you"), "nobody was asked");
}

#[tokio::test]
async fn slow_agent_is_told_to_hand_over_at_its_limit_of_time() {
    let (server, project) = standing_board(|options| options.config.limits.run_minutes = Some(1)).await;
    let task = add(&server, &project, "Sleep").await;
    // 48 seconds are 80 percent of a minute.
    let near = |board: &Board| board.card(&task).is_some_and(|card| card.near_limit.is_some_and(|limit| limit.measure == LimitMeasure::Time));
    server.until(&project, "the card warns", near).await;
    let hands_over = |board: &Board| matches!(board.card(&task).unwrap().wait_reason, Some(WaitReason::HandingOver { .. }));
    let board = server.until(&project, "it is told to hand over", hands_over).await;
    let why = board.card(&task).unwrap().wait_reason.clone().unwrap().sentence();
    assert_eq!(why, "handing over: the attempt used 1 min of 1 min");
    let warnings = server.events(&project).await.unwrap().iter().filter(|event| event.event.kind() == "limit_near").count();
    assert_eq!(warnings, 1);
}

#[tokio::test]
async fn spending_of_a_killed_agent_is_on_the_card() {
    let (server, project) = standing_board(|_| {}).await;
    for (title, failure) in [("Kill the agent", FailureClass::Killed), ("Kill the shim", FailureClass::Lost)] {
        let task = add(&server, &project, title).await;
        let (attention, run) = asked(&server, &project, &task).await;
        assert_eq!((attention.kind, run.failure), (AttentionKind::Failed, Some(failure)), "{title}");
        assert_eq!(run.turns, 2, "{title}");
        let card = server.task(&task).await.unwrap().task.card;
        assert!(card.tokens > 10_000 && card.tokens == run.input_tokens + run.output_tokens, "{title}: {card:?}");
        let shown = server.command(&["task", "show", task.as_str()]).output().await.unwrap();
        let shown = String::from_utf8(shown.stdout).unwrap();
        assert!(shown.contains("failed, 2 requests, ") && shown.contains("k tokens"), "{shown}");
    }
}

#[tokio::test]
async fn endless_claude_is_ended_at_its_limit_of_money() {
    let scenario = scenario();
    let change = |options: &mut ServerOptions| {
        options.config.max_attempts = 1;
        options.config.limits.run_cost_usd = Some(Usd::micro(1_500_000));
    };
    let (server, _model) = support::real_with(&scenario, |options, _| change(options)).await;
    let project = server.project("Errands", None).await.unwrap().id;
    // Its turns show the price of the model.
    let errand = add(&server, &project, "Errand").await;
    done(&server, &project, &errand).await;
    let priced = server.task(&errand).await.unwrap().task.card;
    assert!(priced.cost_micro_usd > 0 && priced.tokens > 0, "{priced:?}");

    let task = add(&server, &project, "Endless").await;
    let spends = |board: &Board| board.card(&task).is_some_and(|card| card.run.is_some() && card.cost_micro_usd > 0);
    server.until(&project, "its cost is on the card while it works", spends).await;
    let (attention, run) = asked(&server, &project, &task).await;
    assert_eq!((attention.limit, run.failure), (Some(LimitScope::Run), Some(FailureClass::Budget)), "{:?}", run.error);
    assert!(run.cost_micro_usd >= 1_500_000 && attention.detail.contains(" of $1.50"), "{}", attention.detail);
    let board = server.board(&project).await.unwrap();
    let sum: i64 = board.cards.iter().map(|card| card.cost_micro_usd).sum();
    let usage: ProjectUsage = server.get(&format!("/api/projects/{project}/usage")).await.unwrap();
    assert_eq!((usage.total.cost_micro_usd, usage.by_day[0].sums.cost_micro_usd), (sum, sum));
    let comments: Vec<CommentView> = server.comments(&task).await.unwrap();
    assert!(comments.is_empty(), "the scripted model does not hand over: {comments:?}");

    raise(&server, &task).await;
    done(&server, &project, &task).await;
}
