//! Zones and the heat map as agents set and read them.

use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, call, done, refused};

#[tokio::test]
async fn leads_set_zones_and_everyone_reads_them() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[Role::Builder]).await).await;
    assert_eq!(done(&mara, "get_zones", json!({})).await.text, "The project has no zones. A lead sets one with set_zone.");
    assert!(refused(&mara, "set_zone", json!({"name": "audio", "paths": ["audio/"]})).await.contains("requires a lead"));
    let audio = json!({"agent_name": "lena", "name": "audio", "paths": ["audio/", "mixer.rs"], "oracle": "mara"});
    assert_eq!(done(&lena, "set_zone", audio).await.text, "Set the zone audio: audio/**, mixer.rs; oracle mara");
    done(&lena, "set_zone", json!({"name": "core", "paths": ["src/"], "owner": "lena"})).await;
    let read = done(&mara, "get_zones", json!({})).await;
    assert!(read.text.starts_with("audio: audio/**, mixer.rs; oracle mara\ncore: src/**; owner lena\nIn no zone: "), "{}", read.text);
    assert!(read.text.ends_with("\nWithout an oracle: core."), "{}", read.text);
    assert_eq!(read.data["zones"][1]["owner"], "lena");
    for (path, text) in [
        ("audio/mix.rs", "audio: audio/**, mixer.rs; oracle mara"),
        ("SRC/lib.rs", "core: src/**; owner lena"),
        ("README.md", "README.md is in no zone."),
    ] {
        assert_eq!(done(&mara, "get_zones", json!({"path": path})).await.text, text);
    }
    assert_eq!(call(&mara, "get_zones", json!({"path": "../etc"})).await.data["code"], "claim-outside");
    for (arguments, code) in [
        (json!({"name": "x y", "paths": ["a"]}), "invalid"),
        (json!({"name": "x", "paths": []}), "zone-paths"),
        (json!({"name": "x", "paths": ["../etc"]}), "claim-outside"),
        (json!({"name": "x", "paths": ["src/"]}), "zone-path-taken"),
    ] {
        assert_eq!(call(&lena, "set_zone", arguments.clone()).await.data["code"], code, "{arguments}");
    }
}

#[tokio::test]
async fn heat_map_shows_leads_where_the_work_is() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[Role::Builder]).await).await;
    done(&lena, "set_zone", json!({"name": "docs", "paths": ["README.md"]})).await;
    done(&lena, "set_battle_plan", json!({"plan": "Docs first"})).await;
    done(&lena, "create_task", json!({"title": "Write it", "files": ["README.md"]})).await;
    let map = done(&lena, "get_heat_map", json!({})).await;
    let first = "docs: heat 0, 1 tasks (1 open), 0 runs, 0 updates, 0 send-backs, 0 conflicts, $0.00, 1 files\n";
    assert!(map.text.starts_with(first) && map.text.ends_with("Without an oracle: docs."), "{}", map.text);
    assert_eq!(map.data["heat_map"]["zones"][1]["zone"], serde_json::Value::Null);
    assert_eq!(done(&mara, "get_heat_map", json!({})).await.text, map.text, "it is only listed to leads");
}

#[tokio::test]
async fn zones_are_proposed_from_codeowners_and_from_the_code_map() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    for (from, code) in [("codeowners", "codeowners-missing"), ("code_map", "code-map-missing"), ("guess", "invalid")] {
        assert_eq!(call(&lena, "propose_zones", json!({"from": from})).await.data["code"], code);
    }
    let files = [("CODEOWNERS", Some("/src/ @lena\n* @org/all\n")), ("src/lib.rs", Some("pub fn run() {}\n"))];
    board.sample.commit_on("main", &files, "owners");
    let found = done(&lena, "propose_zones", json!({"from": "codeowners"})).await;
    let text = "src: src/**; owner lena\nNothing is set yet. Call set_zone for those that fit.\nSkipped: line 2: * consists of wildcards";
    assert!(found.text.starts_with(text), "{}", found.text);
    assert_eq!(found.data["zone_proposals"]["proposals"][0]["zone"]["owner"], "lena");
    assert_eq!(done(&lena, "get_zones", json!({})).await.data["zones"], json!([]));
}
