//! A server that cannot start says why and what to do, at once, and leaves everything as it is.

use std::process::Stdio;
use std::time::Duration;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions, Connection};
use tests::relay::Relay;
use tokio::net::TcpListener;
use tokio::process::Command;

use crate::scene;

const NO_AGENTS: &str = r#"{"parts": []}"#;

/// What a server said that did not come to serve.
async fn last_words(relay: &Relay, arguments: &[&str]) -> String {
    said_by(relay.command(arguments)).await
}

async fn said_by(mut command: Command) -> String {
    let output = tokio::time::timeout(Duration::from_secs(10), command.stdin(Stdio::null()).output()).await.unwrap().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "it did not say that it listens");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

async fn stopped() -> Relay {
    let mut relay = scene::scripted(NO_AGENTS).await;
    assert!(relay.end().await.unwrap().success());
    relay
}

#[tokio::test]
async fn an_unknown_key_is_refused_with_the_nearest_known_one() {
    let relay = stopped().await;
    let config = relay.place().join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    for (wrong, wanted) in [
        (text.replace("max_parallel_agents", "max_paralel_agents"), "unknown key \"max_paralel_agents\": did you mean \"max_parallel_agents\"?"),
        (text.replace("\"max_attempts\":3", "\"max_attempts\":0"), "\"max_attempts\": 0 is not between 1 and 20"),
        (text.replace('}', ""), "the configuration is not valid JSON"),
    ] {
        std::fs::write(&config, wrong).unwrap();
        let said = last_words(&relay, &["serve", "--no-open", "--port", "0"]).await;
        assert!(said.contains(wanted) && said.contains(&*config.to_string_lossy()), "{said}");
    }
    std::fs::remove_file(&config).unwrap();
    let said = last_words(&relay, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("does not exist; run `vibe-relay init`"), "{said}");
}

#[tokio::test]
async fn a_taken_port_is_named() {
    let relay = stopped().await;
    let other = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let port = other.local_addr().unwrap().port().to_string();
    let said = last_words(&relay, &["serve", "--no-open", "--port", &port]).await;
    assert!(said.contains(&format!("port {port} is in use by another program; choose another with --port")), "{said}");
}

#[tokio::test]
async fn the_second_server_on_a_database_names_the_first() {
    let relay = scene::scripted(NO_AGENTS).await;
    let said = last_words(&relay, &["serve", "--no-open", "--port", "0"]).await;
    let first = format!("in use by another vibe-relay (process {})", relay.server_id().unwrap());
    assert!(said.contains(&first) && said.contains("\"db_path\""), "{said}");
    assert!(said.contains(&*relay.place().join("data/vibe-relay.db").to_string_lossy()), "{said}");
    relay.project("Still served", None).await.unwrap();
}

#[tokio::test]
async fn a_database_of_a_newer_version_is_left_alone() {
    let relay = stopped().await;
    let database = relay.place().join("data/vibe-relay.db");
    let options = SqliteConnectOptions::new().filename(&database);
    let mut newer: SqliteConnection = options.connect().await.unwrap();
    let migration = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) VALUES (99, 'later', 1, x'00', 0)";
    sqlx::query(migration).execute(&mut newer).await.unwrap();
    newer.close().await.unwrap();
    let before = std::fs::read(&database).unwrap();
    let said = last_words(&relay, &["serve", "--no-open", "--port", "0"]).await;
    assert!(said.contains("was written by a newer vibe-relay (schema 99, this one knows 3)") && said.contains("run that version"), "{said}");
    assert_eq!(std::fs::read(&database).unwrap(), before);
}

#[tokio::test]
async fn a_command_without_a_server_says_how_to_start_it() {
    let relay = stopped().await;
    let said = last_words(&relay, &["project", "list"]).await;
    assert!(said.contains("no board is running") && said.contains("vibe-relay serve"), "{said}");
}

/// Without a token the bridge is the person's, and the old configurations of agents have none.
#[tokio::test]
async fn an_agent_configured_for_dead_drop_does_not_become_the_person() {
    let relay = scene::scripted(NO_AGENTS).await;
    let database = relay.place().join("data/vibe-relay.db");
    for ours in [false, true] {
        let mut bridge = relay.command(&["mcp"]);
        bridge.env("DEAD_DROP_DB_PATH", &database);
        if ours {
            bridge.env("VIBE_RELAY_DB", &database);
        }
        let said = said_by(bridge).await;
        assert!(said.contains("DEAD_DROP_DB_PATH") && said.contains("vibe-relay token new --agent NAME --role ROLE"), "{said}");
        assert!(said.contains("VIBE_RELAY_TOKEN"), "{said}");
    }
    // With a token their variables stand in for ours, and the client that says nothing ends it.
    let mut bridge = relay.command(&["mcp"]);
    bridge.env("DEAD_DROP_DB_PATH", &database).env("DEAD_DROP_ROOM_TOKEN", "any").stdin(Stdio::null());
    let output = tokio::time::timeout(Duration::from_secs(10), bridge.output()).await.unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && said.contains("DEAD_DROP_ROOM_TOKEN is the token (here: VIBE_RELAY_TOKEN)"), "{said}");
}
