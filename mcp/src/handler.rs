//! The MCP server itself: which tools a caller sees, and the way of a call from its token to its result.
//!
//! What a tool does is in `tools`, how an outcome reads in `reply`, what resources hold in `resource`, how news travel in `push`.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use db::{Caller, Db};
use domain::id::TaskId;
use domain::refusal::Refusal;
use http::request::Parts;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, Extensions, Implementation, InitializeRequestParams, InitializeResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::call::{self, Call};
use crate::notice::Notices;
use crate::push::{Push, stream};
use crate::resource::{self, Uri};
use crate::server::Identity;
use crate::{meta, reply, tools};

/// The tool that says what waits, and in whose description the alert stands.
pub(crate) const CHECK_INBOX: &str = "check_inbox";
/// The tool that gives a name to whoever has none, and with it a token.
pub(crate) const REGISTER: &str = "register";

/// Cheap to clone: the transport makes one for every request and session.
#[derive(Debug, Clone)]
pub(crate) struct Handler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    tools: ToolRouter<Handler>,
    notices: Notices,
    push: Arc<Push>,
    _end: DropGuard,
}

impl Handler {
    /// With `shutdown`, or with the last clone, nobody is told anything any more.
    pub(crate) fn new(db: Db, push: Arc<Push>, shutdown: &CancellationToken) -> Self {
        let end = shutdown.child_token();
        push.start(db.clone(), end.clone());
        Self(Arc::new(Inner { db, tools: tools::routes(), notices: Notices::default(), push, _end: end.drop_guard() }))
    }

    /// Carries a call out for a caller that may make it, and takes care that a session acts as who it registered as.
    async fn carry_out(
        &self,
        caller: Caller,
        request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let scope = match scope(&caller, &context) {
            Ok(scope) => scope,
            Err(refusal) => return Ok(reply::refused(&refusal).into()),
        };
        if !tools::may(&caller, &request.name) {
            return Ok(reply::refused(&tools::refusal(&caller, &request.name)).into());
        }
        if let Err(refusal) = tools::claim(&caller, &request.name, request.arguments.as_ref()) {
            return Ok(reply::refused(&refusal).into());
        }
        let call_id = meta::call_id(&context.meta).map(|id| call::remembered_as(id, &request.name, request.arguments.as_ref(), scope.as_ref()));
        let caller = caller.with_call_id(call_id);
        let session = identity(&context.extensions)?.session.clone();
        context.extensions.insert(Call { db: self.0.db.clone(), caller: caller.clone(), scope });
        let tool = request.name.clone();
        let mut response = self.0.tools.call(ToolCallContext::new(self, request, context)).await?;
        let CallToolResponse::Complete(result) = &mut response else { return Ok(response) };
        if let (Some(session), Caller::Invite(_), REGISTER, Some(token)) = (session, &caller, tool.as_ref(), given_token(result))
            && let Err(error) = session.registered(&self.0.db, token).await
        {
            tracing::warn!(%error, "a session goes on under its room's token");
        }
        let inbox_was_read = tool == CHECK_INBOX && result.is_error != Some(true);
        match self.0.notices.take(&self.0.db, &caller, inbox_was_read).await {
            Ok(notices) => reply::add_notices(result, &notices),
            Err(error) => tracing::warn!(%error, ?caller, "no notices could be read"),
        }
        Ok(response)
    }
}

/// What every server of these tools says about itself, the bridge included.
pub(crate) fn info(capabilities: ServerCapabilities) -> ServerConfig {
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new("vibe-relay", env!("CARGO_PKG_VERSION")))
        .with_instructions(tools::INSTRUCTIONS)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        info(ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_resources().enable_resources_subscribe().build())
    }

    async fn initialize(&self, request: InitializeRequestParams, context: RequestContext<RoleServer>) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        // The modern era, which never initializes, has no log messages.
        answer.capabilities.logging = Some(rmcp::model::JsonObject::new());
        Ok(answer)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(Identity { session: Some(session), .. }) = identity(&context.extensions).cloned() else { return };
        if session.is_told() {
            return;
        }
        let db = self.0.db.clone();
        tokio::spawn(async move { stream::legacy(&db, session, context.peer).await });
    }

    #[expect(deprecated, reason = "only the earlier revisions have log messages")]
    async fn set_level(&self, request: rmcp::model::SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        if let Some(session) = &identity(&context.extensions)?.session {
            // Of all levels, only this one is above that of an alert.
            session.silent.store(matches!(request.level, rmcp::model::LoggingLevel::Emergency), Ordering::Relaxed);
        }
        Ok(())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let caller = &identity(&context.extensions)?.caller;
        let mut list = tools::seen_by(caller, &self.0.tools);
        if let Some(tool) = list.iter_mut().find(|tool| tool.name == CHECK_INBOX) {
            match stream::unread(&self.0.db, caller).await {
                Ok(unread) => alert(tool, unread.alert()),
                Err(error) => tracing::warn!(%error, ?caller, "a list of tools went out without its alert"),
            }
        }
        Ok(private(list))
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let caller = identity(&context.extensions)?.caller.clone();
        if self.0.tools.get(&request.name).is_none() {
            return Err(unknown_tool(&request.name));
        }
        if let Err(error) = self.0.db.record_heartbeat(&caller).await {
            tracing::warn!(%error, ?caller, "a sign of life was lost");
        }
        self.carry_out(caller, request, context).await
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.get(name).cloned()
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListResourcesResult, ErrorData> {
        resource::list(&self.0.db, &identity(&context.extensions)?.caller).await
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(resource::templates())
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri: Uri = request.uri.parse()?;
        Ok(uri.read(&self.0.db, &identity(&context.extensions)?.caller).await?.into())
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let (uri, identity): (Uri, _) = (request.uri.parse()?, identity(&context.extensions)?);
        uri.admit(&self.0.db, &identity.caller).await.map_err(|error| uri.failed(error))?;
        if let Some(session) = &identity.session {
            session.listener.watch(uri);
        }
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let uri: Uri = request.uri.parse()?;
        if let Some(session) = &identity(&context.extensions)?.session {
            session.listener.forget(&uri);
        }
        Ok(())
    }

    /// The transport takes away what is not offered. Whether the caller may see a resource is judged in [`Self::listen`].
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let bearer = identity(&context.request_context().extensions)?.bearer.clone();
        stream::modern(&self.0.db, &self.0.push, &bearer, &context).await;
        Ok(())
    }
}

/// The task that a call is about unless it says otherwise.
fn scope(caller: &Caller, context: &RequestContext<RoleServer>) -> Result<Option<TaskId>, Refusal> {
    let given = meta::text(&context.meta, meta::TASK_ID).and_then(|id| id.parse::<TaskId>().ok());
    match (caller, given) {
        (Caller::Run(run), Some(given)) if given != run.task_id => Err(Refusal::WrongTask { task: given, own: run.task_id.clone() }),
        (Caller::Run(run), _) => Ok(Some(run.task_id.clone())),
        (Caller::Human | Caller::Runner | Caller::Agent(_) | Caller::Invite(_), given) => Ok(given),
    }
}

/// Puts an alert in front of a tool's description.
fn alert(tool: &mut Tool, alert: Option<String>) {
    if let Some(alert) = alert {
        tool.description = Some(format!("{alert}\n\n{}", tool.description.as_deref().unwrap_or_default()).into());
    }
}

/// The token that whoever registered was given.
pub(crate) fn given_token(result: &CallToolResult) -> Option<&str> {
    result.structured_content.as_ref().filter(|_| result.is_error != Some(true))?.get("token").and_then(Value::as_str)
}

/// A list of tools that only its caller may keep, and not for long: it depends on who asks.
pub(crate) fn private(tools: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

pub(crate) fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no tool named {name}"), None)
}

fn identity(extensions: &Extensions) -> Result<&Identity, ErrorData> {
    let identity = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Identity>());
    identity.ok_or_else(|| ErrorData::internal_error("the request came without its caller", None))
}
