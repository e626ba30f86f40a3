//! The bridge: the MCP server that an agent starts (`vibe-relay mcp --task-id X`), which passes requests on to the server of the board.
//!
//! It speaks all revisions of the protocol and holds no session. Each request is one POST, so the server may be restarted or replaced while
//! agents work; one more connection listens for changes. It must not open a database, and writes only messages to stdout.

mod call_tool;
mod inbox_changed;
mod lines;
mod listen;
mod post;
mod server_call;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use domain::id::TaskId;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams, CompleteResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, GetPromptResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, ServerConfig, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, ServerInitializeError, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{broadcast, watch};

pub use call_tool::{CallError, call_tool};
pub use inbox_changed::inbox_changed;

use self::lines::Lines;
use self::listen::Change;
use self::post::IdleConnection;
use crate::handler::{self, REFRESH_TOKEN, REGISTER};
use crate::resource::Uri;
use crate::{meta, prompt, reply};

/// How long a list or a resource waits for a server. Clients give up after 30 to 60 s, and then show no reason.
const LIST_TIMEOUT: Duration = Duration::from_secs(15);
/// How long a call waits for a server that is being restarted.
const CALL_TIMEOUT: Duration = Duration::from_secs(120);
/// How many changes wait for a client that does not read them.
const MAX_PENDING: usize = 256;

/// The arguments of a bridge.
#[derive(Debug, Clone)]
pub struct BridgeOptions {
    /// The task it works for. With a run's token it must be the task of that run.
    pub task_id: Option<TaskId>,
    /// The database of the server; the socket is next to it.
    pub db_path: PathBuf,
    /// The token of a run or an agent, or an invite token. Without it, the human's own is read from the file `token` next to the database.
    /// A guest that registers continues with the token that it receives.
    pub token: Option<String>,
    /// The common `.git` folder of the repository in which the client works. It chooses the project of a person's call that names none.
    pub git_dir: Option<String>,
    /// Whether results keep their structured content, for programs.
    pub structured: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum BridgeError {
    #[error(
        "no token was given, and your own in {} could not be read ({reason}): start `vibe-relay serve`, let a running board write it again with \
         `vibe-relay doctor`, or set VIBE_RELAY_TOKEN",
        path.display()
    )]
    Token { path: PathBuf, reason: std::io::Error },
    #[error("the MCP client did not start as the protocol requires: {0}")]
    Client(#[source] Box<ServerInitializeError>),
    #[error("{} no longer exists, so there is no board to connect to", folder.display())]
    FolderMissing { folder: PathBuf },
    #[error("the bridge crashed: {0}")]
    Crashed(#[from] tokio::task::JoinError),
}

/// Serves the MCP client on stdin and stdout until it closes stdin.
///
/// # Errors
/// When there is no token, the client does not speak MCP, or the folder of the database was deleted.
pub async fn bridge(options: BridgeOptions) -> Result<(), BridgeError> {
    let (input, output) = rmcp::transport::stdio_pipes();
    serve(options, input, output).await
}

pub(crate) async fn serve<R, W>(options: BridgeOptions, input: R, output: W) -> Result<(), BridgeError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let token = match options.token {
        Some(token) => token,
        None => {
            let path = options.db_path.with_file_name("token");
            let text = std::fs::read_to_string(&path).map_err(|reason| BridgeError::Token { path, reason })?;
            text.trim().to_owned()
        }
    };
    let bridge = Arc::new(Bridge::new(options.db_path, options.task_id, options.git_dir, token, options.structured));
    let serving = async {
        match Arc::clone(&bridge).serve(Lines::new(input, output)).await {
            Ok(service) => service.waiting().await.map(|_| ()).map_err(BridgeError::from),
            // The client left before its first message.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(BridgeError::Client(Box::new(error))),
        }
    };
    tokio::select! {
        ended = serving => ended,
        missing = bridge.listen_until_folder_is_missing() => Err(missing),
    }
}

#[derive(Debug)]
struct Bridge {
    /// Whether results keep their structured content.
    structured: bool,
    db_path: PathBuf,
    task_id: Option<TaskId>,
    git_dir: Option<String>,
    /// The token it was started with.
    first_token: String,
    /// The token it uses: the first, or the one it received when it registered or refreshed its token.
    token: watch::Sender<String>,
    /// Changes that the server announced.
    changes: broadcast::Sender<Change>,
    /// The resources the client is subscribed to, with the number of subscriptions.
    subscribed: watch::Sender<BTreeMap<String, usize>>,
    connection: IdleConnection,
}

impl ServerHandler for Bridge {
    fn get_info(&self) -> ServerConfig {
        handler::info(handler::capabilities())
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        tokio::spawn(listen::forward_legacy(self.changes.subscribe(), self.subscribed.subscribe(), context.peer));
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        // The transport removes what the server does not offer.
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let changes = self.changes.subscribe();
        let resources: Vec<String> = context.accepted().resource_subscriptions.iter().flatten().cloned().collect();
        for uri in &resources {
            self.add_subscription(uri);
        }
        listen::forward_modern(changes, &resources, &context).await;
        for uri in &resources {
            self.remove_subscription(uri);
        }
        Ok(())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompt::list())
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: RequestContext<RoleServer>) -> Result<GetPromptResponse, ErrorData> {
        header_safe(&request.name).ok_or_else(|| ErrorData::invalid_params(format!("prompt {} does not exist", request.name), None))?;
        let parameters = json!({"name": request.name, "arguments": request.arguments.unwrap_or_default()});
        Ok(self.forward::<GetPromptResult>("prompts/get", Some(&request.name), parameters, &context).await?.into())
    }

    /// The server declares no completions, so the bridge does not answer for them.
    async fn complete(&self, _: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let list: ListToolsResult = self.forward("tools/list", None, json!({}), &context).await?;
        Ok(handler::private(list.tools))
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListResourcesResult, ErrorData> {
        self.forward("resources/list", None, json!({}), &context).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.forward("resources/templates/list", None, json!({}), &context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        Ok(self.read(&request.uri, &context).await?.into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        // The server refuses a resource that the caller may not read.
        self.read(&request.uri, &context).await?;
        self.subscribed.send_if_modified(|subscribed| subscribed.insert(request.uri, 1).is_none());
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, _: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        self.remove_subscription(&request.uri);
        Ok(())
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        header_safe(&request.name).ok_or_else(|| handler::unknown_tool(&request.name))?;
        let parameters = json!({
            "name": request.name,
            "arguments": request.arguments.unwrap_or_default(),
            "_meta": self.meta(),
        });
        let call = self.call_server("tools/call", Some(&request.name), parameters, CALL_TIMEOUT);
        let answer = tokio::select! {
            answer = call => answer,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        let mut result = match answer {
            Ok(answer) => serde_json::from_value::<CallToolResult>(result_of(answer)?).map_err(unexpected)?,
            // A tool-level error reaches the model, which decides what to do.
            Err(unavailable) => reply::error(unavailable.code(), &unavailable.to_string(), &unavailable.hint(), Value::Null),
        };
        if let (REGISTER | REFRESH_TOKEN, Some(token)) = (request.name.as_ref(), handler::given_token(&result)) {
            self.token.send_replace(token.to_owned());
            self.announce(Change::Tools);
        }
        // Claude Code shows its model the structured content instead of the text if a result has both, and the text is written for models.
        if !self.structured {
            result.structured_content = None;
        }
        Ok(result.into())
    }
}

impl Bridge {
    fn new(db_path: PathBuf, task_id: Option<TaskId>, git_dir: Option<String>, token: String, structured: bool) -> Self {
        Self {
            structured,
            db_path,
            task_id,
            git_dir,
            token: watch::Sender::new(token.clone()),
            first_token: token,
            changes: broadcast::Sender::new(MAX_PENDING),
            subscribed: watch::Sender::default(),
            connection: IdleConnection::default(),
        }
    }

    /// Sends a request that only reads, and returns its result.
    async fn forward<T: DeserializeOwned>(
        &self,
        method: &str,
        name: Option<&str>,
        mut parameters: Value,
        context: &RequestContext<RoleServer>,
    ) -> Result<T, ErrorData> {
        parameters["_meta"] = self.meta();
        let call = self.call_server(method, name, parameters, LIST_TIMEOUT);
        let answer = tokio::select! {
            answer = call => answer.map_err(|unavailable| ErrorData::internal_error(format!("{unavailable} {}", unavailable.hint()), None))?,
            () = context.ct.cancelled() => return Err(cancelled()),
        };
        serde_json::from_value(result_of(answer)?).map_err(unexpected)
    }

    async fn read(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<ReadResourceResult, ErrorData> {
        let uri = uri.parse::<Uri>()?.to_string();
        self.forward("resources/read", Some(&uri), json!({"uri": uri}), context).await.map_err(|mut error: ErrorData| {
            // The SDK has a code of its own for a missing resource, which it translates for the revision of the client.
            if error.code == ErrorCode::INVALID_PARAMS {
                error.code = ErrorCode::RESOURCE_NOT_FOUND;
            }
            error
        })
    }

    fn add_subscription(&self, uri: &str) {
        self.subscribed.send_if_modified(|subscribed| {
            let count = subscribed.entry(uri.to_owned()).or_default();
            *count += 1;
            *count == 1
        });
    }

    fn remove_subscription(&self, uri: &str) {
        self.subscribed.send_if_modified(|subscribed| {
            let Some(count) = subscribed.get_mut(uri) else { return false };
            *count -= 1;
            *count == 0 && subscribed.remove(uri).is_some()
        });
    }

    /// Notifies the client of a change.
    fn announce(&self, change: Change) {
        // Without a receiver, the client does not listen.
        drop(self.changes.send(change));
    }

    /// Returns to the first token, with which it can register again, because `refused` was revoked. False when that was the first.
    fn revert_to_first_token(&self, refused: &str) -> bool {
        if refused == self.first_token {
            return false;
        }
        let reverted = self.token.send_if_modified(|token| {
            let is_refused = token == refused;
            if is_refused {
                token.clone_from(&self.first_token);
            }
            is_refused
        });
        if reverted {
            self.announce(Change::Tools);
        }
        true
    }

    /// Returns the `_meta` of a request for the client: revision, idempotency key, task and repository.
    fn meta(&self) -> Value {
        let mut values = base_meta(&db::new_uuid());
        if let Some(task) = &self.task_id {
            values[meta::TASK_ID] = task.as_str().into();
        }
        if let Some(git_dir) = &self.git_dir {
            values[meta::GIT_DIR] = git_dir.as_str().into();
        }
        values
    }

    /// The folder of the database and everything else that belongs to the board.
    fn folder(&self) -> &Path {
        self.db_path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

/// Returns a name that may be sent in a header; none for any other.
fn header_safe(name: &str) -> Option<&str> {
    (!name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic())).then_some(name)
}

/// Returns the `_meta` of every request: the revision, and the idempotency key.
fn base_meta(call_id: &str) -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": post::VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "vibe-relay bridge", "version": env!("CARGO_PKG_VERSION")},
        meta::CALL_ID: call_id,
    })
}

/// Returns the result or the error of a JSON-RPC response.
fn result_of(mut answer: Value) -> Result<Value, ErrorData> {
    if let Some(error) = answer.get_mut("error") {
        let code = error["code"].as_i64().and_then(|code| i32::try_from(code).ok()).map_or(ErrorCode::INTERNAL_ERROR, ErrorCode);
        let message = error["message"].as_str().unwrap_or_default().to_owned();
        return Err(ErrorData::new(code, message, error.get_mut("data").map(Value::take)));
    }
    Ok(answer["result"].take())
}

fn unexpected(error: serde_json::Error) -> ErrorData {
    ErrorData::internal_error(format!("the board returned an unexpected result: {error}"), None)
}

fn cancelled() -> ErrorData {
    ErrorData::internal_error("the request was cancelled", None)
}
