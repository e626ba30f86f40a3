//! Tools that keep values beyond a run. Names, arguments and JSON are those of shared-context-server.
//!
//! It must not know whom an entry belongs to.

use db::MemoryListQuery;
use domain::context::memory::{MemoryEntry, MemoryScope, NewMemoryEntry};
use domain::context::metadata::Metadata;
use domain::context::session::ContextSessionId;
use domain::runs::agent_kind::AgentKind;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::reply::{Answer, Failure};
use crate::tools::arguments;
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need};

/// The word for the entries of all sessions.
const ALL_SESSIONS: &str = "all";

const fn audience(managed: Managed) -> Audience {
    Audience { managed, human: true, external: External::Everyone, invite: false }
}

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "set_memory",
        description: "Call this to keep a value for yourself and your successors, outside of a session or in one. expires_in is in seconds. With overwrite=false, an existing key is refused.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: audience(
            Managed::of(EVERY_KIND)
                .hiding(&[
                    ("session_id", Need::Never),
                    ("metadata", Need::Never),
                    ("expires_in", Need::Never),
                    ("overwrite", Need::Never),
                    ("scope", Need::Never),
                ])
                .adapted(set_memory_briefly),
        ),
        identity_arguments: &[],
        route: |definition| route(definition, set_memory),
    },
    ToolDefinition {
        name: "get_memory",
        description: "Call this to read a value that you or a predecessor kept with set_memory.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: audience(Managed::of(EVERY_KIND).listed_for(Need::Memory).hiding(&[("session_id", Need::Never)]).adapted(get_memory_briefly)),
        identity_arguments: &[],
        route: |definition| route(definition, get_memory),
    },
    ToolDefinition {
        name: "list_memory",
        description: "Call this to see the keys that you and your predecessors kept, the last changed first. session_id=all adds those of all sessions.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: audience(Managed::of(EVERY_KIND).listed_for(Need::Never)),
        identity_arguments: &[],
        route: |definition| route(definition, list_memory),
    },
    ToolDefinition {
        name: "delete_memory",
        description: "Call this to delete a value that nobody needs.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: audience(Managed::of(EVERY_KIND).listed_for(Need::Never)),
        identity_arguments: &[],
        route: |definition| route(definition, delete_memory),
    },
];

fn set_memory_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this to keep a value for the next agent of your kind."
}

fn get_memory_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this to read a value that your predecessor kept."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SetMemory {
    key: String,
    #[schemars(schema_with = "arguments::any_value")]
    value: Value,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    #[serde(default, deserialize_with = "arguments::number")]
    expires_in: Option<i64>,
    #[schemars(with = "Option<Metadata>")]
    #[serde(default, deserialize_with = "arguments::object")]
    metadata: Metadata,
    #[schemars(with = "Option<bool>")]
    #[serde(default, deserialize_with = "arguments::flag")]
    overwrite: Option<bool>,
    #[schemars(schema_with = "arguments::memory_scope")]
    #[serde(default, deserialize_with = "arguments::given")]
    scope: Option<MemoryScope>,
    // Clients of shared-context-server send it; the token of the connection says who calls.
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn set_memory(call: Call, given: SetMemory) -> Result<Answer, Failure> {
    let SetMemory { key, value, session_id, expires_in, metadata, overwrite, scope, .. } = given;
    let new = NewMemoryEntry { key, value, session_id, scope, expires_in, metadata, overwrite: overwrite.unwrap_or(true) };
    let entry = call.db.set_memory(&call.caller, new).await?;
    let data = json!({
        "success": true,
        "key": entry.key,
        "session_scoped": entry.session_id.is_some(),
        "expires_at": entry.expires_at,
        "scope": entry.scope,
        "stored_at": entry.updated_at,
    });
    Ok(call.shared_context(|| format!("Kept {} ({}).", entry.key, entry.scope), data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetMemory {
    key: String,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn get_memory(call: Call, given: GetMemory) -> Result<Answer, Failure> {
    let entry = call.db.memory(&call.caller, &given.key, given.session_id.as_ref()).await?;
    let MemoryEntry { key, value, metadata, scope, created_at, updated_at, expires_at, .. } = entry;
    let brief = match &value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let data = json!({
        "success": true,
        "key": key,
        "value": value,
        "metadata": metadata,
        "created_at": created_at,
        "updated_at": updated_at,
        "expires_at": expires_at,
        "scope": scope,
    });
    Ok(call.shared_context(|| brief, data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListMemory {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    prefix: Option<String>,
    /// Default 50, at most 200.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn list_memory(call: Call, given: ListMemory) -> Result<Answer, Failure> {
    let named = given.session_id.as_deref().filter(|session| *session != ALL_SESSIONS);
    let session = named
        .map(str::parse)
        .transpose()
        .map_err(|error: domain::id::InvalidId| Failure::Arguments { field: Some("session_id".to_owned()), problem: error.to_string() })?;
    let query =
        MemoryListQuery { session, include_sessions: given.session_id.is_some() && named.is_none(), prefix: given.prefix, limit: given.limit };
    let entries = call.db.memories(&call.caller, &query).await?;
    let brief = || match entries.as_slice() {
        [] => "No entries.".to_owned(),
        entries => entries.iter().map(|entry| format!("{} ({})", entry.key, entry.scope)).collect::<Vec<_>>().join("\n"),
    };
    let scope_filter = given.session_id.as_deref().unwrap_or("global");
    Ok(call.shared_context(brief, json!({"success": true, "entries": entries, "count": entries.len(), "scope_filter": scope_filter})))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct DeleteMemory {
    key: String,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
}

async fn delete_memory(call: Call, given: DeleteMemory) -> Result<Answer, Failure> {
    let entry = call.db.delete_memory(&call.caller, &given.key, given.session_id.as_ref()).await?;
    let data = json!({"success": true, "key": entry.key, "scope": entry.scope});
    Ok(call.shared_context(|| format!("Deleted {}.", entry.key), data))
}
