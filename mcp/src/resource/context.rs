//! The contents of the resources of shared context, in the JSON of shared-context-server. It must not know who may read a message.

use std::collections::BTreeSet;

use db::{Caller, Db, SessionMessageQuery};
use domain::context::memory::MemoryEntry;
use domain::context::session::{ContextSession, ContextSessionId, SessionMessage};
use domain::time::Timestamp;
use rmcp::model::{ProtocolVersion, Tool};
use serde_json::{Map, Value, json};

use crate::page;

/// The number of messages that a session shows, and the most that one address can name.
pub(super) const MESSAGES: u32 = 50;
pub(super) const MAX_MESSAGES: u32 = 1_000;

/// The messages of a session that the caller may read.
struct Shown {
    session: ContextSession,
    /// As many of the newest as fit, oldest first.
    messages: Vec<Value>,
    total_count: u64,
    senders: usize,
    last_activity: Option<Timestamp>,
}

async fn shown(db: &Db, caller: &Caller, session: &ContextSessionId, limit: u32) -> db::Result<Shown> {
    let query = SessionMessageQuery { limit: Some(limit), ..SessionMessageQuery::default() };
    let found = db.session_messages(caller, session, &query).await?;
    let senders: BTreeSet<&str> = found.messages.iter().map(|message| message.sender.as_str()).collect();
    let (senders, last_activity) = (senders.len(), found.messages.first().map(|message| message.timestamp));
    let (messages, _) = page::newest_that_fit(found.messages.iter().rev().map(|message: &SessionMessage| json!(message)).collect());
    Ok(Shown { session: db.context_session(caller, session).await?, messages, total_count: found.total_count, senders, last_activity })
}

/// Returns a session with its newest messages.
///
/// # Errors
/// When it does not exist for the caller.
pub(crate) async fn session_value(db: &Db, caller: &Caller, session: &ContextSessionId) -> db::Result<Value> {
    let Shown { session, messages, total_count, senders, last_activity } = shown(db, caller, session, MESSAGES).await?;
    let last_updated = last_activity.map_or(session.updated_at, |last| last.max(session.updated_at));
    Ok(json!({
        "message_count": messages.len(),
        "last_updated": last_updated,
        "statistics": {
            "message_count": total_count,
            "visible_message_count": messages.len(),
            "unique_agents": senders,
            "last_activity": last_activity,
        },
        "resource_info": {"last_updated": last_updated, "requesting_agent": caller.name(), "supports_subscriptions": true},
        "session": session,
        "messages": messages,
    }))
}

/// Returns the newest messages of a session.
pub(super) async fn messages_value(db: &Db, caller: &Caller, session: &ContextSessionId, limit: u32) -> db::Result<Value> {
    let Shown { session, messages, total_count, last_activity, .. } = shown(db, caller, session, limit).await?;
    Ok(json!({
        "session_id": session.id,
        "message_count": messages.len(),
        "total_count": total_count,
        "has_more": (messages.len() as u64) < total_count,
        "last_updated": last_activity,
        "messages": messages,
    }))
}

/// Returns the caller's memory, as many of the last changed entries as fit.
pub(super) async fn memory_value(db: &Db, caller: &Caller, agent: &str) -> db::Result<Value> {
    let entries = db.own_memory(caller).await?;
    let last_updated = entries.first().map(|entry| entry.updated_at);
    let (mut global, mut sessions, mut bytes, mut total) = (Map::new(), Map::new(), 0, 0);
    for entry in &entries {
        let value = value_of(entry);
        bytes += entry.key.len() + value.to_string().len();
        if bytes > page::MAX_BYTES && total > 0 {
            break;
        }
        let scope = match &entry.session_id {
            Some(session) => sessions.entry(session.as_str()).or_insert_with(|| json!({})).as_object_mut(),
            None => Some(&mut global),
        };
        // A value of the agent's task precedes the one for all tasks, as it does for get_memory.
        if let Some(scope) = scope
            && (entry.task_id.is_some() || !scope.contains_key(&entry.key))
        {
            scope.insert(entry.key.clone(), value);
        }
        total += 1;
    }
    Ok(json!({
        "agent_id": agent,
        "statistics": {"global_keys": global.len(), "session_scopes": sessions.len(), "total_entries": total, "left_out": entries.len() - total},
        "resource_info": {"last_updated": last_updated, "supports_subscriptions": true},
        "memory": {"global": global, "sessions": sessions},
    }))
}

fn value_of(entry: &MemoryEntry) -> Value {
    let MemoryEntry { value, metadata, scope, created_at, updated_at, expires_at, .. } = entry;
    json!({
        "value": value,
        "metadata": metadata,
        "scope": scope,
        "created_at": created_at,
        "updated_at": updated_at,
        "expires_at": expires_at,
    })
}

/// Describes this server.
pub(super) fn server_value(caller: &Caller, tools: usize) -> Value {
    json!({
        "server_info": {
            "name": "vibe-relay",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A board on which coding agents do the work, with sessions, messages and memory that they share.",
            "capabilities": ["tools", "resources", "prompts", "resource_templates"],
            "mcp_versions": [ProtocolVersion::V_2026_07_28, ProtocolVersion::V_2025_11_25, ProtocolVersion::V_2025_06_18, ProtocolVersion::V_2025_03_26],
        },
        "tools": {"count": tools, "authentication": "bearer token", "real_time_updates": true},
        "you": caller.name(),
        "project_id": caller.project(),
    })
}

/// Describes tools.
pub(super) fn tools_value(tools: &[Tool]) -> Value {
    let tools: Vec<Value> = tools
        .iter()
        .map(|tool| json!({"name": tool.name, "description": tool.description, "parameters": tool.input_schema.get("properties"), "required": tool.input_schema.get("required")}))
        .collect();
    json!({"total_tools": tools.len(), "tools": tools})
}
