//! Tools that create, find and close context sessions. Names, arguments and JSON are those of shared-context-server.
//!
//! It must not know who may read a message.

pub(super) mod message;
pub(super) mod search;

use db::{SessionListQuery, SessionMessageQuery};
use domain::context::metadata::Metadata;
use domain::context::session::{ContextSession, ContextSessionId, NewContextSession};
use domain::id::ProjectId;
use domain::runs::agent_kind::AgentKind;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::json;

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed, Need};

/// Managed agents may call it, and have no need for it.
const UNLISTED: Audience =
    Audience { managed: Managed::of(EVERY_KIND).listed_for(Need::Never), human: true, external: External::Everyone, invite: false };

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "create_session",
        description: "Call this to open a place for findings about one subject. Each project and each plan has a session already: get_session shows it.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, create_session),
    },
    ToolDefinition {
        name: "get_session",
        description: "Call this before you explore, to read what other agents found: a session with its newest 50 messages. Without session_id, it is that of your plan or project.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).unlisted_for(CODER_ONLY).hiding(&[("session_id", Need::Never)]).adapted(get_session_briefly),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, get_session),
    },
    ToolDefinition {
        name: "list_sessions",
        description: "Call this to find the sessions of the project, newest first.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, list_sessions),
    },
    ToolDefinition {
        name: "close_session",
        description: "Call this when a session that you created is no longer needed. It can still be read.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, close_session),
    },
];

fn get_session_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this before you explore: it shows what other agents of your plan found."
}

impl Call {
    /// Returns the session that `given` names, or else the caller's own.
    async fn session(&self, given: Option<ContextSessionId>, project: ProjectArgument) -> Result<ContextSessionId, Failure> {
        match given {
            Some(given) => Ok(given),
            None => Ok(self.db.own_context_session(&self.caller, &self.project(project).await?).await?.id),
        }
    }

    /// Returns the project of a new or listed session. A person names one, or has sessions without a project.
    async fn session_project(&self, given: ProjectArgument) -> Result<Option<ProjectId>, Failure> {
        let is_standalone = self.caller.is_person() && matches!(given, ProjectArgument::Missing) && self.scope.is_none();
        if is_standalone { Ok(None) } else { self.project(given).await.map(Some) }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CreateSession {
    purpose: String,
    #[schemars(with = "Option<Metadata>")]
    #[serde(default, deserialize_with = "arguments::object")]
    metadata: Metadata,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    // Clients of shared-context-server send it; the token of the connection says who calls.
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn create_session(call: Call, given: CreateSession) -> Result<Answer, Failure> {
    let project = call.session_project(given.project).await?;
    let new = NewContextSession { purpose: given.purpose, metadata: given.metadata };
    let session = call.db.create_context_session(&call.caller, project.as_ref(), new).await?;
    let data = json!({
        "success": true,
        "session_id": session.id,
        "created_by": session.created_by,
        "created_at": session.created_at,
        "project_id": session.project_id,
    });
    Ok(call.shared_context(|| format!("Created {}.", session.id), data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetSession {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn get_session(call: Call, given: GetSession) -> Result<Answer, Failure> {
    let id = call.session(given.session_id, given.project).await?;
    let session = call.db.context_session(&call.caller, &id).await?;
    let found = call.db.session_messages(&call.caller, &id, &SessionMessageQuery::default()).await?;
    let page = message::Page::newest(found);
    let data = json!({
        "success": true,
        "session": session,
        "messages": page.messages,
        "message_count": page.messages.len(),
        "total_count": page.total_count,
        "has_more": page.next.is_some(),
        "next_cursor": page.next,
    });
    Ok(call.shared_context(|| format!("{}\n{}", heading(&session), page.brief()), data))
}

/// Words a session on one line.
fn heading(session: &ContextSession) -> String {
    let closed = if session.is_active { "" } else { ", closed" };
    format!("{} ({}{closed}): {}", session.id, session.kind, session.purpose)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListSessions {
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    include_closed: Option<bool>,
    /// At most 200.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[serde(default, deserialize_with = "arguments::number")]
    offset: Option<u32>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn list_sessions(call: Call, given: ListSessions) -> Result<Answer, Failure> {
    let query = SessionListQuery {
        project: call.session_project(given.project).await?,
        include_closed: given.include_closed.unwrap_or(false),
        limit: Some(given.limit.unwrap_or(50)),
        offset: given.offset.unwrap_or_default(),
    };
    let sessions = call.db.context_sessions(&call.caller, &query).await?;
    let brief = || sessions.iter().map(heading).collect::<Vec<_>>().join("\n");
    Ok(call.shared_context(brief, json!({"success": true, "sessions": sessions, "count": sessions.len()})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CloseSession {
    #[schemars(with = "String")]
    session_id: ContextSessionId,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn close_session(call: Call, given: CloseSession) -> Result<Answer, Failure> {
    let session = call.db.close_context_session(&call.caller, &given.session_id).await?;
    let data = json!({"success": true, "session_id": session.id, "is_active": session.is_active, "updated_at": session.updated_at});
    Ok(call.shared_context(|| format!("{} is closed.", session.id), data))
}
