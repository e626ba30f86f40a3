//! The rules that the store of the war room enforces, one test each, and what it only reminds of. Each rule is checked over both revisions of
//! `/mcp` and through the bridge, which `vibe-relay mcp` runs; `api/src/tests/warroom_enforced.rs` checks the routes.

use std::time::Duration;

use db::Caller;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::evidence::EvidenceResult;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::warroom::class::AgentClass;
use domain::warroom::context_left::ContextReport;
use serde_json::{Value, json};

use super::fixture::{Board, Client, Era, PERSON, RESULT, Server, call, done};

/// The ways of one agent to its tools.
struct Paths {
    clients: Vec<(&'static str, Client)>,
}

impl Paths {
    async fn of(board: &Board, server: &Server, token: &str) -> Self {
        let (bridged, _) = board.bridge(token, Era::Modern).await;
        let clients = vec![("modern", server.modern(token).await), ("legacy", server.client(token, Era::Legacy).await), ("bridge", bridged)];
        Self { clients }
    }

    fn one(&self) -> &Client {
        &self.clients[0].1
    }

    async fn done(&self, tool: &str, arguments: Value) -> Value {
        done(self.one(), tool, arguments).await.data
    }

    /// Calls a tool on every path. Each call is refused with these words and the next step, and changes nothing.
    async fn refused(&self, board: &Board, tool: &str, arguments: Value, words: &str) {
        let before = board.db.latest();
        for (path, client) in &self.clients {
            let outcome = call(client, tool, arguments.clone()).await;
            assert!(outcome.is_error && outcome.text.contains(words), "{path} {tool} {arguments}: {}", outcome.text);
            assert!(outcome.text.contains("\nNext: "), "{path} {tool}: {}", outcome.text);
        }
        assert_eq!(board.db.latest(), before, "{tool} wrote something");
    }
}

/// A board with a lead, and two agents that it assigned TASK-002 and TASK-003.
struct Raid {
    board: Board,
    server: Server,
    lena: Paths,
    mara: Paths,
    ole: Paths,
}

async fn raid() -> Raid {
    let board = Board::new().await;
    let server = board.serve().await;
    board.announce(&server);
    let tokens = [board.agent("lena", &[Role::Lead]).await, board.agent("mara", &[]).await, board.agent("ole", &[]).await];
    let [lena, mara, ole] = &tokens;
    let (lena, mara, ole) = (Paths::of(&board, &server, lena).await, Paths::of(&board, &server, mara).await, Paths::of(&board, &server, ole).await);
    lena.done("create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
    lena.done("create_task", json!({"title": "Sort", "assigned_to": "ole", "blocked_by": "TASK-002"})).await;
    for agent in [&mara, &ole] {
        agent.done("check_inbox", json!({})).await;
    }
    Raid { board, server, lena, mara, ole }
}

#[tokio::test]
async fn inbox_discipline() {
    let Raid { board, server, lena, mara, ole } = raid().await;
    let coder = board.coder().await;
    let run = server.modern(&coder.run.token).await;
    lena.done("send", json!({"to_agent": "all", "message": "Read this first"})).await;
    ole.done("check_inbox", json!({})).await;
    for arguments in [
        json!({"to_agent": "lena", "message": "x"}),
        json!({"to_agent": "ole", "message": "x", "cc": "lena"}),
        json!({"to_agent": "all", "message": "x"}),
        json!({"to_agent": "human", "message": "x", "task_id": "TASK-002"}),
        json!({"to_agent": "lena", "message": "x", "reply_to": 1}),
    ] {
        mara.refused(&board, "send", arguments, "unread").await;
    }
    let managed = call(&run, "send", json!({"to_agent": "lena", "message": "x"})).await;
    assert!(managed.is_error && managed.text.contains("unread"), "{}", managed.text);
    ole.done("send", json!({"to_agent": "lena", "message": "Read"})).await;
    lena.refused(&board, "initiate_handshake", json!({"message": "Our plan"}), "unread").await;
    mara.done("check_inbox", json!({})).await;
    mara.done("send", json!({"to_agent": "lena", "message": "Read"})).await;
}

#[tokio::test]
async fn context_freshness() {
    let start = db::now();
    for (class, minutes) in
        [(AgentClass::Coder, 5), (AgentClass::Builder, 5), (AgentClass::Recon, 5), (AgentClass::Lead, 15), (AgentClass::Oracle, 30)]
    {
        db::testing::set_time(start);
        let board = Board::new().await;
        let server = board.serve().await;
        board.announce(&server);
        let token = board.agent("mara", &[]).await;
        let caller = board.db.caller(&token).await.unwrap().unwrap();
        let who = Registration { name: "mara".to_owned(), class: Some(class), ..Registration::default() };
        board.db.register(&caller, &board.project.id, who, None).await.unwrap();
        let report = ContextReport { context: "x".to_owned(), tokens_used: Some(1), tokens_limit: Some(100) };
        board.db.set_context(&caller, &board.project.id, report.clone()).await.unwrap();
        let mara = Paths::of(&board, &server, &token).await;
        db::testing::set_time(start.after(Duration::from_secs(minutes * 60)));
        mara.done("send", json!({"to_agent": "human", "message": "In time"})).await;
        db::testing::set_time(start.after(Duration::from_secs(minutes * 60 + 1)));
        for arguments in [json!({"to_agent": "human", "message": "x"}), json!({"to_agent": "all", "message": "x"})] {
            mara.refused(&board, "send", arguments, "BLOCKED: your report about your context is").await;
        }
        mara.done("set_context", json!({"context": "x", "tokens_used": 2, "tokens_limit": 100})).await;
        mara.done("send", json!({"to_agent": "human", "message": "Fresh again"})).await;
    }
}

#[tokio::test]
async fn file_claims() {
    let Raid { board, mara, ole, .. } = raid().await;
    board.sample.write("src/lib.rs", "one");
    mara.done("claim_file", json!({"file_path": "src/lib.rs"})).await;
    ole.done("claim_file", json!({"file_path": "src/main.rs"})).await;
    // The first call puts ole in line, which is the answer to a claim of a held file, and no claim.
    assert!(call(ole.one(), "claim_file", json!({"file_path": "src/lib.rs"})).await.is_error);
    for alias in ["src/lib.rs", "./src/lib.rs", "SRC/LIB.rs"] {
        ole.refused(&board, "claim_file", json!({"file_path": alias}), "is claimed by mara").await;
    }
    for force in [false, true] {
        let taken = json!({"file_path": "src/lib.rs", "force": force, "reason": "Mine"});
        ole.refused(&board, "release_file", taken, "only a lead or a person can take it away").await;
    }
    let claims = board.db.claims(&board.project.id, None).await.unwrap().claims;
    assert_eq!(
        claims.iter().map(|claim| (claim.path.as_str(), claim.agent.as_str())).collect::<Vec<_>>(),
        [("src/lib.rs", "mara"), ("src/main.rs", "ole")]
    );
}

#[tokio::test]
async fn task_dependencies() {
    let Raid { board, lena, mara, ole, .. } = raid().await;
    ole.refused(&board, "update_task", json!({"task_id": "TASK-003", "status": "in_progress"}), "TASK-002").await;
    for stage in ["review", "completed", "verified", "failed"] {
        ole.refused(&board, "update_task", json!({"task_id": "TASK-003", "status": stage}), "TASK-003").await;
    }
    ole.refused(&board, "submit_for_review", json!({"task_id": "TASK-003", "summary": "x"}), "TASK-003").await;
    ole.refused(&board, "submit_result", json!({"task_id": "TASK-003", "content": RESULT}), "nobody has started it").await;
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    mara.done("submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
    mara.done("submit_for_review", json!({"task_id": "TASK-002", "summary": "x"})).await;
    ole.refused(&board, "update_task", json!({"task_id": "TASK-003", "status": "in_progress"}), "TASK-002").await;
    lena.done("close_task", json!({"task_id": "TASK-002"})).await;
    ole.done("update_task", json!({"task_id": "TASK-003", "status": "in_progress"})).await;
}

#[tokio::test]
async fn class_restrictions() {
    let Raid { board, server, lena, mara, .. } = raid().await;
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    mara.done("submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
    mara.done("submit_for_review", json!({"task_id": "TASK-002", "summary": "x"})).await;
    for class in AgentClass::ALL.iter().filter(|class| **class != AgentClass::Lead) {
        // The human granted the role of a lead to one of two; the class that it named restricts it all the same.
        for (suffix, roles) in [("", &[][..]), ("-lead", &[Role::Lead])] {
            let who = Registration { name: format!("{class}{suffix}"), roles: roles.to_vec(), ..Registration::default() };
            let token = board.db.create_agent_token(&Caller::owner(), &board.project.id, who, TokenTerms::default()).await.unwrap();
            let agent = Paths::of(&board, &server, &token).await;
            agent.done("register", json!({"agent_class": class.as_str()})).await;
            agent.refused(&board, "create_task", json!({"title": "Mine"}), "only the class lead creates tasks").await;
            agent.refused(&board, "create_task", json!({"title": "Mine", "assigned_to": "mara"}), "only the class lead creates tasks").await;
            let lead_only = "requires a lead";
            for (tool, arguments) in [
                ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "x"}]})),
                ("update_task", json!({"task_id": "TASK-003", "assigned_to": "mara"})),
                ("update_task", json!({"task_id": "TASK-003", "status": "assigned", "assigned_to": "mara"})),
                ("update_task", json!({"task_id": "TASK-002", "status": "completed"})),
                ("approve_task", json!({"task_id": "TASK-002"})),
                ("close_task", json!({"task_id": "TASK-002"})),
                ("set_battle_plan", json!({"plan": "Mine"})),
                ("update_battle_plan_status", json!({"plan_id": 1, "status": "obsolete"})),
                ("debrief", json!({"summary": "x"})),
                ("end_session", json!({})),
            ] {
                agent.refused(&board, tool, arguments, lead_only).await;
            }
        }
    }
    lena.done("close_task", json!({"agent_name": "lena", "task_id": "TASK-002"})).await;
}

#[tokio::test]
async fn result_files() {
    let Raid { board, server, lena, mara, ole } = raid().await;
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    mara.done("submit_for_review", json!({"task_id": "TASK-002", "summary": "x"})).await;
    lena.done("check_inbox", json!({})).await;
    let missing = "BLOCKED: TASK-002 cannot be closed, because it has no result";
    lena.refused(&board, "close_task", json!({"task_id": "TASK-002"}), missing).await;
    lena.refused(&board, "approve_task", json!({"task_id": "TASK-002"}), missing).await;
    lena.refused(&board, "update_task", json!({"task_id": "TASK-002", "status": "completed"}), missing).await;
    lena.refused(&board, "update_task", json!({"task_id": "TASK-002", "status": "closed"}), "Call close_task").await;
    mara.refused(&board, "update_task", json!({"task_id": "TASK-002", "status": "closed"}), "Call close_task").await;
    mara.refused(&board, "update_task", json!({"task_id": "TASK-002", "status": "done"}), "expected one of").await;
    let person = server.modern(PERSON).await;
    assert!(call(&person, "close_task", json!({"task_id": "TASK-002"})).await.text.starts_with(missing));

    let outside = board.sample.beside("journey.md");
    std::fs::write(&outside, RESULT).unwrap();
    std::os::unix::fs::symlink(&outside, board.sample.top().join("link.md")).unwrap();
    board.sample.write("long.md", &format!("{RESULT}{}", "x".repeat(20_000)));
    board.sample.write("half.md", "# What I tried\nA trie");
    let submit = |given: Value| {
        let mut arguments = json!({"task_id": "TASK-002"});
        arguments.as_object_mut().unwrap().extend(given.as_object().cloned().unwrap());
        arguments
    };
    for path in ["absent.md", "../journey.md", outside.to_str().unwrap(), "/etc/passwd", "link.md", "long.md", ".git/config", "a\u{0}b"] {
        for name in ["result_file", "file_path"] {
            mara.refused(&board, "submit_result", submit(json!({name: path})), "is not a text file").await;
        }
    }
    for (given, words) in [
        (json!({}), "content: it is missing"),
        (json!({"content": "x", "result_file": "half.md"}), "it is given together with a file"),
        (json!({"result_file": "half.md"}), "the result lacks what worked and what did not"),
        (json!({"content": "# What I tried\nx\n# What worked\ny\na.rs:1"}), "the result lacks what the next agent should know"),
        (json!({"content": RESULT.replace(":12", "")}), "the result lacks file:line citations"),
        (json!({"content": "x".repeat(1 << 20)}), "more than the"),
        (json!({"content": format!("{RESULT}\u{0}")}), "NUL"),
    ] {
        mara.refused(&board, "submit_result", submit(given), words).await;
    }
    ole.refused(&board, "submit_result", submit(json!({"content": RESULT})), "assigned to mara").await;
    ole.refused(&board, "submit_result", json!({"agent_name": "mara", "task_id": "TASK-002", "content": RESULT}), "this token belongs to ole").await;
    mara.refused(&board, "submit_result", json!({"task_id": "TASK-404", "content": RESULT}), "does not exist").await;
    lena.refused(&board, "close_task", json!({"task_id": "TASK-404"}), "does not exist").await;

    board.sample.write("journey.md", RESULT);
    let stored = mara.done("submit_result", submit(json!({"agent_name": "mara", "result_file": "./journey.md"}))).await;
    assert_eq!((&stored["result"]["file"], &stored["result"]["author"]), (&json!("journey.md"), &json!("mara")));
    std::fs::remove_file(board.sample.top().join("journey.md")).unwrap();
    let read = done(ole.one(), "get_task", json!({"task_id": "TASK-002"})).await;
    assert!(read.text.contains("Result by mara:\n# What I tried\nA trie"), "{}", read.text);
    assert_eq!(read.data["task_result"]["content"], RESULT);
    lena.done("close_task", json!({"task_id": "TASK-002"})).await;
    lena.refused(&board, "close_task", json!({"task_id": "TASK-002"}), "TASK-002").await;
}

#[tokio::test]
async fn debrief() {
    let Raid { board, lena, mara, .. } = raid().await;
    lena.refused(&board, "end_session", json!({}), "3 tasks are still open: TASK-001, TASK-002, TASK-003").await;
    let nothing_to_plan = db::MoveRequest { to: Status::Done, reason: Some("Nothing to plan".to_owned()), merge: false };
    board.db.move_task(&Caller::owner(), &TaskId::new(1), nothing_to_plan, EvidenceResult::Nothing).await.unwrap();
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "failed"})).await;
    lena.refused(&board, "end_session", json!({}), "1 task is still open: TASK-003").await;
    board.db.assign_task(&Caller::owner(), &TaskId::new(3), None, None).await.unwrap();
    let missing = "BLOCKED: the session cannot end, because no debrief was filed in it";
    lena.refused(&board, "end_session", json!({"agent_name": "lena"}), missing).await;
    for (given, words) in [
        (json!({}), "summary: it is missing"),
        (json!({"summary": "x".repeat(1 << 20)}), "more than the"),
        (json!({"summary": "a\u{0}b"}), "NUL"),
        (json!({"debrief_file": "absent.md"}), "is not a text file"),
        (json!({"agent_name": "mara", "summary": "x"}), "this token belongs to lena"),
    ] {
        lena.refused(&board, "debrief", given, words).await;
    }
    lena.done("debrief", json!({"agent_name": "lena", "summary": "The trie is built"})).await;
    let ended = done(lena.one(), "end_session", json!({})).await;
    assert!(ended.text.contains("decide first whether they are still needed: TASK-003."), "{}", ended.text);
    assert_eq!((&ended.data["session"]["plans"], &ended.data["session"]["waiting"]), (&json!([1]), &json!(["TASK-003"])));
    lena.refused(&board, "end_session", json!({}), missing).await;
    lena.refused(&board, "create_task", json!({"title": "Next"}), "needs an active battle plan").await;
}

#[tokio::test]
async fn battle_plan() {
    let Raid { board, lena, .. } = raid().await;
    lena.done("update_battle_plan_status", json!({"plan_id": 1, "status": "obsolete"})).await;
    for (tool, arguments) in [
        ("create_task", json!({"title": "Next"})),
        ("create_task", json!({"title": "Next", "assigned_to": "mara"})),
        ("create_subtasks", json!({"parent_task_id": "TASK-001", "tasks": [{"title": "Next"}]})),
        ("update_task", json!({"task_id": "TASK-002", "assigned_to": "ole"})),
        ("update_task", json!({"task_id": "TASK-002", "status": "assigned", "assigned_to": "ole"})),
        ("send", json!({"to_agent": "mara", "message": "Take it", "task_id": "TASK-002"})),
        ("send", json!({"to_agent": "human", "cc": "mara", "message": "Take it", "task_id": "TASK-002"})),
        ("send", json!({"to_agent": "all", "message": "Take it", "task_id": "TASK-002"})),
    ] {
        lena.refused(&board, tool, arguments, "needs an active battle plan").await;
    }
    lena.done("send", json!({"to_agent": "mara", "message": "Hello"})).await;
    lena.done("set_battle_plan", json!({"plan": "Search first"})).await;
    lena.done("send", json!({"to_agent": "mara", "message": "Take it", "task_id": "TASK-002"})).await;
}

#[tokio::test]
async fn oracle_knowledge() {
    let Raid { board, server, mara, .. } = raid().await;
    let ivy = Paths::of(&board, &server, &board.agent("ivy", &[]).await).await;
    ivy.done("register", json!({"agent_class": "oracle"})).await;
    ivy.done("send", json!({"to_agent": "mara", "message": "Ask me"})).await;
    let port = |body: &str, evidence: &str| json!({"topic": "port", "body": body, "evidence": evidence, "paths": ["src/net/"]});
    mara.refused(&board, "write_trap", port("It is probably taken", "a.rs:1"), "\"probably\"").await;
    mara.refused(&board, "write_trap", port("It is taken", "I saw it"), "shows no command").await;
    mara.refused(&board, "resolve_trap", json!({"topic": "port", "reason": "x", "evidence": "a.rs:1"}), "no live trap").await;
    mara.done("write_note", json!({"content": "It is probably taken"})).await;
    mara.done("write_trap", port("It is taken", "$ ss\n:80")).await;
    mara.done("write_intel", json!({"topic": "deps", "body": "Version 2 breaks", "evidence": "Cargo.toml:12"})).await;
    let told = done(ivy.one(), "get_board", json!({})).await;
    assert!(told.text.contains("2 unread items of intel and traps: call read_intel"), "{}", told.text);
    ivy.refused(&board, "send", json!({"to_agent": "mara", "message": "Ask me"}), "BLOCKED: an oracle").await;
    let read = done(ivy.one(), "read_intel", json!({})).await;
    assert!(read.text.contains("traps/port.md:\n# port\n\nIt is taken") && read.text.contains("$ ss"), "{}", read.text);
    assert_eq!((read.data["knowledge"].as_array().unwrap().len(), &read.data["unread"]), (2, &json!(0)));
    ivy.done("send", json!({"to_agent": "mara", "message": "Ask me"})).await;
    let topics = done(ivy.one(), "read_intel", json!({})).await.text;
    assert!(topics.contains("deps [intel]: Version 2 breaks\nport [trap]: It is taken"), "{topics}");
    let start = done(ivy.one(), "cold_start", json!({})).await.text;
    assert!(start.contains("Traps (read_intel shows each in full):\nport: It is taken"), "{start}");
    let kept = mara.done("archive_intel", json!({"topic": "deps", "reason": "Version 3 works", "evidence": "Cargo.toml:12"})).await;
    assert_eq!(kept["knowledge"]["closed_by"], "mara");
}

/// Terminal agents are told of what waits for them, and go on.
#[tokio::test]
async fn reminds_to_check_the_inbox() {
    let Raid { lena, mara, .. } = raid().await;
    lena.done("send", json!({"to_agent": "mara", "message": "Hurry"})).await;
    let told = done(mara.one(), "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    assert!(told.text.contains("1 unread message from lena: call check_inbox"), "{}", told.text);
}

#[tokio::test]
async fn reminds_of_an_old_report_without_blocking_other_tools() {
    let Raid { mara, .. } = raid().await;
    let start = db::now();
    mara.done("set_context", json!({"context": "x", "tokens_used": 1, "tokens_limit": 100})).await;
    db::testing::set_time(start.after(Duration::from_secs(400)));
    let told = done(mara.one(), "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    assert!(told.text.contains("your report about your context is old: call set_context"), "{}", told.text);
    mara.done("check_inbox", json!({})).await;
    mara.done("submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
}

/// Whether a claimed file was read, the description followed and the tests run, cannot be known.
#[tokio::test]
async fn does_not_block_what_cannot_be_verified() {
    let Raid { board: _board, lena, mara, .. } = raid().await;
    mara.done("claim_file", json!({"file_path": "src/search.rs"})).await;
    mara.done("release_file", json!({"file_path": "src/search.rs"})).await;
    mara.done("update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
    mara.done("submit_result", json!({"task_id": "TASK-002", "content": RESULT})).await;
    let shown = mara.done("submit_for_review", json!({"task_id": "TASK-002", "summary": "Something else, untested"})).await;
    assert_eq!(shown["task"]["stage"], "review");
    lena.done("close_task", json!({"task_id": "TASK-002"})).await;
}

#[tokio::test]
async fn takes_a_report_as_it_is_and_shows_it() {
    let Raid { lena, mara, .. } = raid().await;
    mara.done("set_context", json!({"context": "x", "tokens_used": 0, "tokens_limit": 1_000_000_000})).await;
    mara.done("send", json!({"to_agent": "lena", "message": "Fresh as ever"})).await;
    let told = done(lena.one(), "party_status", json!({})).await;
    assert!(told.text.contains("mara (coder, terminal) · context left 100 % (healthy)"), "{}", told.text);
}

#[tokio::test]
async fn register_shows_the_onboarding_and_nobody_must_read_it() {
    let Raid { board, server, mara, .. } = raid().await;
    mara.done("send", json!({"to_agent": "lena", "message": "I never registered"})).await;
    let kim = server.modern(&board.agent("kim", &[]).await).await;
    let told = done(&kim, "register", json!({})).await;
    assert!(told.text.contains("check_inbox"), "{}", told.text);
}
