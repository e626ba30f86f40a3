//! The MCP server itself: which tools a caller sees, and the way of a call from its token to its result.
//!
//! What a tool does is in `tools`, how an outcome reads in `reply`.

use std::sync::Arc;

use db::{Caller, Db};
use domain::id::TaskId;
use domain::refusal::Refusal;
use http::request::Parts;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};

use crate::call::Call;
use crate::notice::Notices;
use crate::server::Identity;
use crate::{meta, reply, tools};

/// Cheap to clone: the transport makes one for every request and session.
#[derive(Debug, Clone)]
pub(crate) struct Handler(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    tools: ToolRouter<Handler>,
    notices: Notices,
}

impl Handler {
    pub(crate) fn new(db: Db) -> Self {
        Self(Arc::new(Inner { db, tools: tools::routes(), notices: Notices::default() }))
    }
}

/// What every server of these tools says about itself, the bridge included.
pub(crate) fn info() -> ServerConfig {
    ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
        .with_server_info(Implementation::new("vibe-relay", env!("CARGO_PKG_VERSION")))
        .with_instructions(tools::INSTRUCTIONS)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        info()
    }

    async fn list_tools(&self, _: Option<PaginatedRequestParams>, context: RequestContext<RoleServer>) -> Result<ListToolsResult, ErrorData> {
        let caller = caller(&context)?;
        let mut list = self.0.tools.list_all();
        list.retain(|tool| tools::may(&caller, &tool.name));
        Ok(private(list))
    }

    async fn call_tool(&self, request: CallToolRequestParams, mut context: RequestContext<RoleServer>) -> Result<CallToolResponse, ErrorData> {
        let mut caller = caller(&context)?;
        if self.0.tools.get(&request.name).is_none() {
            return Err(unknown_tool(&request.name));
        }
        let given = meta::text(&context.meta, meta::TASK_ID).and_then(|id| id.parse::<TaskId>().ok());
        let scope = match (&caller, given) {
            (Caller::Run(run), Some(given)) if given != run.task_id => {
                return Ok(reply::refused(&Refusal::NotYourTask { task: given, own: run.task_id.clone() }).into());
            }
            (Caller::Run(run), _) => Some(run.task_id.clone()),
            (Caller::Human | Caller::Runner, given) => given,
        };
        if !tools::may(&caller, &request.name) {
            return Ok(reply::refused(&tools::refusal(&caller, &request.name)).into());
        }
        if let Caller::Run(run) = &mut caller {
            // With the tool's name: another tool's stored answer would not fit.
            run.call_id = meta::call_id(&context.meta).map(|id| format!("{}/{id}", request.name));
        }
        context.extensions.insert(Call { db: self.0.db.clone(), caller: caller.clone(), scope });
        let mut response = self.0.tools.call(ToolCallContext::new(self, request, context)).await?;
        if let (Caller::Run(run), CallToolResponse::Complete(result)) = (&caller, &mut response) {
            match self.0.notices.take(&self.0.db, run).await {
                Ok(notices) => reply::add_notices(result, &notices),
                Err(error) => tracing::warn!(%error, run = %run.run_id, "no notices could be read"),
            }
        }
        Ok(response)
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.tools.get(name).cloned()
    }
}

/// A list of tools that only its caller may keep, and not for long: it depends on who asks.
pub(crate) fn private(tools: Vec<Tool>) -> ListToolsResult {
    ListToolsResult::with_all_items(tools).with_ttl_ms(0).with_cache_scope(CacheScope::Private)
}

pub(crate) fn unknown_tool(name: &str) -> ErrorData {
    ErrorData::invalid_params(format!("there is no tool named {name}"), None)
}

fn caller(context: &RequestContext<RoleServer>) -> Result<Caller, ErrorData> {
    let identity = context.extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Identity>());
    identity.map(|identity| identity.0.clone()).ok_or_else(|| ErrorData::internal_error("the request came without its caller", None))
}
