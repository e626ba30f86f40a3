//! The bridge between a client's pipe and a server that is restarted.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::serve::ListenerExt;
use domain::board::stage::Stage;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use rmcp::ClientServiceExt;
use serde_json::json;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::fixture::{Board, Client, Era, PERSON, Server, call, done, named_call, refused};
use super::listener::{Listening, Received};
use super::table::run;
use crate::tools::definition::ListingFacts;
use crate::{BridgeError, BridgeOptions, server_socket, tools};

pub(super) type Bridge = JoinHandle<Result<(), BridgeError>>;

impl Board {
    /// Serves on the socket, in the place of an earlier server.
    pub(super) fn announce(&self, server: &Server) {
        let (_socket, listener) = server_socket::bind(self.db.path()).unwrap();
        let router = server.router.clone();
        tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    }

    pub(super) fn options(&self, token: Option<&str>) -> BridgeOptions {
        BridgeOptions { task_id: None, db_path: self.db.path().to_owned(), token: token.map(str::to_owned), git_dir: None, structured: false }
    }

    pub(super) async fn bridge(&self, token: &str, era: Era) -> (Client, Bridge) {
        open(self.options(Some(token)), era).await
    }

    /// A bridge whose client listens.
    async fn listening_bridge(&self, token: &str, era: Era) -> (Listening, Bridge) {
        self.subscribed_bridge(token, era, &[]).await
    }

    /// A bridge whose client listens, also to these resources.
    pub(super) async fn subscribed_bridge(&self, token: &str, era: Era, resources: &[&str]) -> (Listening, Bridge) {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(theirs);
        let bridge = tokio::spawn(crate::bridge::serve(self.options(Some(token)), input, output));
        (Listening::connect(ours, era, resources).await, bridge)
    }
}

pub(super) async fn open(options: BridgeOptions, era: Era) -> (Client, Bridge) {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (input, output) = tokio::io::split(theirs);
    let bridge = tokio::spawn(crate::bridge::serve(options, input, output));
    let client = ().serve_with_lifecycle(ours, era.lifecycle()).await.unwrap();
    (client, bridge)
}

#[tokio::test]
async fn both_revisions_work_through_the_bridge() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let coder = board.coder().await;
        board.announce(&board.serve().await);
        let (client, bridge) = board.bridge(&coder.run.token, era).await;
        let names: Vec<String> = client.list_tools(None).await.unwrap().tools.iter().map(|tool| tool.name.to_string()).collect();
        let own = tools::visible_to(&run(AgentKind::Coder), ListingFacts::default(), &tools::routes());
        assert_eq!(names, own.iter().map(|tool| tool.name.to_string()).collect::<Vec<_>>());
        let mine = done(&client, "get_my_tasks", json!({})).await;
        assert!(mine.text.contains("TASK-002"), "{}", mine.text);
        assert!(mine.data.is_null(), "a model would be shown the data instead of the text");
        assert!(refused(&client, "create_task", json!({"title": "x"})).await.starts_with("a coder may not call create_task."));
        let unknown = client.call_tool(rmcp::model::CallToolRequestParams::new("get weather")).await.unwrap_err();
        assert!(unknown.to_string().contains("tool get weather does not exist"), "{unknown}");
        client.cancel().await.unwrap();
        bridge.await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn call_with_lost_answer_takes_effect_once() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let planner = board.planner().await;
        let lost = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&lost);
        // It carries the first call out and dies before it answers.
        let dies = board.router(CancellationToken::new()).layer(from_fn(move |request: Request, next: Next| {
            let seen = Arc::clone(&seen);
            async move {
                let is_call = request.headers().get("mcp-method").is_some_and(|method| method == "tools/call");
                let response: Response = next.run(request).await;
                if is_call {
                    assert!(response.status().is_success());
                    seen.store(true, Ordering::SeqCst);
                    std::panic::resume_unwind(Box::new("the power went"));
                }
                response
            }
        }));
        let old = Server::start(dies).await;
        board.announce(&old);
        let (client, _bridge) = board.bridge(&planner.token, era).await;
        assert!(!client.list_tools(None).await.unwrap().tools.is_empty());
        let arguments = json!({"parent_task_id": "TASK-001", "tasks": [{"title": "Page"}, {"title": "Style", "depends_on": [0]}]});
        let (created, ()) = tokio::join!(done(&client, "create_subtasks", arguments), async {
            while !lost.load(Ordering::SeqCst) {
                tokio::task::yield_now().await;
            }
            board.announce(&board.serve().await);
        });
        assert!(created.text.contains("TASK-002 Page") && created.text.contains("TASK-003 Style"), "{}", created.text);
        assert_eq!(board.db.board(&board.project.id).await.unwrap().board.cards.len(), 3);
    }
}

/// The bridge knows which calls are repeated, because it repeats them itself.
#[tokio::test]
async fn restarted_call_ids_do_not_replay_submissions() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let server = board.serve().await;
        let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
        let mara = board.agent("mara", &[Role::Builder]).await;
        board.announce(&server);
        let (mara, _bridge) = board.bridge(&mara, era).await;
        done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara", "role_hat": "builder"})).await;
        done(&mara, "check_inbox", json!({})).await;
        done(&mara, "update_task", json!({"task_id": "TASK-002", "status": "in_progress"})).await;
        for _ in 0..2 {
            let handed = named_call(&mara, "submit_for_review", json!({"task_id": "TASK-002", "summary": "Done."}), "call_0").await;
            assert!(!handed.is_error, "{}", handed.text);
            assert_eq!(Stage::of(&board.db.card(&TaskId::new(2)).await.unwrap()), Stage::Review, "{era:?}");
            done(&lena, "check_inbox", json!({})).await;
            done(&lena, "reject_task", json!({"task_id": "TASK-002", "reason": "search.rs:3: umlauts"})).await;
            done(&mara, "check_inbox", json!({})).await;
        }
    }
}

#[tokio::test]
async fn call_waits_for_a_restarting_server() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let shutdown = CancellationToken::new();
    let asked = Arc::new(Notify::new());
    let notify = Arc::clone(&asked);
    let leaving = board.router(shutdown.clone()).layer(from_fn(move |request: Request, next: Next| {
        notify.notify_one();
        next.run(request)
    }));
    shutdown.cancel();
    board.announce(&Server::start(leaving).await);
    let (client, _bridge) = board.bridge(&planner.token, Era::Modern).await;
    let (mine, ()) = tokio::join!(done(&client, "get_my_tasks", json!({})), async {
        asked.notified().await;
        board.announce(&board.serve().await);
    });
    assert!(mine.text.contains("TASK-001"), "{}", mine.text);
}

/// A new connection for every call costs the server as much as the call does.
#[tokio::test]
async fn calls_share_a_connection_until_a_server_closes_it() {
    let board = Board::new().await;
    let planner = board.planner().await;
    let opened = Arc::new(AtomicUsize::new(0));
    let serve = |shutdown: CancellationToken| {
        let (opened, (_socket, listener)) = (Arc::clone(&opened), server_socket::bind(board.db.path()).unwrap());
        let listener = listener.tap_io(move |_| {
            opened.fetch_add(1, Ordering::SeqCst);
        });
        let serving = axum::serve(listener, board.router(shutdown.clone())).with_graceful_shutdown(shutdown.cancelled_owned());
        tokio::spawn(async move { serving.await.unwrap() })
    };
    let shutdown = CancellationToken::new();
    let serving = serve(shutdown.clone());
    let (client, _bridge) = board.bridge(&planner.token, Era::Modern).await;
    board.until_connected("planner-TASK-001", true).await;
    for _ in 0..3 {
        done(&client, "get_my_tasks", json!({})).await;
    }
    assert_eq!(opened.load(Ordering::SeqCst), 2, "one to listen and one for all calls");

    shutdown.cancel();
    serving.await.unwrap();
    let _serving = serve(CancellationToken::new());
    let mine = done(&client, "get_my_tasks", json!({})).await;
    assert!(mine.text.contains("TASK-001"), "{}", mine.text);
}

#[tokio::test]
async fn missing_board_is_reported_to_the_model() {
    let board = Board::new().await;
    let (client, _bridge) = board.bridge("any", Era::Modern).await;
    // There is no socket, so nothing but time passes.
    tokio::time::pause();
    let text = refused(&client, "get_board", json!({})).await;
    assert!(text.starts_with("the board is not running: nothing is listening on ") && text.contains("sockets/board.sock (No such file"), "{text}");
    assert!(text.contains(" (waited 120 s)."), "{text}");
    // The board does not resume external agents.
    assert!(text.contains("Next: End your turn: your commits are safe.") && text.contains("other agents call again."), "{text}");
    let list = client.list_tools(None).await.unwrap_err().to_string();
    assert!(list.contains("the board is not running") && list.contains("waited 15 s"), "{list}");
}

#[tokio::test]
async fn invalid_token_is_reported_to_the_model() {
    let board = Board::new().await;
    board.announce(&board.serve().await);
    let (client, _bridge) = board.bridge("guessed", Era::Legacy).await;
    let text = refused(&client, "get_board", json!({})).await;
    insta::assert_snapshot!(text, @r"
    the request carries no valid token.
    Next: Ask the human for a token of your own: vibe-relay token new --agent NAME --role ROLE. Connect with it, as `Authorization: Bearer` or in VIBE_RELAY_TOKEN of `vibe-relay mcp`.
    ");
    let list = client.list_tools(None).await.unwrap_err().to_string();
    assert!(list.contains("no valid token") && list.contains("vibe-relay token new") && !list.contains("beside the database"), "{list}");
}

#[tokio::test]
async fn task_option_must_match_the_token() {
    let board = Board::new().await;
    let planner = board.planner().await;
    board.announce(&board.serve().await);
    let options = |task: u64| BridgeOptions { task_id: Some(TaskId::new(task)), ..board.options(Some(&planner.token)) };
    let (client, _bridge) = open(options(2), Era::Modern).await;
    let text = refused(&client, "get_board", json!({})).await;
    assert!(text.starts_with("this run works on TASK-001, not on TASK-002."), "{text}");
    let (client, _bridge) = open(options(1), Era::Modern).await;
    assert!(!call(&client, "get_board", json!({})).await.is_error);
}

#[tokio::test]
async fn structured_content_is_kept_for_programs_that_ask() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    board.announce(&board.serve().await);
    for structured in [false, true] {
        let (client, _bridge) = open(BridgeOptions { structured, ..board.options(Some(&token)) }, Era::Modern).await;
        let data = done(&client, "who", json!({})).await.data;
        assert_eq!(data["agents"].is_array(), structured, "{data}");
    }
}

#[tokio::test]
async fn bridge_without_a_token_uses_the_humans() {
    let board = Board::new().await;
    board.announce(&board.serve().await);
    let (_client, theirs) = tokio::io::duplex(64);
    let (input, output) = tokio::io::split(theirs);
    let error = crate::bridge::serve(board.options(None), input, output).await.unwrap_err().to_string();
    assert!(error.starts_with("no token was given, and your own in ") && error.contains("set VIBE_RELAY_TOKEN"), "{error}");
    std::fs::write(board.db.path().with_file_name("token"), format!("{PERSON}\n")).unwrap();
    let options = BridgeOptions { task_id: Some(TaskId::new(1)), ..board.options(None) };
    let (client, _bridge) = open(options, Era::Modern).await;
    let mine = done(&client, "get_my_tasks", json!({})).await;
    assert!(mine.text.contains("TASK-001"), "{}", mine.text);
}

#[tokio::test]
async fn silent_client_is_not_an_error() {
    let board = Board::new().await;
    let (client, theirs) = tokio::io::duplex(64);
    drop(client);
    let (input, output) = tokio::io::split(theirs);
    crate::bridge::serve(board.options(Some("any")), input, output).await.unwrap();
}

#[tokio::test]
async fn changes_are_forwarded_across_restarts() {
    const ALERT: &str = "*** YOU HAVE 1 UNREAD MESSAGE(S) from otto *** Call check_inbox now!";
    for era in Era::BOTH {
        let board = Board::new().await;
        let coder = board.coder().await;
        board.agent("otto", &[]).await;
        let shutdown = CancellationToken::new();
        board.announce(&Server::start(board.router(shutdown.clone())).await);
        let (mut client, _bridge) = board.listening_bridge(&coder.run.token, era).await;
        board.until_connected("coder-TASK-002", true).await;
        board.send_message(&board.caller("otto"), "coder-TASK-002", "Use blue.").await;
        client.until(&Received::Tools).await;
        assert!(client.description().await.starts_with(ALERT));
        done(&client.client, "check_inbox", json!({})).await;
        client.until(&Received::Tools).await;

        shutdown.cancel();
        board.until_connected("coder-TASK-002", false).await;
        // Written while no server runs: the subscriber is notified as soon as one runs again.
        board.send_message(&board.caller("otto"), "coder-TASK-002", "Light blue.").await;
        board.announce(&board.serve().await);
        board.until_connected("coder-TASK-002", true).await;
        client.until(&Received::Tools).await;
        assert!(client.description().await.starts_with(ALERT));
    }
}

#[tokio::test]
async fn who_registers_through_a_bridge_goes_on_as_that_agent() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let (room, otto) = (board.room().await, board.agent("otto", &[]).await);
        let shutdown = CancellationToken::new();
        board.announce(&Server::start(board.router(shutdown.clone())).await);
        let (mut client, _bridge) = board.listening_bridge(&room, era).await;
        done(&client.client, "register", json!({"agent_name": "mara", "role": "builder"})).await;
        client.until(&Received::Tools).await;
        done(&client.client, "send", json!({"to_agent": "otto", "message": "Hello"})).await;
        board.until_connected("mara", true).await;

        shutdown.cancel();
        let server = board.serve().await;
        board.announce(&server);
        let otto = server.modern(&otto).await;
        done(&otto, "check_inbox", json!({})).await;
        done(&otto, "send", json!({"to_agent": "mara", "message": "Welcome"})).await;
        board.until_connected("mara", true).await;
        client.until(&Received::Tools).await;
        let inbox = done(&client.client, "check_inbox", json!({})).await;
        assert!(inbox.text.contains("Welcome"), "{}", inbox.text);
    }
}

/// A removed agent is a guest again, and may register.
#[tokio::test]
async fn bridge_reverts_to_its_first_token_when_revoked() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let room = board.room().await;
        board.announce(&board.serve().await);
        let (mut client, _bridge) = board.listening_bridge(&room, era).await;
        done(&client.client, "register", json!({"agent_name": "mara"})).await;
        client.until(&Received::Tools).await;
        board.until_connected("mara", true).await;
        board.db.deregister(&db::Caller::owner(), &board.project.id, "mara").await.unwrap();
        client.until(&Received::Tools).await;
        let text = refused(&client.client, "send", json!({"to_agent": "human", "message": "Why?"})).await;
        assert!(text.contains("Call register"), "{text}");
        done(&client.client, "register", json!({"agent_name": "kim"})).await;
        board.until_connected("kim", true).await;
    }
}

#[tokio::test]
async fn bridge_exits_when_folder_is_gone() {
    let board = Board::new().await;
    let folder = board.folder.path().join("gone");
    std::fs::create_dir(&folder).unwrap();
    let options = BridgeOptions { task_id: None, db_path: folder.join("board.db"), token: Some("any".to_owned()), git_dir: None, structured: false };
    let (client, bridge) = open(options, Era::Modern).await;
    std::fs::remove_dir(&folder).unwrap();
    tokio::time::pause();
    let began = tokio::time::Instant::now();
    let error = bridge.await.unwrap().unwrap_err();
    assert!(matches!(&error, BridgeError::FolderMissing { folder: missing } if *missing == folder), "{error}");
    assert!(began.elapsed() >= std::time::Duration::from_secs(119), "{:?}", began.elapsed());
    drop(client);
}
