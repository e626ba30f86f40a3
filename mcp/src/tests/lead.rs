//! Models, lead roles and names, as agents give them; and what a lead of a zone sees and may do.

use domain::team::role::Role;
use serde_json::json;

use super::fixture::{Board, Era, call, done, refused};

#[tokio::test]
async fn model_that_is_not_allowed_is_refused_with_the_list() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let mara = server.modern(&board.agent("mara", &[]).await).await;
    let text = refused(&mara, "register", json!({"model": "claude-haiku-4-5"})).await;
    assert!(text.starts_with("claude-haiku-4-5 is not a model for the role coder; allowed are opus, sonnet, gemini pro"), "{text}");
    assert!(text.contains("\nNext: ") && text.contains("model_restrictions.coder"), "{text}");
    done(&mara, "register", json!({"model": "claude-sonnet-4-5"})).await;
    done(&lena, "register", json!({"model": "haiku", "lead_role": "general"})).await;
    let all = done(&mara, "who", json!({})).await;
    let listed: Vec<_> = all.data["agents"].as_array().unwrap().iter().map(|agent| (&agent["name"], &agent["model"], &agent["lead_role"])).collect();
    assert_eq!(listed, [(&json!("lena"), &json!("haiku"), &json!("general")), (&json!("mara"), &json!("claude-sonnet-4-5"), &json!(null))]);
    let party = done(&lena, "party_status", json!({})).await.text;
    assert!(party.contains("lena (lead, general, lead, terminal, haiku)"), "{party}");
    assert_eq!(call(&mara, "register", json!({"lead_role": "king"})).await.data["code"], "invalid");
}

#[tokio::test]
async fn tasks_and_claims_are_listed_with_their_zone() {
    let board = Board::new().await;
    let server = board.serve().await;
    let zoe = server.modern(&board.agent("zoe", &[Role::Lead]).await).await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    for (name, path) in [("audio", "src/audio/"), ("video", "src/video/")] {
        done(&lena, "set_zone", json!({"name": name, "paths": [path]})).await;
    }
    done(&zoe, "register", json!({"lead_role": "zone_lead", "zone": "audio"})).await;
    done(&zoe, "set_battle_plan", json!({"plan": "Mix"})).await;
    let refused_text = refused(&zoe, "create_task", json!({"title": "Cut", "files": ["src/video/a.rs"]})).await;
    assert!(refused_text.starts_with("zoe leads the zone audio, so creating tasks requires src/video/a.rs to be in that zone"), "{refused_text}");
    done(&zoe, "create_task", json!({"title": "Mix", "files": ["src/audio/a.rs"]})).await;
    done(&lena, "create_task", json!({"title": "Cut", "files": ["src/video/a.rs", "src/audio/b.rs"]})).await;
    done(&lena, "create_task", json!({"title": "Write"})).await;
    let ids = async |tool: &'static str, arguments| {
        let answer = done(&zoe, tool, arguments).await;
        answer.data["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids("list_tasks", json!({"zone": "audio"})).await, ["TASK-002", "TASK-003"]);
    assert_eq!(ids("get_tasks", json!({"project": "PROJ-001", "zone": "video", "status": "pending"})).await, ["TASK-003"]);
    assert_eq!(ids("get_tasks", json!({"zone": "video", "status": "closed"})).await, [""; 0]);
    assert_eq!(call(&zoe, "list_tasks", json!({"zone": "text"})).await.data["code"], "invalid");
    let listed = done(&zoe, "list_tasks", json!({"zone": "video"})).await;
    assert!(listed.text.contains("\n  zones audio, video\n"), "{}", listed.text);
    let task = done(&zoe, "get_task", json!({"task_id": "TASK-002"})).await;
    assert!(task.text.contains("\n  zone audio\n") && task.data["task"]["zones"] == json!(["audio"]), "{}", task.text);
    done(&zoe, "claim_file", json!({"file_path": "src/audio/a.rs"})).await;
    done(&zoe, "claim_file", json!({"file_path": "README.md"})).await;
    let claims = done(&lena, "get_claims", json!({})).await;
    assert!(claims.text.contains("src/audio/a.rs (zone audio): zoe since ") && claims.text.contains("README.md: zoe since "), "{}", claims.text);
    let listed = claims.data["claims"].as_array().unwrap().iter().map(|claim| (claim["path"].as_str().unwrap(), claim["zone"].as_str()));
    assert_eq!(listed.collect::<Vec<_>>(), [("README.md", None), ("src/audio/a.rs", Some("audio"))]);
    assert!(!server.modern(&board.agent("kim", &[]).await).await.list_all_tools().await.unwrap().iter().any(|tool| tool.name == "get_tasks"));
}

#[tokio::test]
async fn question_to_a_zone_reaches_its_expert() {
    let board = Board::new().await;
    let server = board.serve().await;
    let [lena, mara, olga, vera] = [
        server.modern(&board.agent("lena", &[Role::Lead]).await).await,
        server.modern(&board.agent("mara", &[]).await).await,
        server.modern(&board.agent("olga", &[]).await).await,
        server.modern(&board.agent("vera", &[]).await).await,
    ];
    done(&lena, "set_zone", json!({"name": "audio", "paths": ["src/audio/"], "oracle": "olga"})).await;
    done(&lena, "set_zone", json!({"name": "video", "paths": ["src/video/"], "owner": "vera"})).await;
    done(&lena, "set_zone", json!({"name": "text", "paths": ["text/"]})).await;
    let sent = done(&mara, "send", json!({"to_agent": "zone/audio, zone/src/video/a.rs", "message": "Who syncs?"})).await;
    assert_eq!(sent.text, "Message sent to olga (#1) and vera (#2). Copies: lena.");
    assert_eq!(sent.data["further"], json!([{"id": 2, "to_agent": "vera"}]));
    for expert in [&olga, &vera] {
        assert!(done(expert, "check_inbox", json!({})).await.text.contains("Who syncs?"));
    }
    let unstaffed = refused(&mara, "send", json!({"to_agent": "zone/text", "message": "Who?"})).await;
    assert!(unstaffed.starts_with("the zone text has neither an oracle nor an owner") && unstaffed.contains("set_zone"), "{unstaffed}");
}

#[tokio::test]
async fn token_goes_on_after_a_rename() {
    for era in Era::BOTH {
        let board = Board::new().await;
        let server = board.serve().await;
        let token = board.agent("platform/mara", &[]).await;
        let lena = server.client(&board.agent("lena", &[Role::Lead]).await, era).await;
        let mara = server.client(&token, era).await;
        done(&lena, "create_task", json!({"title": "Search", "assigned_to": "mara"})).await;
        done(&mara, "check_inbox", json!({})).await;
        assert!(refused(&mara, "rename", json!({"new_name": "lena"})).await.starts_with("the name platform/lena is taken"));
        let renamed = done(&mara, "rename", json!({"new_name": "mara-audio"})).await;
        assert!(renamed.text.starts_with("platform/mara is now platform/mara-audio."), "{}", renamed.text);
        let mara = server.client(&token, era).await;
        assert_eq!(done(&mara, "get_my_tasks", json!({})).await.data["tasks"][0]["assigned_to"], "platform/mara-audio");
        let told = done(&lena, "send", json!({"to_agent": "platform/mara", "message": "Hello"})).await;
        assert_eq!(told.data["to_agent"], "platform/mara-audio");
        assert!(done(&mara, "check_inbox", json!({})).await.text.contains("Hello"));
        assert_eq!(call(&mara, "rename", json!({"agent_name": "lena", "new_name": "kim"})).await.data["code"], "lead-only");
        done(&lena, "rename", json!({"agent_name": "platform/mara-audio", "new_name": "mara"})).await;
    }
}

/// An agent that keeps its invite token has its name in its session only.
#[tokio::test]
async fn session_of_an_invite_token_follows_a_rename() {
    let board = Board::new().await;
    let server = board.serve().await;
    let lena = server.modern(&board.agent("lena", &[Role::Lead]).await).await;
    let ole = server.client(&board.db.create_invite_token(&db::Caller::owner(), &board.project.id).await.unwrap(), Era::Legacy).await;
    done(&ole, "register", json!({"agent_name": "ole"})).await;
    done(&lena, "rename", json!({"agent_name": "ole", "new_name": "ole-audio"})).await;
    done(&ole, "set_status", json!({"status": "Mixing"})).await;
    assert_eq!(board.db.agent(&board.project.id, "ole-audio").await.unwrap().status.as_deref(), Some("Mixing"));
}
