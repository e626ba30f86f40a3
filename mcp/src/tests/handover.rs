//! Handovers over the tools: files are verified, and a briefing contains what a successor needs.

use std::os::unix::fs::symlink;

use domain::runs::agent_kind::AgentKind;
use domain::team::role::Role;
use serde_json::{Value, json};

use super::fixture::{Board, PERSON, done, refused};

#[tokio::test]
async fn files_of_a_handover_have_to_exist_in_the_repository() {
    let board = Board::new().await;
    board.sample.write("notes/parser.md", "four");
    symlink("/etc/passwd", board.sample.top().join("alias.md")).unwrap();
    let server = board.serve().await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let missing = refused(&mara, "fenix_down", json!({"files": ["notes/parser.md", "gone.md", "notes"], "manifest": "x"})).await;
    assert!(missing.starts_with("2 files do not exist in the checkout: gone.md, notes."), "{missing}");
    for outside in ["alias.md", "/etc/passwd", "../../etc/passwd"] {
        let text = refused(&mara, "fenix_down", json!({"files": [outside]})).await;
        assert!(text.starts_with(&format!("{outside} is outside of the repository.")) && text.contains("Nothing was recorded."), "{text}");
    }
    assert!(refused(&mara, "fenix_down", json!({})).await.starts_with("manifest: it is empty"), "a handover says something");
    assert!(refused(&mara, "fenix_down", json!({"manifest": "x".repeat(1 << 20)})).await.contains(" allowed"));
    let many: Vec<&str> = vec!["notes/parser.md"; 101];
    assert!(refused(&mara, "fenix_down", json!({"files": many})).await.contains("more than the 100 allowed"));
    assert!(refused(&mara, "fenix_down", json!({"agent_name": "ole", "manifest": "x"})).await.contains("this token belongs to mara"));
    assert_eq!(board.db.handovers(&board.project.id, None, 50).await.unwrap(), []);
    let person = server.modern(PERSON).await;
    assert!(refused(&person, "fenix_down", json!({"manifest": "x"})).await.contains("fenix_down is for agents only"));

    let absolute = board.sample.top().join("notes/parser.md");
    let left = done(&mara, "fenix_down", json!({"agent_name": "mara", "files": [absolute]})).await;
    assert!(left.text.starts_with("Handover recorded: 1 file, manifest of 0 bytes. Call cold_start"), "{}", left.text);
    assert_eq!(left.data["handover"]["files"], json!([{"path": "notes/parser.md", "bytes": 4}]));
}

#[tokio::test]
async fn agent_that_leaves_is_blocked_until_it_handed_over() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let blocked = refused(&mara, "deregister", json!({})).await;
    assert!(blocked.starts_with("BLOCKED: mara has not handed over.\nNext: Call fenix_down first"), "{blocked}");
    assert!(refused(&lena, "deregister", json!({"agent_name": "mara"})).await.starts_with("BLOCKED: mara has not handed over."));
    done(&mara, "fenix_down", json!({"manifest": "Next: the parser.\nDecision: no regex, it was too slow."})).await;
    done(&mara, "deregister", json!({})).await;

    done(&lena, "set_battle_plan", json!({"plan": "Search first"})).await;
    done(&lena, "log_raid", json!({"entry": "Port 80 is taken", "priority": "high"})).await;
    let ole = server.modern(&board.agent("ole", &[]).await).await;
    done(&lena, "create_task", json!({"title": "Search", "assigned_to": "ole"})).await;
    done(&ole, "claim_file", json!({"file_path": "README.md"})).await;
    let cold = done(&ole, "cold_start", json!({"agent_name": "ole"})).await;
    let at = cold.data["briefing"]["waiting"][0]["created_at"].as_str().unwrap().to_owned();
    insta::assert_snapshot!(cold.text.replace(&at, "AT"));
    assert_eq!(cold.data["briefing"]["handover"], Value::Null);
    let continued = done(&ole, "cold_start", json!({"predecessor": "mara"})).await;
    assert!(continued.text.starts_with("Handover by mara, "), "{}", continued.text);
    assert!(continued.text.contains("\nNext: the parser.\nDecision: no regex, it was too slow.\n"), "{}", continued.text);
    let again = refused(&ole, "cold_start", json!({"predecessor": "mara"})).await;
    assert!(again.starts_with("mara left no handover that is still open."), "{again}");
    assert!(refused(&ole, "cold_start", json!({"predecessor": "lena"})).await.contains("requires a lead"));
    assert!(refused(&ole, "cold_start", json!({"predecessor": "zoe"})).await.contains("zoe"));
}

#[tokio::test]
async fn managed_agent_names_files_of_its_own_checkout() {
    let board = Board::new().await;
    let coder = board.coder().await;
    let server = board.serve().await;
    let client = server.modern(&coder.run.token).await;
    let missing = refused(&client, "fenix_down", json!({"files": ["gone.md"], "manifest": "x"})).await;
    assert!(missing.starts_with("this file does not exist in the checkout: gone.md."), "{missing}");
    let left = done(&client, "fenix_down", json!({"manifest": "Next: the parser"})).await;
    assert!(left.text.starts_with("Handover recorded: 0 files, manifest of 16 bytes. End your turn."), "{}", left.text);
    let handover = &board.db.handovers(&board.project.id, None, 50).await.unwrap()[0];
    assert_eq!((&handover.run_id, handover.task_id.is_some()), (&Some(coder.run.run.id.clone()), true));
    assert_eq!(coder.run.run.phase, AgentKind::Coder);
    assert!(refused(&client, "cold_start", json!({})).await.contains("cold_start"), "its first message is its briefing");
}
