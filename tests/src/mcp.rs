//! A plain MCP client: one call, one POST, with whatever token a test wants to try. It must not know what a tool is for.

use std::io;

use domain::id::RunId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::relay::Relay;

const VERSION: &str = "2026-07-28";

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub is_error: bool,
    /// Every text block, one piece a line.
    pub text: String,
    /// The word for programs, when it was refused.
    pub code: Option<String>,
}

/// The token of a run, from the file that its agent was started with.
///
/// # Errors
/// There is no such run, or its file is not what an agent is given.
pub fn token_of(relay: &Relay, run: &RunId) -> io::Result<String> {
    let file = relay.place().join("data/runs").join(run.as_str()).join("mcp.json");
    let config: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let token = config["mcpServers"]["vibe-relay"]["env"]["VIBE_RELAY_TOKEN"].as_str();
    token.map(str::to_owned).ok_or_else(|| io::Error::other(format!("no token in {config}")))
}

/// The request that calls a tool, in the era without sessions.
pub fn request(id: u64, tool: &str, arguments: Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": meta}})
}

/// What a tool answered, from the answer to a request.
///
/// # Errors
/// It is no tool's result.
pub fn answer(answer: &Value) -> io::Result<Answer> {
    let result = answer.get("result").ok_or_else(|| io::Error::other(answer.to_string()))?;
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    Ok(Answer {
        is_error: result["isError"] == true,
        text: texts.collect::<Vec<_>>().join("\n"),
        code: result["structuredContent"]["code"].as_str().map(str::to_owned),
    })
}

/// A stream over which the bearer of a token is told that its tools changed, as they do with its inbox.
#[derive(Debug)]
pub struct Ear {
    stream: reqwest::Response,
    text: String,
}

impl Ear {
    /// Listens on a connection of its own.
    ///
    /// # Errors
    /// The board does not answer, or does not let the bearer listen.
    pub async fn open(url: &str, token: &str) -> io::Result<Self> {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}});
        let parameters = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
        let request = reqwest::Client::new()
            .request(Method::POST, format!("{url}/mcp"))
            .bearer_auth(token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "subscriptions/listen")
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": parameters}));
        let stream = request.send().await.and_then(reqwest::Response::error_for_status).map_err(io::Error::other)?;
        let mut ear = Self { stream, text: String::new() };
        ear.hear("notifications/subscriptions/acknowledged").await?;
        Ok(ear)
    }

    /// Waits until it is told so once more.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn tools_changed(&mut self) -> io::Result<()> {
        self.hear("notifications/tools/list_changed").await
    }

    async fn hear(&mut self, method: &str) -> io::Result<()> {
        loop {
            if let Some(at) = self.text.find(method) {
                self.text.drain(..at + method.len());
                return Ok(());
            }
            let chunk = self.stream.chunk().await.map_err(io::Error::other)?;
            let chunk = chunk.ok_or_else(|| io::Error::other("the stream ended"))?;
            self.text += &String::from_utf8_lossy(&chunk);
        }
    }
}

/// Calls a tool of the board as the bearer of `token`.
///
/// # Errors
/// The board does not answer, or not with a tool's result.
pub async fn call(board: &Client, token: &str, tool: &str, arguments: Value) -> io::Result<Answer> {
    call_with(&reqwest::Client::new(), &board.url, token, tool, arguments).await
}

/// The same over connections that are kept.
///
/// # Errors
/// The board does not answer, or not with a tool's result.
pub async fn call_with(client: &reqwest::Client, url: &str, token: &str, tool: &str, arguments: Value) -> io::Result<Answer> {
    let request = client
        .request(Method::POST, format!("{url}/mcp"))
        .bearer_auth(token)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .json(&request(1, tool, arguments));
    answer(&request.send().await.map_err(io::Error::other)?.json().await.map_err(io::Error::other)?)
}
