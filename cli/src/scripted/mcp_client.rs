//! The scripted agent's side of MCP: one server over stdio, newline JSON-RPC in protocol 2025-11-25. Must not know the board's tools.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use runner::process::{self, ProcessError};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout};

use super::tool::Outcome;

/// How long a server may take to answer `initialize` and `tools/list`: Claude Code's default of `MCP_TIMEOUT`.
const START_TIMEOUT: Duration = Duration::from_secs(30);
/// How long a server may take to exit after its standard input is closed.
const END_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Debug, Deserialize)]
struct ConfigFile {
    #[serde(rename = "mcpServers")]
    servers: BTreeMap<String, ServerConfig>,
}

/// One entry of an `--mcp-config`. Other keys (`type`, `alwaysLoad`) are ignored.
#[derive(Debug, Clone, Deserialize)]
struct ServerConfig {
    command: String,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// The reason why an `--mcp-config` is not valid.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConfigError {
    #[error("the MCP config {} could not be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("the MCP config is not valid: it needs mcpServers.NAME.command")]
    Json(#[from] serde_json::Error),
    #[error("the MCP config names {0} servers: the scripted agent connects to exactly one")]
    Count(usize),
}

/// The reason why a call has no answer.
#[derive(Debug, thiserror::Error)]
enum CallError {
    #[error("Connection closed")]
    Closed,
    #[error("MCP error {code}: {message}")]
    Refused { code: i64, message: String },
    #[error(transparent)]
    Start(#[from] ProcessError),
    #[error("the MCP server did not answer within {} s", START_TIMEOUT.as_secs())]
    Timeout,
}

/// The server to connect to.
#[derive(Debug)]
pub(super) struct McpServer {
    name: String,
    config: ServerConfig,
    /// The working folder of the server.
    folder: PathBuf,
    connection: Option<Connection>,
    tools: Vec<String>,
}

#[derive(Debug)]
struct Connection {
    child: Child,
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl McpServer {
    /// Reads the config (a file, or JSON itself) without starting anything.
    ///
    /// # Errors
    /// The config cannot be read or does not name exactly one stdio server.
    pub(super) fn read(config: &str, folder: &Path) -> Result<Self, ConfigError> {
        let text = if config.trim_start().starts_with('{') {
            config.to_owned()
        } else {
            std::fs::read_to_string(config).map_err(|source| ConfigError::Read { path: config.into(), source })?
        };
        let ConfigFile { mut servers } = serde_json::from_str(&text)?;
        let count = servers.len();
        let (name, config) = servers.pop_first().filter(|_| count == 1).ok_or(ConfigError::Count(count))?;
        Ok(Self { name, config, folder: folder.to_owned(), connection: None, tools: Vec::new() })
    }

    /// Starts the server and lists its tools. A failure is reported on standard error and leaves the server unconnected, as in Claude Code.
    pub(super) async fn start(&mut self) {
        if let Err(error) = self.connect().await {
            let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("MCP server {}: {error}\n", self.name));
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The status in Claude Code's `init` line.
    pub(super) fn status(&self) -> &'static str {
        if self.connection.is_some() { "connected" } else { "failed" }
    }

    /// Full names of the server's tools.
    pub(super) fn tools(&self) -> &[String] {
        &self.tools
    }

    /// Calls a tool by its full name. `id` is the tool call's id in the stream; a bridge replaces it with its own.
    pub(super) async fn call(&mut self, tool: &str, input: &Map<String, Value>, id: &str) -> Outcome {
        let prefix = format!("mcp__{}__", self.name);
        let Some(name) = tool.strip_prefix(&prefix).filter(|_| self.tools.iter().any(|known| known == tool)) else {
            return Outcome::error(format!("No such tool available: {tool}"));
        };
        let parameters = json!({"name": name, "arguments": input, "_meta": {"claudecode/toolUseId": id, "progressToken": 1}});
        match self.request(parameters).await {
            Ok(result) => outcome(&result),
            Err(error) => Outcome::error(error.to_string()),
        }
    }

    async fn request(&mut self, parameters: Value) -> Result<Value, CallError> {
        if self.connection.is_none() {
            self.connect().await?;
        }
        let connection = self.connection.as_mut().ok_or(CallError::Closed)?;
        let answer = connection.request("tools/call", parameters).await;
        if matches!(answer, Err(CallError::Closed)) {
            // The next call restarts the server.
            self.connection = None;
        }
        answer
    }

    async fn connect(&mut self) -> Result<(), CallError> {
        let mut connection = Connection::open(&self.config, &self.folder)?;
        let listing = tokio::time::timeout(START_TIMEOUT, connection.handshake());
        let tools = listing.await.map_err(|_| CallError::Timeout)??;
        let names = tools["tools"].as_array().into_iter().flatten().filter_map(|tool| tool["name"].as_str());
        self.tools = names.map(|name| format!("mcp__{}__{name}", self.name)).collect();
        self.connection = Some(connection);
        Ok(())
    }

    /// Closes the server's standard input, and kills the server if it does not exit.
    pub(super) async fn stop(&mut self) {
        if let Some(Connection { mut child, stdin, .. }) = self.connection.take() {
            drop(stdin);
            // Dropping the child kills it if it is still running.
            let _ = tokio::time::timeout(END_TIMEOUT, child.wait()).await;
        }
    }
}

impl Connection {
    fn open(config: &ServerConfig, folder: &Path) -> Result<Self, CallError> {
        let variables: Vec<_> = config.env.clone().into_iter().collect();
        let mut child = process::pipe_child(Path::new(&config.command), &config.args, folder, &variables)?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else { return Err(CallError::Closed) };
        Ok(Self { child, stdin, stdout: BufReader::new(stdout).lines(), last_id: 0 })
    }

    async fn handshake(&mut self) -> Result<Value, CallError> {
        let client = json!({"name": "vibe-relay scripted agent", "version": env!("CARGO_PKG_VERSION")});
        let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        self.request("initialize", hello).await?;
        self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await?;
        self.request("tools/list", json!({})).await
    }

    async fn request(&mut self, method: &str, parameters: Value) -> Result<Value, CallError> {
        self.last_id += 1;
        let id = json!(self.last_id);
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters})).await?;
        loop {
            let line = self.stdout.next_line().await.ok().flatten().ok_or(CallError::Closed)?;
            let Ok(mut message) = serde_json::from_str::<Value>(&line) else { continue };
            if message.get("method").is_some() {
                self.answer(&message).await?;
            } else if message["id"] == id {
                if let Some(error) = message.get("error") {
                    let text = error["message"].as_str().unwrap_or_default().to_owned();
                    return Err(CallError::Refused { code: error["code"].as_i64().unwrap_or_default(), message: text });
                }
                return Ok(message["result"].take());
            }
        }
    }

    /// Answers a request of the server; notifications need no answer.
    async fn answer(&mut self, message: &Value) -> Result<(), CallError> {
        let Some(id) = message.get("id") else { return Ok(()) };
        if message["method"] == "ping" {
            return self.send(&json!({"jsonrpc": "2.0", "id": id, "result": {}})).await;
        }
        self.send(&json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "Method not found"}})).await
    }

    async fn send(&mut self, message: &Value) -> Result<(), CallError> {
        self.stdin.write_all(format!("{message}\n").as_bytes()).await.map_err(|_| CallError::Closed)
    }
}

/// Converts a result: a model reads only its text blocks.
fn outcome(result: &Value) -> Outcome {
    let blocks = result["content"].as_array().into_iter().flatten();
    let text = blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n");
    Outcome { structured: result["content"].clone(), text, is_error: result["isError"] == true }
}
