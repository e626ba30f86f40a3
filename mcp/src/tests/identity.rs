//! The token alone identifies the caller: a property over tokens, claimed names and tools.
//!
//! A claim is judged by one pure function before any tool runs; 100,000 cases go through it. Of the same cases some thousands go the whole
//! way, over HTTP into the store, where afterwards every row and every event stands under the name of the token that brought it.

use std::collections::{BTreeMap, BTreeSet};

use db::{Caller, HistoryQuery, KnowledgeQuery};
use domain::actor::Actor;
use domain::board::status::Status;
use domain::event::Event;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::EvidenceResult;
use domain::runs::run::Run;
use domain::team::agent::AgentEvent;
use domain::team::agent::refusal::AgentRefusal;
use domain::team::message::MessageEvent;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use proptest::prelude::{Just, ProptestConfig, Strategy, any, prop_assert, prop_assert_eq, prop_oneof};
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Value, json};

use super::fixture::{Board, Client, PERSON, call, done};
use super::table::{outside, run};
use crate::tools;
use crate::tools::definition::Effect;

/// How many cases the judgement of claims is put to.
const JUDGED: u32 = 100_000;
/// How many go through the whole server.
const CARRIED_OUT: usize = 4_000;

/// Everyone who takes part in either project, by short and by full name, and those names that nobody may take.
const NAMES: &[&str] = &[
    "human",
    "runner",
    "all",
    "lena",
    "platform/mara",
    "mara",
    "kim",
    "zoe",
    "design/mara",
    "tess",
    "planner-TASK-001",
    "coder-TASK-002",
    "reviewer-TASK-002",
    "coder-TASK-003",
    "orchestrator-TASK-006",
    "coder-TASK-999",
    "platform",
    "platform/",
    "/mara",
    "",
];

/// A name as someone might claim it: right, in another spelling, or made up.
fn claimed() -> impl Strategy<Value = Value> {
    let name = || select(NAMES);
    prop_oneof![
        8 => name().prop_map(|name| json!(name)),
        2 => name().prop_map(|name| json!(name.to_uppercase())),
        2 => name().prop_map(|name| json!(format!(" {name}\t"))),
        1 => (name(), name()).prop_map(|(one, other)| json!(format!("{one}/{other}"))),
        1 => (name(), name()).prop_map(|(one, other)| json!(format!("{one},{other}"))),
        1 => (name(), any::<char>()).prop_map(|(name, more)| json!(format!("{name}{more}"))),
        1 => ".{0,12}".prop_map(|name| json!(name)),
        1 => prop_oneof![Just(Value::Null), Just(json!(7)), Just(json!(["lena"])), Just(json!({"name": "lena"})), Just(json!(true))],
    ]
}

/// A tool with one of the arguments in which a caller may repeat its name.
fn identities() -> Vec<(&'static str, &'static str)> {
    tools::table().flat_map(|tool| tool.identity_arguments.iter().map(|argument| (tool.name, *argument))).collect()
}

/// Those of the tools that write.
fn writing_identities() -> Vec<(&'static str, &'static str)> {
    identities()
        .into_iter()
        .filter(|(tool, _)| tools::definition(tool).is_some_and(|tool| !tool.effect.reads() && tool.effect != Effect::Renews))
        .collect()
}

/// The expected result: no name was claimed, or the name, with or without its team.
fn is_own(claimed: &Value, own: &str) -> bool {
    match claimed {
        Value::Null => true,
        Value::String(claimed) => ["", own, own.split_once('/').map_or(own, |(_, name)| name)].contains(&claimed.trim()),
        _ => false,
    }
}

proptest::proptest! {
    #![proptest_config(ProptestConfig { cases: JUDGED, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_ones_own_name_passes(
        caller in select(vec![
            Caller::owner(), run(AgentKind::Planner), run(AgentKind::Coder), run(AgentKind::Reviewer), run(AgentKind::Orchestrator),
            outside("lena"), outside("platform/mara"), outside("kim"), outside("design/mara"),
        ]),
        claimed in claimed(),
        (tool, argument) in select(identities()),
    ) {
        let own = caller.name().unwrap();
        let arguments = json!({argument: claimed, "title": "x"});
        let judged = tools::check_identity(&caller, tool, arguments.as_object());
        prop_assert_eq!(judged.is_ok(), is_own(&claimed, &own), "{} claims {}", own, claimed);
        if let Err(refusal) = judged {
            let named = matches!(refusal, AgentRefusal::WrongIdentity { own: named, .. } if named == own);
            prop_assert!(named);
        }
    }
}

/// A token's bearer.
struct Bearer {
    client: Client,
    caller: Caller,
}

/// Two projects with a run of every phase, trusted agents, and untrusted ones.
async fn bearers(board: &Board) -> Vec<Bearer> {
    let server = board.serve().await;
    let (planner, (_, reviewer, _)) = (board.planner().await, board.reviewer().await);
    let coder = board.coder().await;
    let second = other_project(board).await;
    let mut tokens = vec![PERSON.to_owned(), planner.token, reviewer.token, coder.run.token, orchestrator(board, &second).await];
    tokens.push(board.agent("lena", &[Role::Lead]).await);
    tokens.push(board.agent("platform/mara", &[Role::Builder]).await);
    tokens.push(board.stranger(&server, "kim").await);
    let who = |name: &str| domain::team::agent::Registration { name: name.to_owned(), ..Default::default() };
    tokens.push(board.db.create_agent_token(&Caller::owner(), &second, who("design/mara"), TokenTerms::default()).await.unwrap());
    tokens.push(board.db.create_agent_token(&Caller::owner(), &second, who("lena"), TokenTerms::default()).await.unwrap());
    let mut bearers = Vec::new();
    for token in tokens {
        let caller = board.db.caller(&token).await.unwrap().unwrap();
        bearers.push(Bearer { client: server.modern(&token).await, caller });
    }
    bearers
}

async fn other_project(board: &Board) -> ProjectId {
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let new = domain::wire::NewProject {
        title: "A second shop".to_owned(),
        description: Some("x".to_owned()),
        plan_approval: Some(domain::board::project::PlanApproval::Auto),
        ..Default::default()
    };
    board.db.create_project(&Caller::owner(), new, probe).await.unwrap().id
}

/// The token of a round of orchestration: its plan is made, and the only task of it closed.
async fn orchestrator(board: &Board, project: &ProjectId) -> String {
    let plan = board.db.board(project).await.unwrap().board.cards[0].id.clone();
    let planner = board.reserve(&plan, AgentKind::Planner, Status::InProgress, None).await;
    let caller = board.db.caller(&planner.token).await.unwrap().unwrap();
    let part = domain::board::task::NewSubtask { title: "Part".to_owned(), ..Default::default() };
    let part = board.db.create_subtasks(&caller, &plan, vec![part]).await.unwrap()[0].card.id.clone();
    board.db.move_task(&caller, &plan, db::MoveRequest::to(Status::Done), EvidenceResult::Nothing).await.unwrap();
    board.end(&planner).await;
    let close = db::MoveRequest { to: Status::Done, reason: None, merge: false };
    for to in [db::MoveRequest::to(Status::InProgress), close] {
        board.db.move_task(&Caller::owner(), &part, to, EvidenceResult::Nothing).await.unwrap();
    }
    let round = board.db.board(project).await.unwrap().board.cards.last().unwrap().id.clone();
    board.reserve(&round, AgentKind::Orchestrator, Status::InProgress, None).await.token
}

/// Arguments that `tool` would take from someone, marked with the number of the case.
fn arguments(tool: &str, case: usize, pick: usize) -> Value {
    let mark = mark(case);
    // Tasks of earlier cases, because moving a task with a run ends that run.
    let task = TaskId::new(pick as u64 % 20 + 7);
    let stages = ["assigned", "in_progress", "review", "completed", "failed", "verified"];
    match tool {
        "register" => json!({"description": mark}),
        "set_status" => json!({"status": mark}),
        "set_context" => json!({"context": mark}),
        "fenix_down" => json!({"manifest": mark}),
        "send" => json!({"to_agent": NAMES[pick % NAMES.len()], "message": mark}),
        "create_task" => json!({"title": mark, "assigned_to": if pick.is_multiple_of(3) { "" } else { NAMES[pick % NAMES.len()] }}),
        "update_task" if pick.is_multiple_of(2) => json!({"task_id": task, "assigned_to": NAMES[pick % NAMES.len()]}),
        "update_task" => json!({"task_id": task, "status": stages[pick % stages.len()], "result": mark}),
        "assign_role_hat" => json!({"task_id": task, "role": "builder"}),
        "submit_for_review" => json!({"task_id": task, "summary": mark}),
        "close_task" => json!({"task_id": task}),
        "submit_result" => json!({"task_id": task, "content": result(&mark)}),
        "withdraw_trigger" => json!({"word": "hot_zone", "target": "audio"}),
        "ask_oracle" => json!({"zone": format!("z{}", pick % 9), "question": mark}),
        "set_zone" => json!({"name": format!("z{}", pick % 9), "paths": [format!("{}/", pick % 9)]}),
        "debrief" => json!({"summary": mark}),
        "approve_task" | "verify_task" => json!({"task_id": task, "notes": mark}),
        "reject_task" | "reject_verification" => json!({"task_id": task, "reason": mark}),
        "create_goal" => json!({"title": mark}),
        "link_task_to_goal" => json!({"task_id": task, "goal_id": "GOAL-001"}),
        "verify_goal" => json!({"goal_id": "GOAL-001"}),
        "initiate_handshake" => json!({"message": mark}),
        "ack_handshake" => json!({"handshake_id": pick % 9 + 1}),
        "declare_contract" => json!({"name": mark, "type": "other", "spec": mark}),
        "set_spawn_policy" => json!({"scope": "global", "max_minions": 90}),
        "claim_file" | "release_file" => json!({"file_path": format!("{}.rs", pick % 9)}),
        "set_battle_plan" => json!({"plan": mark}),
        "log_raid" => json!({"entry": mark}),
        "write_intel" | "write_trap" => json!({"topic": format!("case-{case}"), "body": mark, "evidence": "a.rs:1"}),
        "resolve_trap" | "archive_intel" => json!({"topic": format!("case-{}", pick % 99), "reason": mark, "evidence": "a.rs:1"}),
        "write_note" => json!({"content": mark, "replace": true}),
        "log_minion" => json!({"task_description": mark, "status": "spawned"}),
        _ => json!({}),
    }
}

/// A result with a mark in each part.
fn result(mark: &str) -> String {
    format!("# Tried\n{mark}\n# Worked\n{mark}\n# Next agent\n{mark} a.rs:1")
}

fn mark(case: usize) -> String {
    format!("case {case}.")
}

fn is_mark(text: &str) -> bool {
    text.strip_prefix("case ").and_then(|rest| rest.strip_suffix('.')).is_some_and(|number| number.parse::<usize>().is_ok())
}

#[tokio::test]
async fn writes_always_carry_the_name_of_the_token() {
    let board = Board::new().await;
    let bearers = bearers(&board).await;
    let first = ProjectId::new(1);
    let strategy = (0..bearers.len(), claimed(), select(writing_identities()), any::<u16>());
    let mut runner = TestRunner::deterministic();
    let routes = tools::routes();
    let (mut accepted, mut writers) = (BTreeSet::new(), BTreeMap::new());
    for case in 0..CARRIED_OUT {
        let (bearer, claimed, (tool, argument), pick) = strategy.new_tree(&mut runner).unwrap().current();
        let Bearer { client, caller } = &bearers[bearer];
        let own = caller.name().unwrap();
        // Most calls are of tools that the caller sees.
        let seen: Vec<_> = writing_identities().into_iter().filter(|(tool, _)| tools::is_allowed(caller, tool)).collect();
        let (tool, argument) =
            if tools::is_allowed(caller, tool) || pick % 16 == 1 { (tool, argument) } else { seen[usize::from(pick / 16) % seen.len()] };
        // Every other claim is true, or too few writes would be left to look at.
        let claimed = if pick.is_multiple_of(2) { json!(own.split_once('/').map_or(own.as_str(), |(_, name)| name)) } else { claimed };
        let mut arguments = arguments(tool, case, usize::from(pick / 2));
        arguments[argument] = claimed.clone();
        if caller.project().is_none() && routes.get(tool).unwrap().input_schema["properties"].get("project").is_some() {
            arguments["project"] = json!(first);
        }
        if tool == "send" && *caller != Caller::owner() {
            done(client, "check_inbox", json!({})).await;
        }
        let before = board.db.latest();
        let outcome = call(client, tool, arguments).await;
        let events = board.db.events_after(before, None, 1_000).await.unwrap();
        if !is_own(&claimed, &own) {
            assert!(outcome.is_error && events.is_empty(), "{own} as {claimed} by {tool}: {}", outcome.text);
            assert!(!tools::is_allowed(caller, tool) || outcome.data["code"] == "not-you", "{own} as {claimed} by {tool}: {}", outcome.text);
        }
        for envelope in &events {
            assert!(envelope.actor == caller.actor() || envelope.actor == Actor::Runner, "{own} by {tool}: {envelope:?}");
            if let Event::Message(MessageEvent::Sent { from, .. }) = &envelope.event {
                assert_eq!(Actor::from(from.clone()), envelope.actor, "{own} by {tool}: {envelope:?}");
            }
        }
        if !outcome.is_error {
            accepted.insert(tool);
            writers.insert(mark(case), own);
        }
    }
    let rows = rows(&board).await;
    for (mark, name) in &rows {
        assert_eq!(writers.get(mark), Some(name), "{mark}");
    }
    assert!(rows.len() > CARRIED_OUT / 10, "only {} rows were written", rows.len());
    let plain =
        ["ack_handshake", "create_goal", "create_task", "declare_contract", "initiate_handshake", "log_minion", "register", "send", "update_task"];
    assert!(plain.iter().all(|tool| accepted.contains(tool)), "{accepted:?}");
}

/// Every row that holds the mark of a case, with the name under which it stands.
async fn rows(board: &Board) -> Vec<(String, String)> {
    let mut rows: Vec<(String, String)> = Vec::new();
    let mut add = |text: &str, name: &str| {
        if is_mark(text) {
            rows.push((text.to_owned(), name.to_owned()));
        }
    };
    for project in board.db.projects().await.unwrap() {
        let mut before = None;
        loop {
            let page = board.db.history(&project.id, &HistoryQuery { count: Some(200), before, ..HistoryQuery::default() }).await.unwrap();
            // Others quote a mark: their senders are judged by their events.
            page.iter().filter(|message| is_mark(&message.content)).for_each(|message| add(&message.content, &message.from_agent));
            let Some(first) = page.first() else { break };
            before = Some(first.id);
        }
        let mut before = None;
        loop {
            let page = board.db.knowledge(&project.id, &KnowledgeQuery { before, ..KnowledgeQuery::default() }).await.unwrap();
            page.iter().for_each(|item| add(&item.body, &item.author));
            let Some(last) = page.last() else { break };
            before = Some(last.id);
        }
        for card in board.db.board(&project.id).await.unwrap().board.cards {
            let task = board.db.task(&card.id).await.unwrap();
            add(&task.card.title, task.created_by.as_deref().unwrap_or_default());
            for comment in board.db.comments(&card.id).await.unwrap() {
                let run = match &comment.run_id {
                    Some(run) => {
                        let run = board.db.run(run).await.unwrap();
                        Run::agent_name(run.phase, &run.task_id)
                    }
                    None => comment.author_role.to_string(),
                };
                add(&comment.content, comment.author_name.as_deref().unwrap_or(&run));
            }
        }
        for goal in board.db.goals(&project.id).await.unwrap() {
            add(&goal.title, &goal.creator);
        }
        for contract in board.db.contracts(&project.id).await.unwrap() {
            add(&contract.name, &contract.owner);
            for version in board.db.contract_versions(contract.id).await.unwrap() {
                add(&version.spec, &version.declared_by);
            }
        }
        for minion in board.db.minions(&project.id).await.unwrap() {
            add(&minion.task_description, &minion.pilot);
        }
        for handshake in board.db.handshakes(&project.id).await.unwrap() {
            add(&handshake.message, &handshake.initiated_by);
        }
        for agent in board.db.agents(&project.id).await.unwrap() {
            add(agent.description.as_deref().unwrap_or_default(), &agent.name);
            add(agent.status.as_deref().unwrap_or_default(), &agent.name);
        }
    }
    rows
}

/// A guest writes under the name that it registered, and never as the human.
#[tokio::test]
async fn registration_is_logged_under_the_chosen_name() {
    let board = Board::new().await;
    let server = board.serve().await;
    let before = board.db.latest();
    board.stranger(&server, "kim").await;
    let events = board.db.events_after(before, None, 100).await.unwrap();
    let registered =
        events.iter().find(|envelope| matches!(&envelope.event, Event::Agent(AgentEvent::Registered { agent, .. }) if agent == "kim")).unwrap();
    assert_eq!(registered.actor, Actor::Agent("kim".to_owned()));
}
