//! A plain MCP client that makes one POST request per call, with any token. It must not know what a tool does.

use std::io;

use domain::id::RunId;
use reqwest::Method;
use serde_json::{Value, json};

use crate::client::Client;
use crate::server::TestServer;

const VERSION: &str = "2026-07-28";

/// The result of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub is_error: bool,
    /// All text blocks, joined by line breaks.
    pub text: String,
    /// The refusal code, if the call was refused.
    pub code: Option<String>,
}

/// Reads the token of a run from the MCP configuration of its agent.
///
/// # Errors
/// The run does not exist, or its configuration contains no token.
pub fn token_of(server: &TestServer, run: &RunId) -> io::Result<String> {
    let prefix = format!("{run}-");
    let is_folder = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().starts_with(&prefix);
    let folder = std::fs::read_dir(server.root().join("data/runs"))?.filter_map(Result::ok).find(is_folder);
    let folder = folder.ok_or_else(|| io::Error::other(format!("{run} has no folder")))?;
    let config: Value = serde_json::from_str(&std::fs::read_to_string(folder.path().join("mcp.json"))?)?;
    let token = config["mcpServers"]["vibe-relay"]["env"]["VIBE_RELAY_TOKEN"].as_str();
    token.map(str::to_owned).ok_or_else(|| io::Error::other(format!("no token in {config}")))
}

/// A request that calls a tool, in the protocol version without sessions.
pub fn request(id: u64, tool: &str, arguments: Value) -> Value {
    let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool, "arguments": arguments, "_meta": meta}})
}

/// Reads the result of a tool call from a JSON-RPC response.
///
/// # Errors
/// The response contains no result.
pub fn parse_answer(response: &Value) -> io::Result<Answer> {
    let result = response.get("result").ok_or_else(|| io::Error::other(response.to_string()))?;
    let texts = result["content"].as_array().into_iter().flatten().filter_map(|block| block["text"].as_str());
    Ok(Answer {
        is_error: result["isError"] == true,
        text: texts.collect::<Vec<_>>().join("\n"),
        code: result["structuredContent"]["code"].as_str().map(str::to_owned),
    })
}

/// A notification stream. The board announces changed tools on it, which happens whenever the inbox changes.
#[derive(Debug)]
pub struct ChangeListener {
    stream: reqwest::Response,
    text: String,
}

impl ChangeListener {
    /// Opens the stream on its own connection.
    ///
    /// # Errors
    /// The board does not respond or rejects the token.
    pub async fn open(url: &str, token: &str) -> io::Result<Self> {
        Self::open_for(url, token, &[]).await
    }

    /// The same, also for changes of these resources.
    ///
    /// # Errors
    /// The board does not respond or rejects the token.
    pub async fn open_for(url: &str, token: &str, resources: &[&str]) -> io::Result<Self> {
        let meta = json!({"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}});
        let parameters = json!({"notifications": {"toolsListChanged": true, "resourceSubscriptions": resources}, "_meta": meta});
        let request = reqwest::Client::new()
            .request(Method::POST, format!("{url}/mcp"))
            .bearer_auth(token)
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", VERSION)
            .header("mcp-method", "subscriptions/listen")
            .json(&json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": parameters}));
        let stream = request.send().await.and_then(reqwest::Response::error_for_status).map_err(io::Error::other)?;
        let mut listener = Self { stream, text: String::new() };
        listener.wait_for_notification("notifications/subscriptions/acknowledged").await?;
        Ok(listener)
    }

    /// Waits for the next notification of changed tools.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn tools_changed(&mut self) -> io::Result<()> {
        self.wait_for_notification("notifications/tools/list_changed").await
    }

    /// Waits for the next notification of a changed resource.
    ///
    /// # Errors
    /// The stream ended.
    pub async fn resource_changed(&mut self) -> io::Result<()> {
        self.wait_for_notification("notifications/resources/updated").await
    }

    async fn wait_for_notification(&mut self, method: &str) -> io::Result<()> {
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
/// The board does not respond with a tool result.
pub async fn call(board: &Client, token: &str, tool: &str, arguments: Value) -> io::Result<Answer> {
    call_with(&reqwest::Client::new(), &board.url, token, tool, arguments).await
}

/// Calls a tool and reuses the connections of `client`.
///
/// # Errors
/// The board does not respond with a tool result.
pub async fn call_with(client: &reqwest::Client, url: &str, token: &str, tool: &str, arguments: Value) -> io::Result<Answer> {
    send(client, url, token, tool, &request(1, tool, arguments)).await
}

/// Calls a tool with an id. The board executes a call once, however often it is repeated with this id.
///
/// # Errors
/// The board does not respond with a tool result.
pub async fn call_once(client: &reqwest::Client, url: &str, token: &str, tool: &str, arguments: Value, call_id: &str) -> io::Result<Answer> {
    let mut request = request(1, tool, arguments);
    request["params"]["_meta"]["vibe-relay/callId"] = json!(call_id);
    send(client, url, token, tool, &request).await
}

async fn send(client: &reqwest::Client, url: &str, token: &str, tool: &str, request: &Value) -> io::Result<Answer> {
    let request = client
        .request(Method::POST, format!("{url}/mcp"))
        .bearer_auth(token)
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", VERSION)
        .header("mcp-method", "tools/call")
        .header("mcp-name", tool)
        .json(request);
    parse_answer(&request.send().await.map_err(io::Error::other)?.json().await.map_err(io::Error::other)?)
}
