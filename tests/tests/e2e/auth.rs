//! Authentication. Without a token only health, sign-in and static files respond; with an agent's token only the tools do.

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tests::mcp;

use crate::agents::token;
use crate::support::{self, add, at_work};

const SCENARIO: &str = include_str!("../../scenarios/intervention.json");
/// Routes without authentication. The demo's page exists only in a demo.
const OPEN: [&str; 4] = ["/api/health", "/sign-in", "/demo/site/", "/demo/site/{path}"];

#[tokio::test]
async fn every_route_requires_the_human_token() {
    let server = support::scripted(SCENARIO).await;
    let project = server.project("Errands", None).await.unwrap().id;
    let task = add(&server, &project, "Slow errand").await;
    let run = at_work(&server, &task).await;
    let agents = mcp::token_of(&server, &run).unwrap();
    let document: Value = server.get("/api/openapi.json").await.unwrap();
    let stranger = Client::new();
    let mut asked = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys().filter(|_| !OPEN.contains(&path.as_str())) {
            let method: Method = method.to_uppercase().parse().unwrap();
            let filled = path.replace(
                "{id}",
                if path.contains("/runs/") {
                    "RUN-001"
                } else if path.contains("/tasks/") {
                    "TASK-001"
                } else {
                    "PROJ-001"
                },
            );
            let request = || stranger.request(method.clone(), format!("{}{filled}", server.url)).json(&json!({}));
            let nobody = server.refusal(request()).await.unwrap();
            assert_eq!((nobody.status, nobody.code.as_str()), (401, "unauthorized"), "{method} {path} without a token");
            let guess = server.refusal(request().bearer_auth("0".repeat(64))).await.unwrap();
            assert_eq!((guess.status, guess.code.as_str()), (401, "unauthorized"), "{method} {path} with a guessed token");
            let agent = server.refusal(request().bearer_auth(&agents)).await.unwrap();
            assert_eq!((agent.status, agent.code.as_str()), (403, "human-only"), "{method} {path} with an agent's token");
            asked += 1;
        }
    }
    assert!(asked > 25, "only {asked} routes are documented");
    let tools = stranger.post(format!("{}/mcp", server.url)).header("accept", "application/json, text/event-stream").json(&json!({}));
    assert_eq!(server.refusal(tools).await.unwrap().code, "unauthorized");
    for open in ["/api/health", "/"] {
        assert_eq!(stranger.get(format!("{}{open}", server.url)).send().await.unwrap().status(), StatusCode::OK, "{open} is for everybody");
    }
    assert_eq!(server.task(&task).await.unwrap().task.card.run.unwrap().id, run, "nothing was done to the agent at work");
}

/// A model sees tool results, but not the body of a rejected HTTP request.
#[tokio::test]
async fn oversized_message_is_refused_by_the_tool() {
    let server = support::scripted(r#"{"parts": []}"#).await;
    let project = server.project("Letters", None).await.unwrap().id;
    let mara = token(&server, &project, "mara", &["builder"]).await;
    for bytes in [1024 * 1024, 3 * 1024 * 1024] {
        let refused = mcp::call(&server, &mara, "send", json!({"to_agent": "human", "message": "x".repeat(bytes)})).await.unwrap();
        assert_eq!((refused.is_error, refused.code.as_deref()), (true, Some("invalid")), "{}", refused.text);
        assert!(refused.text.contains(&format!("it has {bytes} bytes")) && refused.text.contains("\nNext: Shorten it"), "{}", refused.text);
    }
}
