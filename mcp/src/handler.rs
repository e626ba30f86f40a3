//! Answers the requests of the protocol: lists tools for a caller, dispatches calls, reads resources.
//!
//! It must not know what a tool does (`tools`), how a result is worded (`reply`) or how changes reach clients (`push`).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use db::{Caller, Db};
use domain::audit::AuditKind;
use domain::config::live::LiveConfig;
use domain::id::TaskId;
use domain::runs::run::RunRefusal;
use http::request::Parts;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CallToolResult, CompleteRequestMethod, CompleteRequestParams, CompleteResult, Extensions,
    GetPromptRequestParams, GetPromptResponse, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ServerCapabilities, ServerConfig, SetLevelRequestMethod, SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams,
};
use rmcp::service::{NotificationContext, RequestContext, SubscriptionContext};
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::answered::{Answers, Written};
use crate::bearer::Bearer;
use crate::call::{self, Call};
use crate::notice::Notices;
use crate::push::{Push, stream};
use crate::resource::{self, Uri};
use crate::server::{Identity, MessageSize};
use crate::tools::definition::ListingFacts;
use crate::{meta, prompt, reach, reply, tools};

/// The tool that returns unread messages. Its description starts with the alert.
pub(crate) const CHECK_INBOX: &str = "check_inbox";
/// Its answer can contain messages of the inbox too.
pub(crate) const ASK_ORACLE: &str = "ask_oracle";
/// The tool that gives a name and a token to a guest.
pub(crate) const REGISTER: &str = "register";
/// The tool that replaces the token of an agent.
pub(crate) const REFRESH_TOKEN: &str = "refresh_token";

/// Cheap to clone, because the transport clones it for every request and session.
#[derive(Debug, Clone)]
pub(crate) struct Handler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    config: watch::Receiver<LiveConfig>,
    tools: ToolRouter<Handler>,
    notices: Notices,
    answers: Answers,
    push: Arc<Push>,
    _end: DropGuard,
}

impl Handler {
    /// Creates the handler. Notifications stop at `shutdown`, or when the last clone is dropped.
    pub(crate) fn new(db: Db, config: watch::Receiver<LiveConfig>, push: Arc<Push>, shutdown: &CancellationToken) -> Self {
        let end = shutdown.child_token();
        push.start(db.clone(), end.clone());
        Self(Arc::new(Inner {
            db,
            config,
            tools: tools::routes(),
            notices: Notices::default(),
            answers: Answers::default(),
            push,
            _end: end.drop_guard(),
        }))
    }

    /// Looks up what an agent's list of tools depends on. The list is shorter if that fails, but its calls work.
    async fn listing_facts(&self, bearer: &Bearer) -> ListingFacts {
        let (db, caller) = (&self.0.db, &bearer.caller);
        let found = match caller {
            Caller::Agent(agent) => db.agent(&agent.project_id, &agent.name).await.map(|agent| ListingFacts {
                is_trusted: agent.trusted,
                is_lead: agent.is_lead(),
                reach: bearer.reach,
                ..ListingFacts::default()
            }),
            Caller::Run(run) => {
                db.features_in_use(&run.project_id, Some(caller)).await.map(|in_use| ListingFacts { in_use, ..ListingFacts::default() })
            }
            Caller::Person(_) | Caller::Runner | Caller::Invite(_) => return ListingFacts::default(),
        };
        found.unwrap_or_else(|error| {
            tracing::warn!(%error, ?caller, "a list of tools is shorter, because the facts for it could not be read");
            ListingFacts::default()
        })
    }

    async fn read(&self, bearer: &Bearer, uri: &str) -> Result<ReadResourceResponse, ErrorData> {
        let (uri, caller): (Uri, _) = (uri.parse()?, &bearer.caller);
        let tools = match uri {
            Uri::Server | Uri::Tools => tools::visible_to(caller, self.listing_facts(bearer).await, &self.0.tools),
            _ => Vec::new(),
        };
        Ok(uri.read(&self.0.db, caller, tools).await?.into())
    }

    /// Marks the messages of earlier answers as read: the agent that calls again has them. If that fails, they are shown again.
    async fn confirm_earlier_answers(&self, caller: &Caller) {
        let confirmed = self.0.answers.confirmed_by(caller);
        if confirmed.is_empty() {
            return;
        }
        if let Err(error) = self.0.db.confirm_inbox(caller, confirmed).await {
            tracing::warn!(%error, ?caller, "the messages of an earlier answer were not marked as read");
        }
    }

    /// Carries out a call if the caller may make it. A session acts as the agent that it registers as.
    async fn carry_out(
        &self,
        acting: Bearer,
        mut request: CallToolRequestParams,
        mut context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let caller = match reach::entered(&self.0.db, &acting, self.0.tools.get(&request.name), &mut request).await {
            Ok(caller) => caller,
            Err(error) => return Ok(reply::result(&request.name, Err(error.into())).into()),
        };
        let scope = match scope(&caller, &context) {
            Ok(scope) => scope,
            Err(refusal) => return Ok(reply::refused(&refusal.into()).into()),
        };
        if !tools::is_allowed(&caller, &request.name) {
            return Ok(reply::refused(&tools::refusal(&caller, &request.name)).into());
        }
        if let Err(refusal) = tools::check_identity(&caller, &request.name, request.arguments.as_ref()) {
            return Ok(reply::refused(&refusal.into()).into());
        }
        let call_id = meta::call_id(&context.meta).map(|id| call::idempotency_key(id, &request.name, request.arguments.as_ref(), scope.as_ref()));
        let caller = caller.with_call_id(call_id);
        let is_by_hook = tools::is_by_hook(&caller, &request.name);
        if !is_by_hook {
            self.confirm_earlier_answers(&caller).await;
        }
        let session = identity(&context.extensions)?.session.clone();
        let written = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Written>()).cloned();
        let git_dir = meta::text(&context.meta, meta::GIT_DIR).map(str::to_owned);
        context.extensions.insert(Call {
            db: self.0.db.clone(),
            config: self.0.config.clone(),
            bearer: acting,
            caller: caller.clone(),
            scope,
            git_dir,
        });
        let tool = request.name.clone();
        let mut response = self.0.tools.call(ToolCallContext::new(self, request, context)).await?;
        let CallToolResponse::Complete(result) = &mut response else { return Ok(response) };
        let is_own = matches!((&caller, tool.as_ref()), (Caller::Invite(_), REGISTER) | (Caller::Agent(_), REFRESH_TOKEN));
        if let (Some(session), Some(token)) = (session.filter(|_| is_own), given_token(result))
            && let Err(error) = session.registered(&self.0.db, token).await
        {
            tracing::warn!(%error, "a session was not switched to its new token");
        }
        let inbox_was_read = tool == CHECK_INBOX && result.is_error != Some(true);
        if let Some(written) = written.filter(|_| inbox_was_read || tool == ASK_ORACLE) {
            self.0.answers.add(&caller, shown_messages(result), written);
        }
        // Its model does not read the answer.
        if is_by_hook {
            return Ok(response);
        }
        match self.0.notices.take(&self.0.db, &caller, inbox_was_read).await {
            Ok(notices) => reply::add_notices(result, &notices),
            Err(error) => tracing::warn!(%error, ?caller, "the notices could not be read"),
        }
        Ok(response)
    }
}

/// Describes the server, also for the bridge.
pub(crate) fn info(capabilities: ServerCapabilities) -> ServerConfig {
    ServerConfig::new(capabilities)
        .with_server_info(Implementation::new("vibe-relay", env!("CARGO_PKG_VERSION")))
        .with_instructions(tools::INSTRUCTIONS)
}

/// Returns what the server offers in every revision, also through the bridge.
pub(crate) fn capabilities() -> ServerCapabilities {
    ServerCapabilities::builder().enable_tools().enable_tool_list_changed().enable_resources().enable_resources_subscribe().enable_prompts().build()
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        info(capabilities())
    }

    async fn initialize(&self, request: InitializeRequestParams, context: RequestContext<RoleServer>) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        // Revision 2026-07-28, which has no initialize, has no log messages either.
        answer.capabilities.logging = Some(rmcp::model::JsonObject::new());
        Ok(answer)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let Ok(Identity { session: Some(session), .. }) = identity(&context.extensions).cloned() else { return };
        if session.set_forwarder() {
            return;
        }
        let db = self.0.db.clone();
        tokio::spawn(async move { stream::legacy(&db, session, context.peer).await });
    }

    #[expect(deprecated, reason = "only the earlier revisions have log messages")]
    async fn set_level(&self, request: rmcp::model::SetLevelRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        // Log messages are declared to sessions alone.
        let Some(session) = &identity(&context.extensions)?.session else { return Err(ErrorData::method_not_found::<SetLevelRequestMethod>()) };
        // Only this level is above that of an alert.
        session.logs_disabled.store(matches!(request.level, rmcp::model::LoggingLevel::Emergency), Ordering::Relaxed);
        Ok(())
    }

    async fn list_prompts(&self, _: Option<PaginatedRequestParams>, _: RequestContext<RoleServer>) -> Result<ListPromptsResult, ErrorData> {
        Ok(prompt::list())
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: RequestContext<RoleServer>) -> Result<GetPromptResponse, ErrorData> {
        Ok({
            let prompts = self.0.config.borrow().config.prompts.clone();
            prompt::get(&self.0.db, &prompts, &identity(&context.extensions)?.acting.caller, &request).await
        }?
        .into())
    }

    /// The server declares no completions, so it does not answer for them.
    async fn complete(&self, _: CompleteRequestParams, _: RequestContext<RoleServer>) -> Result<CompleteResult, ErrorData> {
        Err(ErrorData::method_not_found::<CompleteRequestMethod>())
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let bearer = &identity(&context.extensions)?.acting;
        let caller = &bearer.caller;
        let mut list = tools::visible_to(caller, self.listing_facts(bearer).await, &self.0.tools);
        if let Some(tool) = list.iter_mut().find(|tool| tool.name == CHECK_INBOX) {
            match stream::unread(&self.0.db, caller).await {
                Ok(unread) => alert(tool, unread.alert()),
                Err(error) => tracing::warn!(%error, ?caller, "a list of tools was sent without its alert"),
            }
        }
        Ok(private(list))
    }

    async fn call_tool(&self, mut request: CallToolRequestParams, context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        request.name = tools::current_name(request.name);
        let acting = identity(&context.extensions)?.acting.clone();
        let caller = acting.caller.clone();
        if self.0.tools.get(&request.name).is_none() {
            self.0.db.record_fact(AuditKind::Refusal, &acting.act("tools/call"), Some(&caller), Some(&request.name), "unknown-tool");
            return Err(unknown_tool(&request.name));
        }
        let (act, subject) = (acting.act(&request.name), tools::subject(request.arguments.as_ref()));
        if let Err(limited) = self.0.db.spend(&caller, &act, tools::cost(&request.name, message_size(&context))) {
            self.0.db.record_fact(AuditKind::Refusal, &act, Some(&caller), subject.as_deref(), limited.code());
            return Ok(reply::refused(&limited).into());
        }
        if let Err(error) = self.0.db.record_heartbeat(&caller).await {
            tracing::warn!(%error, ?caller, "a heartbeat was not recorded");
        }
        let response = act.clone().run(self.carry_out(acting, request, context)).await;
        if let Ok(CallToolResponse::Complete(result)) = &response
            && let Some(code) = reply::code(result)
        {
            self.0.db.record_fact(AuditKind::Refusal, &act, Some(&caller), subject.as_deref(), code);
        }
        response
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.get(name).cloned()
    }

    async fn list_resources(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListResourcesResult, ErrorData> {
        resource::list(&self.0.db, &identity(&context.extensions)?.acting.caller).await
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
        let acting = &identity(&context.extensions)?.acting;
        let found = self.read(acting, &request.uri).await;
        found.inspect_err(|error| resource::record_refusal(&self.0.db, acting, "resources/read", &request.uri, error))
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let identity = identity(&context.extensions)?;
        let admitted = Uri::admitted(&request.uri, &self.0.db, &identity.acting.caller).await;
        let uri = admitted.inspect_err(|error| resource::record_refusal(&self.0.db, &identity.acting, "resources/subscribe", &request.uri, error))?;
        if let Some(session) = &identity.session {
            session.listener.add_resource(uri)?;
        }
        Ok(())
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let uri: Uri = request.uri.parse()?;
        if let Some(session) = &identity(&context.extensions)?.session {
            session.listener.remove_resource(&uri);
        }
        Ok(())
    }

    /// The transport removes what the server does not offer, and [`Self::listen`] what the caller may not read.
    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let bearer = identity(&context.request_context().extensions)?.bearer.clone();
        stream::modern(&self.0.db, &self.0.push, &bearer, &context).await;
        Ok(())
    }
}

/// Returns the size of the message that a call came in.
fn message_size(context: &RequestContext<RoleServer>) -> u32 {
    let size = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<MessageSize>());
    size.copied().unwrap_or_default().0
}

/// Returns the task that a call is about unless its arguments name another one.
fn scope(caller: &Caller, context: &RequestContext<RoleServer>) -> Result<Option<TaskId>, RunRefusal> {
    let given = meta::text(&context.meta, meta::TASK_ID).and_then(|id| id.parse::<TaskId>().ok());
    match (caller, given) {
        (Caller::Run(run), Some(given)) if given != run.task_id => Err(RunRefusal::WrongTask { task: given, own: run.task_id.clone() }),
        (Caller::Run(run), _) => Ok(Some(run.task_id.clone())),
        (Caller::Person(_) | Caller::Runner | Caller::Agent(_) | Caller::Invite(_), given) => Ok(given),
    }
}

/// Inserts an alert before a tool's description.
fn alert(tool: &mut Tool, alert: Option<String>) {
    if let Some(alert) = alert {
        tool.description = Some(format!("{alert}\n\n{}", tool.description.as_deref().unwrap_or_default()).into());
    }
}

/// Returns the token in the result of `register`.
pub(crate) fn given_token(result: &CallToolResult) -> Option<&str> {
    result.structured_content.as_ref().filter(|_| result.is_error != Some(true))?.get("token").and_then(Value::as_str)
}

/// Returns the ids of the messages of an inbox in a result.
fn shown_messages(result: &CallToolResult) -> Vec<i64> {
    let messages = result.structured_content.as_ref().and_then(|data| data.get("messages")).and_then(Value::as_array);
    messages.into_iter().flatten().filter_map(|message| message.get("id").and_then(Value::as_i64)).collect()
}

/// Returns a list of tools that no cache may share or keep, because it depends on the caller.
pub(crate) fn private(tools: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

pub(crate) fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("tool {name} does not exist"), None)
}

fn identity(extensions: &Extensions) -> Result<&Identity, ErrorData> {
    let identity = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Identity>());
    identity.ok_or_else(|| ErrorData::internal_error("the request has no caller", None))
}
