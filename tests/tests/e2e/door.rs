//! Who is let in: without a token nobody but to health, sign-in and the page's files; with an agent's token nobody but to its tools.

use reqwest::{Client, Method, StatusCode};
use serde_json::{Value, json};
use tests::mcp;

use crate::agents::token;
use crate::scene::{self, add, at_work};

const SCENARIO: &str = include_str!("../../scenarios/intervention.json");
/// What anybody may ask, the demonstration's page included, which is only there in a demonstration.
const OPEN: [&str; 4] = ["/api/health", "/sign-in", "/demo/site/", "/demo/site/{path}"];

#[tokio::test]
async fn without_the_persons_token_nothing_of_the_board_answers() {
    let relay = scene::scripted(SCENARIO).await;
    let project = relay.project("Errands", None).await.unwrap().id;
    let task = add(&relay, &project, "Slow errand").await;
    let run = at_work(&relay, &task).await;
    let agents = mcp::token_of(&relay, &run).unwrap();
    let document: Value = relay.get("/api/openapi.json").await.unwrap();
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
            let request = || stranger.request(method.clone(), format!("{}{filled}", relay.url)).json(&json!({}));
            let nobody = relay.refusal(request()).await.unwrap();
            assert_eq!((nobody.status, nobody.code.as_str()), (401, "unauthorized"), "{method} {path} without a token");
            let guess = relay.refusal(request().bearer_auth("0".repeat(64))).await.unwrap();
            assert_eq!((guess.status, guess.code.as_str()), (401, "unauthorized"), "{method} {path} with a guessed token");
            let agent = relay.refusal(request().bearer_auth(&agents)).await.unwrap();
            assert_eq!((agent.status, agent.code.as_str()), (403, "human-only"), "{method} {path} with an agent's token");
            asked += 1;
        }
    }
    assert!(asked > 25, "only {asked} routes are documented");
    let tools = stranger.post(format!("{}/mcp", relay.url)).header("accept", "application/json, text/event-stream").json(&json!({}));
    assert_eq!(relay.refusal(tools).await.unwrap().code, "unauthorized");
    for open in ["/api/health", "/"] {
        assert_eq!(stranger.get(format!("{}{open}", relay.url)).send().await.unwrap().status(), StatusCode::OK, "{open} is for everybody");
    }
    assert_eq!(relay.task(&task).await.unwrap().task.card.run.unwrap().id, run, "nothing was done to the agent at work");
}

/// A model reads what is said within its protocol, and of a refused request nothing.
#[tokio::test]
async fn what_is_too_long_is_refused_by_the_tool_and_not_at_the_door() {
    let relay = scene::scripted(r#"{"parts": []}"#).await;
    let project = relay.project("Letters", None).await.unwrap().id;
    let mara = token(&relay, &project, "mara", &["builder"]).await;
    for bytes in [1024 * 1024, 3 * 1024 * 1024] {
        let refused = mcp::call(&relay, &mara, "send", json!({"to_agent": "human", "message": "x".repeat(bytes)})).await.unwrap();
        assert_eq!((refused.is_error, refused.code.as_deref()), (true, Some("invalid")), "{}", refused.text);
        assert!(refused.text.contains(&format!("it has {bytes} bytes")) && refused.text.contains("\nNext: Shorten it"), "{}", refused.text);
    }
}
