//! Which clients are notified at once of messages, and which are not.

use std::time::Duration;

use db::Caller;
use domain::team::agent::{EVERYONE, Registration};
use domain::team::role::Role;
use domain::team::token::TokenTerms;
use domain::wire::NewProject;
use http::StatusCode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::fixture::{Board, Era, PERSON, Server, done};
use super::listener::{Received, description};
const ALERT: &str = "*** YOU HAVE 1 UNREAD MESSAGE(S) from otto *** Call check_inbox now!";

#[tokio::test]
async fn recipient_is_notified_in_both_revisions() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let (mara, otto) = (board.agent("mara", &[Role::Builder]).await, board.agent("otto", &[]).await);
        let server = board.serve().await;
        let (mut mara, mut otto) = (server.listening(&mara, era, &[]).await, server.listening(&otto, era, &[]).await);
        board.until_connected("mara", true).await;
        board.until_connected("otto", true).await;
        let quiet = mara.description().await;
        assert!(quiet.starts_with("Call this "), "{quiet}");

        board.send_message(&board.caller("otto"), "mara", "Which blue?").await;
        mara.alarm(era, ALERT).await;
        assert_eq!(mara.description().await, format!("{ALERT}\n\n{quiet}"));
        assert_eq!(otto.description().await, quiet, "the alert is its reader's alone");

        done(&mara.client, "check_inbox", json!({})).await;
        mara.until(&Received::Tools).await;
        assert_eq!(mara.description().await, quiet);
        assert!(otto.received.try_recv().is_err(), "nothing happened to the sender");
    }
}

#[tokio::test]
async fn broadcast_notifies_all_but_the_sender() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mut all = Vec::new();
    for (name, roles) in [("mara", vec![Role::Lead]), ("lena", vec![Role::Tester]), ("otto", vec![Role::Builder])] {
        let era = if name == "lena" { Era::Legacy } else { Era::Modern };
        all.push(server.listening(&board.agent(name, &roles).await, era, &[]).await);
        board.until_connected(name, true).await;
    }
    board.send_message(&board.caller("otto"), EVERYONE, "I begin.").await;
    all[0].until(&Received::Tools).await;
    all[1].alarm(Era::Legacy, ALERT).await;
    // A lead hears of what others write to each other.
    done(&all[0].client, "check_inbox", json!({})).await;
    all[0].until(&Received::Tools).await;
    board.send_message(&board.caller("otto"), "lena", "Please test.").await;
    all[0].until(&Received::Tools).await;
    assert!(all[0].description().await.starts_with(ALERT));
    assert!(all[2].received.try_recv().is_err(), "nobody hears their own words");
}

#[tokio::test]
async fn new_listener_is_notified_of_earlier_messages() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let coder = board.coder().await;
        let otto = board.agent("otto", &[]).await;
        let server = board.serve().await;
        let otto = server.modern(&otto).await;
        done(&otto, "send", json!({"to_agent": "coder-TASK-002", "message": "Use blue."})).await;
        let mut run = server.listening(&coder.run.token, era, &[]).await;
        run.alarm(era, ALERT).await;
        board.until_connected("coder-TASK-002", true).await;
        assert!(run.description().await.starts_with(ALERT));
    }
}

#[tokio::test]
async fn same_name_in_another_project_is_another_agent() {
    let board = Board::new().await;
    let probe = repo::probe(board.sample.top(), None).unwrap();
    let other = board.db.create_project(&Caller::owner(), NewProject { title: "Other".to_owned(), ..NewProject::default() }, probe).await.unwrap();
    let who = Registration { name: "mara".to_owned(), ..Registration::default() };
    let theirs = board.db.create_agent_token(&Caller::owner(), &other.id, who, TokenTerms::default()).await.unwrap();
    let ours = board.agent("mara", &[]).await;
    board.agent("otto", &[]).await;
    let server = board.serve().await;
    for era in Era::BOTH {
        let (mut ours, mut theirs) = (server.listening(&ours, era, &[]).await, server.listening(&theirs, era, &[]).await);
        board.until_connected("mara", true).await;
        board.send_message(&board.caller("otto"), "mara", "For you.").await;
        ours.alarm(era, ALERT).await;
        assert!(theirs.description().await.starts_with("Call this "));
        assert!(theirs.received.try_recv().is_err());
        done(&ours.client, "check_inbox", json!({"ack": 1_000})).await;
        ours.client.cancel().await.unwrap();
        board.until_connected("mara", false).await;
    }
}

#[tokio::test]
async fn listener_is_connected_until_its_stream_closes() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let token = board.agent("mara", &[]).await;
        let server = board.serve().await;
        let person = server.modern(PERSON).await;
        let looks = async || {
            let who = done(&person, "who", json!({})).await;
            who.text.replace(' ', "").contains("\"connected\":true")
        };
        assert!(!looks().await);
        let first = server.listening(&token, era, &[]).await;
        board.until_connected("mara", true).await;
        assert!(looks().await);
        let second = server.listening(&token, era, &[]).await;
        done(&second.client, "ping", json!({})).await;
        first.client.cancel().await.unwrap();
        board.until_connected("mara", true).await;
        second.client.cancel().await.unwrap();
        board.until_connected("mara", false).await;
    }
}

#[tokio::test]
async fn call_counts_as_heartbeat() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    assert_eq!(board.db.agent(&board.project.id, "mara").await.unwrap().last_seen, None);
    let client = board.serve().await.modern(&token).await;
    done(&client, "get_board", json!({})).await;
    assert!(board.db.agent(&board.project.id, "mara").await.unwrap().last_seen.is_some());
}

#[tokio::test]
async fn session_id_alone_gets_no_notifications() {
    let board = Board::new().await;
    let (mara, otto) = (board.agent("mara", &[]).await, board.agent("otto", &[]).await);
    let server = board.serve().await;
    let session = server.session(&mara).await;
    let stream = async |token: &str| server.stream(token, &session).await;
    assert_eq!(stream(&otto).await.status(), StatusCode::NOT_FOUND);
    assert_eq!(stream(PERSON).await.status(), StatusCode::NOT_FOUND);
    assert!(!board.db.agent(&board.project.id, "otto").await.unwrap().connected);
    let open = stream(&mara).await;
    assert_eq!(open.status(), StatusCode::OK);
    board.until_connected("mara", true).await;
    drop(open);
    board.until_connected("mara", false).await;
}

#[tokio::test]
async fn shutting_down_ends_open_streams() {
    let board = Board::new().await;
    let token = board.agent("mara", &[]).await;
    let shutdown = CancellationToken::new();
    let server = Server::start(board.router(shutdown.clone())).await;
    let session = server.session(&token).await;
    let (mut modern, mut legacy) = (server.subscription(&token).await, server.stream(&token, &session).await);
    board.until_connected("mara", true).await;
    shutdown.cancel();
    let both = async {
        while let Ok(Some(_)) = modern.chunk().await {}
        while let Ok(Some(_)) = legacy.chunk().await {}
    };
    tokio::time::timeout(Duration::from_secs(2), both).await.expect("a stream outlives the server");
    board.until_connected("mara", false).await;
}

#[tokio::test]
async fn human_client_is_not_notified_of_an_inbox() {
    let board = Board::new().await;
    board.agent("otto", &[]).await;
    let server = board.serve().await;
    let person = server.listening(PERSON, Era::Modern, &[]).await;
    board.send_message(&board.caller("otto"), "human", "May I?").await;
    assert!(description(&person.client).await.starts_with("Call this "));
}

#[tokio::test]
async fn each_revision_declares_its_capabilities() {
    let board = Board::new().await;
    let server = board.serve().await;
    let mut said = Vec::new();
    for era in Era::BOTH {
        let client = server.client(PERSON, era).await;
        said.push(serde_json::to_string(&client.peer_info().unwrap().capabilities).unwrap());
    }
    insta::assert_snapshot!(said.join("\n"), @r#"
    {"prompts":{},"resources":{"subscribe":true},"tools":{"listChanged":true}}
    {"logging":{},"prompts":{},"resources":{"subscribe":true},"tools":{"listChanged":true}}
    "#);
}

#[tokio::test]
#[expect(deprecated, reason = "only the earlier revisions have it")]
async fn client_can_disable_log_messages() {
    let board = Board::new().await;
    let mara = board.agent("mara", &[]).await;
    board.agent("otto", &[]).await;
    let mut mara = board.serve().await.listening(&mara, Era::Legacy, &["vibe-relay://inbox"]).await;
    board.until_connected("mara", true).await;
    mara.client.set_level(rmcp::model::SetLevelRequestParams::new(rmcp::model::LoggingLevel::Emergency)).await.unwrap();
    board.send_message(&board.caller("otto"), "mara", "Hello").await;
    assert_eq!(mara.next().await, Received::Tools);
    // Where the log message would be, what follows it comes at once.
    assert_eq!(mara.next().await, Received::Resource("vibe-relay://inbox".to_owned()));
}

/// Revoking a token closes open streams at once, and the agent is disconnected.
#[tokio::test]
async fn revoked_token_closes_its_streams() {
    for remade in [false, true] {
        let board = Board::new().await;
        let token = board.agent("mara", &[]).await;
        board.agent("otto", &[]).await;
        let server = board.serve().await;
        let session = server.session(&token).await;
        let (mut modern, mut legacy) = (server.subscription(&token).await, server.stream(&token, &session).await);
        board.until_connected("mara", true).await;
        if remade {
            board.agent("mara", &[]).await;
            board.send_message(&board.caller("otto"), "mara", "For your eyes only.").await;
        } else {
            board.db.deregister(&Caller::owner(), &board.project.id, "mara").await.unwrap();
        }
        let mut received = Vec::new();
        let both = async {
            for stream in [&mut modern, &mut legacy] {
                while let Ok(Some(chunk)) = stream.chunk().await {
                    received.extend_from_slice(&chunk);
                }
            }
        };
        tokio::time::timeout(Duration::from_secs(20), both).await.expect("a stream outlives its token");
        let received = String::from_utf8(received).unwrap();
        assert!(!received.contains("list_changed") && !received.contains("otto"), "{received}");
        board.until_connected("mara", false).await;
        assert_eq!(server.stream(&token, &session).await.status(), StatusCode::UNAUTHORIZED);
    }
}

#[tokio::test]
async fn session_is_bound_to_the_token_that_opened_it() {
    let board = Board::new().await;
    let earlier = board.room().await;
    let server = board.serve().await;
    let session = server.session(&earlier).await;
    let list = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/list"});
    assert_eq!(server.within(&earlier, &session, &list).send().await.unwrap().status(), StatusCode::OK);
    let later = board.room().await;
    assert_eq!(server.within(&later, &session, &list).send().await.unwrap().status(), StatusCode::NOT_FOUND, "the same room, another token");
    let own = server.session(&later).await;
    assert_eq!(server.within(&later, &own, &list).send().await.unwrap().status(), StatusCode::OK);
}
