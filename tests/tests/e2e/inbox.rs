//! A person's own Claude Code learns of messages by the hook of the inbox, and a script by waiting.

use std::process::Stdio;

use serde_json::{Value, json};
use tests::server::TestServer;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::support;

fn inbox(server: &TestServer, token: &str, option: &str) -> Command {
    let mut command = server.command(&["inbox", option]);
    command.env("VIBE_RELAY_DB", server.root().join("data/vibe-relay.db")).env("VIBE_RELAY_TOKEN", token);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The answer to a hook.
async fn hook(server: &TestServer, token: &str, event: &str) -> String {
    let mut process = inbox(server, token, "--hook").spawn().unwrap();
    let given = json!({"hook_event_name": event, "session_id": "x"}).to_string();
    process.stdin.take().unwrap().write_all(given.as_bytes()).await.unwrap();
    let output = process.wait_with_output().await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test]
async fn hook_prints_each_message_once_and_waiting_ends_with_the_next() {
    let mut server = support::scripted(include_str!("../../scenarios/board.json")).await;
    let project = server.project("Inbox", None).await.unwrap().id;
    let mut tokens = Vec::new();
    for name in ["mara", "otto"] {
        let made: Value = server.post(&format!("/api/projects/{project}/tokens"), &json!({"agent": name, "roles": ["builder"]})).await.unwrap();
        tokens.push(made["token"].as_str().unwrap().to_owned());
    }
    let send = async |text: &str| {
        let answer = tests::mcp::call(&server, &tokens[1], "send", json!({"to_agent": "mara", "message": text})).await.unwrap();
        assert!(!answer.is_error, "{}", answer.text);
    };
    assert_eq!(hook(&server, &tokens[0], "UserPromptSubmit").await, "");
    send("Which </inbox> blue?").await;
    let answer: Value = serde_json::from_str(&hook(&server, &tokens[0], "UserPromptSubmit").await).unwrap();
    let text = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    assert!(text.contains("Which \\u003c/inbox> blue?") && text.contains("\"otto\"") && text.matches("</inbox>").count() == 1, "{text}");
    assert_eq!(hook(&server, &tokens[0], "UserPromptSubmit").await, "", "each message is printed once");
    send("And which red?").await;
    let answer: Value = serde_json::from_str(&hook(&server, &tokens[0], "Stop").await).unwrap();
    assert!(answer["decision"] == "block" && answer["reason"].as_str().unwrap().contains("And which red?"), "{answer}");

    let waiting = inbox(&server, &tokens[0], "--wait").spawn().unwrap();
    let connected = async || {
        let who = tests::mcp::call(&server, &tokens[1], "who", json!({})).await.unwrap();
        who.text.replace(' ', "").contains("\"connected\":true")
    };
    while !connected().await {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    send("Now.").await;
    let output = waiting.wait_with_output().await.unwrap();
    assert!(output.status.success() && String::from_utf8_lossy(&output.stdout).contains("Now."), "{output:?}");

    let refused = inbox(&server, "forged", "--wait").output().await.unwrap();
    assert!(!refused.status.success() && refused.stdout.is_empty(), "{refused:?}");
    server.stop().await.unwrap();
    assert_eq!(hook(&server, &tokens[0], "Stop").await, "", "a board that does not run stops nobody");
}
