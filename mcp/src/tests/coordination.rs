//! Tests agreements between agents: acknowledged plans, contracts, and limits on helpers.

use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, Era, PERSON, done, refused};
use super::listener::Received;

#[tokio::test]
async fn handshake_completes_when_all_targets_acknowledge() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let (mara, kim) = (server.modern(&board.agent("platform/mara", &[]).await).await, server.modern(&board.agent("kim", &[]).await).await);
    board.agent("tess", &[Role::Tester]).await;
    let begun = done(&lena, "initiate_handshake", json!({"from_agent": "lena", "message": "Search first", "agents": "mara, kim"})).await;
    insta::assert_snapshot!(begun.text.lines().next().unwrap(), @"Handshake #1 by lena is pending. Acknowledged: nobody. Pending: kim, platform/mara.");
    assert!(done(&mara, "check_inbox", json!({})).await.text.contains("[HANDSHAKE #1] Search first"));
    done(&mara, "ack_handshake", json!({"agent_name": "mara", "handshake_id": "1"})).await;
    let status = done(&kim, "handshake_status", json!({"handshake_id": 1})).await;
    insta::assert_snapshot!(status.text.lines().next().unwrap(), @"Handshake #1 by lena is pending. Acknowledged: platform/mara. Pending: kim.");
    let last = done(&kim, "ack_handshake", json!({"handshake_id": "#1"})).await;
    insta::assert_snapshot!(last.text.lines().next().unwrap(), @"Handshake #1 by lena is completed. Acknowledged: kim, platform/mara. Pending: nobody.");
    assert!(done(&lena, "check_inbox", json!({})).await.text.contains("[HANDSHAKE #1] ALL AGENTS SYNCED"));
    let all = done(&lena, "initiate_handshake", json!({"message": "Now sorting", "agents": ""})).await;
    assert!(all.text.contains("Pending: kim, platform/mara, tess."), "{}", all.text);
    assert!(refused(&lena, "handshake_status", json!({"handshake_id": 9})).await.starts_with("handshake 9 does not exist."));
    assert!(
        refused(&lena, "handshake_status", json!({"handshake_id": ""})).await.starts_with("the argument handshake_id is invalid: it is missing.")
    );
}

/// Claude Code offers its model a tool that appears while it works.
#[tokio::test]
async fn managed_agent_gets_the_tool_with_the_handshake() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let token = board.coder().await.run.token;
        let server = board.serve().await;
        let mut coder = server.listening(&token, era, &[]).await;
        board.until_connected("coder-TASK-002", true).await;
        let client = coder.client.peer().clone();
        let is_listed = async || client.list_all_tools().await.unwrap().iter().any(|tool| tool.name == "ack_handshake");
        assert!(!is_listed().await);
        let person = server.modern(PERSON).await;
        done(&person, "initiate_handshake", json!({"message": "Search first", "agents": "coder-TASK-002"})).await;
        coder.until(&Received::Tools).await;
        assert!(is_listed().await);
        done(&client, "ack_handshake", json!({"handshake_id": 1})).await;
        assert!(!is_listed().await);
        let again = refused(&client, "ack_handshake", json!({"handshake_id": 1})).await;
        assert!(again.contains("No further answer is needed"), "the call stays possible: {again}");
    }
}

#[tokio::test]
async fn contract_has_versions_and_is_found() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (mara, kim) = (server.modern(&board.agent("platform/mara", &[]).await).await, server.modern(&board.agent("kim", &[]).await).await);
    let first = json!({"agent_name": "mara", "name": "search", "type": "function", "spec": "search(name) -> [item]", "project": ""});
    insta::assert_snapshot!(done(&mara, "declare_contract", first).await.text.lines().next().unwrap(), @"function search has version 1. The other agents can read it.");
    done(&mara, "declare_contract", json!({"name": "search", "type": "dom_id", "spec": "the field"})).await;
    let told = done(&kim, "check_inbox", json!({})).await;
    assert!(told.text.contains("[CONTRACT v1] search"), "{}", told.text);
    done(&kim, "declare_contract", json!({"name": "search", "type": "function", "spec": "search(name, most) -> [item]"})).await;
    let listed = done(&kim, "list_contracts", json!({"project": "", "owner": "", "type": ""})).await;
    insta::assert_snapshot!(listed.text.lines().take(2).collect::<Vec<_>>().join("\n"), @r"
    dom_id search v1 by platform/mara: the field
    function search v2 by kim (v1 by platform/mara): search(name, most) -> [item]
    ");
    let some = done(&kim, "list_contracts", json!({"owner": "mara", "type": "dom_id"})).await;
    assert_eq!(some.data["contracts"].as_array().unwrap().len(), 1);
    for name in ["kim", "mara"] {
        let own = done(&kim, "list_contracts", json!({"owner": name, "type": "function"})).await;
        assert!(own.text.starts_with("function search v2 by kim"), "{name}: {}", own.text);
    }
    assert!(done(&kim, "list_contracts", json!({"owner": "ole"})).await.text.starts_with("No contracts."));
    let long = "y".repeat(30_000);
    for name in ["one", "two"] {
        done(&mara, "declare_contract", json!({"name": name, "type": "other", "spec": long})).await;
    }
    let cut = done(&mara, "list_contracts", json!({})).await;
    assert_eq!(cut.data["shortened"], json!(1));
    assert!(cut.text.contains("The last 1 are shortened: filter by owner or type"), "{}", &cut.text[cut.text.len() - 200..]);
}

#[tokio::test]
async fn minions_are_limited_by_a_lead_and_counted() {
    let board = Board::new().await;
    let server = board.serve().await;
    let (lena, mara) = (server.modern(&board.agent("lena", &[Role::Lead]).await).await, server.modern(&board.agent("mara", &[]).await).await);
    let usual = done(&mara, "get_spawn_policy", json!({"agent_name": "mara"})).await;
    insta::assert_snapshot!(usual.text.lines().next().unwrap(), @"mara can start a helper: 0 of 3 are running (global).");
    assert_eq!((&usual.data["can_spawn"], &usual.data["policies"][0]["max_minions"]), (&json!(true), &json!(3)));
    let one = done(&lena, "set_spawn_policy", json!({"scope": "mara", "enabled": "true", "max_minions": "1"})).await;
    insta::assert_snapshot!(one.text.lines().next().unwrap(), @"mara: at most 1 helpers at once.");
    done(&mara, "log_minion", json!({"agent_name": "mara", "task_description": "read the code", "status": "spawned"})).await;
    let now = done(&mara, "get_spawn_policy", json!({})).await;
    insta::assert_snapshot!(now.text.lines().next().unwrap(), @"mara cannot start a helper now: 1 of 1 are running (mara).");
    let text = refused(&mara, "log_minion", json!({"task_description": "more", "status": "spawned"})).await;
    assert!(text.starts_with("mara cannot start a helper"), "{text}");
    let ended = done(&mara, "log_minion", json!({"task_description": "read the code", "status": "completed", "result": "it is short"})).await;
    insta::assert_snapshot!(ended.text.lines().next().unwrap(), @"Helper #1 is recorded as completed.");
    assert!(done(&lena, "set_spawn_policy", json!({"scope": "global", "enabled": false})).await.text.starts_with("global: no helpers."));
    assert!(refused(&mara, "set_spawn_policy", json!({"scope": "mara"})).await.contains("requires a lead, and mara is not one"));
    let kinds: Vec<_> = board.db.minions(&board.project.id).await.unwrap().into_iter().map(|minion| (minion.pilot, minion.status)).collect();
    assert_eq!(kinds, [("mara".to_owned(), domain::team::minion::MinionStatus::Completed)]);
}
