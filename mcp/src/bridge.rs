//! The bridge: the MCP server that an agent starts (`vibe-relay mcp --task-id X`), a thin pipe to the server that owns the board.
//!
//! It answers either era of the protocol by itself and holds no session; each call is one POST, so the server may be restarted or replaced
//! while agents work, and one more connection listens for what changes. It opens no database, and stdout carries the protocol alone.

mod ask;
mod listen;
mod once;
mod post;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::id::TaskId;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ErrorCode, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext};
use rmcp::transport::IntoTransport;
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde_json::{Value, json};
use tokio::sync::watch;

pub use once::{CallError, call_tool};

use self::post::Kept;
use crate::handler::{self, REGISTER};
use crate::{meta, reply};

/// How long the first list of tools waits for a server: what clients allow a server to start up.
const LIST_WAIT: Duration = Duration::from_secs(20);
/// How long a call waits for a server that is away.
const CALL_WAIT: Duration = Duration::from_secs(120);

/// What a bridge is started with.
#[derive(Debug, Clone)]
pub struct BridgeOptions {
    /// The task that it works for. With a run's token it must be that run's.
    pub task_id: Option<TaskId>,
    /// The database of the server, beside which `server.json` is.
    pub db_path: PathBuf,
    /// The token of a run, an agent or a room; when missing, the person's own is read from the file `token` beside the database. Whoever
    /// registers with a room's goes on with the one that it is given.
    pub token: Option<String>,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error("no token was given and {} could not be read ({source}): start `vibe-relay serve` once, or set VIBE_RELAY_TOKEN", path.display())]
    Token { path: PathBuf, source: std::io::Error },
    #[error("the MCP client did not begin as the protocol says: {0}")]
    Client(#[source] Box<ServerInitializeError>),
    #[error("{} is gone, and with it the board: there is nothing left to bridge to", folder.display())]
    Gone { folder: PathBuf },
    #[error("the bridge broke off: {0}")]
    Broken(#[from] tokio::task::JoinError),
}

/// Serves the MCP client on stdin and stdout until it closes stdin.
///
/// # Errors
/// When there is no token, the client does not speak MCP, or the folder of the database went away for good.
pub async fn bridge(options: BridgeOptions) -> Result<(), BridgeError> {
    serve(options, rmcp::transport::stdio_pipes()).await
}

pub(crate) async fn serve<T, E, A>(options: BridgeOptions, client: T) -> Result<(), BridgeError>
where
    T: IntoTransport<RoleServer, E, A>,
    E: std::error::Error + Send + Sync + 'static,
{
    let token = match options.token {
        Some(token) => token,
        None => {
            let path = options.db_path.with_file_name("token");
            let text = std::fs::read_to_string(&path).map_err(|source| BridgeError::Token { path, source })?;
            text.trim().to_owned()
        }
    };
    let bridge = Arc::new(Bridge::new(options.db_path, options.task_id, token));
    let serving = async {
        match Arc::clone(&bridge).serve(client).await {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(BridgeError::from),
            // It went before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(BridgeError::Client(Box::new(error))),
        }
    };
    tokio::select! {
        ended = serving => ended,
        gone = bridge.listen_on() => Err(gone),
    }
}

#[derive(Debug)]
struct Bridge {
    db_path: PathBuf,
    task_id: Option<TaskId>,
    /// The token that it was started with.
    first: String,
    /// The token that it shows: the first, or the one that it was given when it registered.
    token: watch::Sender<String>,
    /// How often the server said that the tools changed.
    changes: watch::Sender<u64>,
    kept: Kept,
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        handler::info(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().build())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(listen::legacy(self.changes.subscribe(), context.peer));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The transport takes away what is not offered.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        listen::modern(self.changes.subscribe(), &context).await;
        Ok(())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let asked = self.ask("tools/list", None, json!({"_meta": self.meta()}), LIST_WAIT);
        let answer = tokio::select! {
            answer = asked => answer.map_err(|away| ErrorData::internal_error(format!("{away} {}", away.hint()), None))?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let list: ListToolsResult = serde_json::from_value(result_of(answer)?).map_err(foreign)?;
        Ok(handler::private(list.tools))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        // The name travels in a header as well.
        if !request.name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(handler::unknown_tool(&request.name));
        }
        let parameters = json!({
            "name": request.name,
            "arguments": request.arguments.unwrap_or_default(),
            "_meta": self.meta(),
        });
        let asked = self.ask("tools/call", Some(&request.name), parameters, CALL_WAIT);
        let answer = tokio::select! {
            answer = asked => answer,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let mut result = match answer {
            Ok(answer) => serde_json::from_value::<CallToolResult>(result_of(answer)?).map_err(foreign)?,
            // What only the model can do something about is for the model to read.
            Err(away) => reply::error(away.code(), &away.to_string(), &away.hint(), Value::Null),
        };
        if let (REGISTER, Some(token)) = (request.name.as_ref(), handler::given_token(&result)) {
            self.token.send_replace(token.to_owned());
            self.tools_changed();
        }
        // Claude Code shows its model the structured content instead of the text where there are both, and the text is what is written
        // for a model.
        result.structured_content = None;
        Ok(result.into())
    }
}

impl Bridge {
    fn new(db_path: PathBuf, task_id: Option<TaskId>, token: String) -> Self {
        Self { db_path, task_id, token: watch::Sender::new(token.clone()), first: token, changes: watch::Sender::new(0), kept: Kept::default() }
    }

    /// Goes back to the first token, with which it can register again, because `refused` was worth nothing. False when that was the first.
    fn fall_back(&self, refused: &str) -> bool {
        if refused == self.first {
            return false;
        }
        let fell = self.token.send_if_modified(|token| {
            let is_refused = token == refused;
            if is_refused {
                token.clone_from(&self.first);
            }
            is_refused
        });
        if fell {
            self.tools_changed();
        }
        true
    }

    /// What every request for the client carries: the era, a name of the bridge's own by which a repetition of it is known, and the task.
    fn meta(&self) -> Value {
        let mut values = basics(&db::new_uuid());
        if let Some(task) = &self.task_id {
            values[meta::TASK_ID] = task.as_str().into();
        }
        values
    }

    /// Where the database and everything else of the board is.
    fn folder(&self) -> &Path {
        self.db_path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// What every request carries: the era, and a name by which a repetition of it is known.
fn basics(call_id: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": post::VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "vibe-relay bridge", "version": env!("CARGO_PKG_VERSION")},
        meta::CALL_ID: call_id,
    })
}

/// The result in a JSON-RPC answer, or the error that it is.
fn result_of(mut answer: Value) -> Result<Value, ErrorData> {
    if let Some(error) = answer.get_mut("error") {
        let code = error["code"].as_i64().and_then(|code| i32::try_from(code).ok()).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        return Err(ErrorData::new(code, message, error.get_mut("data").map(Value::take)));
    }
    Ok(answer["result"].take())
}

fn foreign(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the board answered something that is not understood: {error}"), None)
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
