//! Tools that add messages to context sessions and read them. Names, arguments and JSON are those of shared-context-server.
//!
//! It must not know who may read a message.

use db::SessionMessageQuery;
use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, NewSessionMessage, SessionMessage, SessionMessages};
use domain::refusal::Refusal;
use domain::runs::agent_kind::AgentKind;
use domain::time::Timestamp;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::UNLISTED;
use crate::call::{Call, route};
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{EVERY_KIND, Managed, Need};

pub(in crate::tools::context) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "add_message",
        description: "Call this to share a finding that would save another agent an exploration. Without session_id, it goes to your plan or project. private: only you; agent_only: also your successors.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(EVERY_KIND)
                .hiding(&[("session_id", Need::Never), ("metadata", Need::Never), ("parent_message_id", Need::Never)])
                .adapted(add_message_briefly),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, add_message),
    },
    ToolDefinition {
        name: "get_messages",
        description: "Call this to read more messages of a session, newest first. next_cursor of an answer is the cursor for older ones.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, get_messages),
    },
    ToolDefinition {
        name: "search_by_sender",
        description: "Call this to read the newest messages of one sender in a session.",
        effect: Effect::Searches,
        admission: Admission::ActiveReader,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, search_by_sender),
    },
    ToolDefinition {
        name: "search_by_timerange",
        description: "Call this to read the messages of a session in a period, oldest first.",
        effect: Effect::Searches,
        admission: Admission::ActiveReader,
        audience: UNLISTED,
        identity_arguments: &[],
        route: |definition| route(definition, search_by_timerange),
    },
];

fn add_message_briefly(kind: AgentKind, arguments: &mut JsonObject) -> &'static str {
    // It leaves a comment for the next agent on its task.
    if kind == AgentKind::Coder {
        arguments.remove("visibility");
        return "Call this to share a finding that saves other agents an exploration.";
    }
    // Managed agents have no admin permission.
    arguments.insert("visibility".to_owned(), json!({"type": "string", "enum": ["public", "private", "agent_only"]}));
    "Call this to share a finding with the agents of your plan. private: only you; agent_only: also your successors."
}

/// The messages that fit into one answer.
pub(super) struct Page {
    /// As JSON, in the order in which they were found.
    pub(super) messages: Vec<Value>,
    pub(super) total_count: u64,
    /// The cursor for older ones, if there are any.
    pub(super) next: Option<String>,
    lines: Vec<String>,
}

impl Page {
    /// Returns the newest messages, as many as fit.
    pub(super) fn newest(found: SessionMessages) -> Self {
        let count = fitting(&found.messages);
        let kept = &found.messages[..count];
        let has_more = found.has_more || count < found.messages.len();
        let next = kept.last().filter(|_| has_more).map(|message| message.id.to_string());
        Self {
            messages: kept.iter().map(|message| json!(message)).collect(),
            total_count: found.total_count,
            next,
            lines: kept.iter().map(line).collect(),
        }
    }

    /// Words the messages for a model.
    pub(super) fn brief(&self) -> String {
        let older = self.next.as_ref().map(|next| format!("\nOlder ones: call get_messages with cursor={next}."));
        if self.lines.is_empty() { "No messages.".to_owned() } else { format!("{}{}", self.lines.join("\n"), older.unwrap_or_default()) }
    }
}

/// Returns how many of the first messages fit into one answer, at least one.
fn fitting(messages: &[SessionMessage]) -> usize {
    let newest_last = messages.iter().rev().map(|message| json!(message)).collect();
    page::newest_that_fit(newest_last).0.len()
}

/// Words a message.
pub(super) fn line(message: &SessionMessage) -> String {
    let hidden = if message.visibility == Visibility::Public { String::new() } else { format!(" ({})", message.visibility) };
    let answer = message.parent_message_id.map(|parent| format!(" to #{parent}")).unwrap_or_default();
    format!("#{} {}{hidden}{answer}: {}", message.id, message.sender, message.content)
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AddMessage {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    content: String,
    #[schemars(schema_with = "arguments::visibility")]
    #[serde(default, deserialize_with = "arguments::given")]
    visibility: Option<Visibility>,
    #[schemars(with = "Option<Metadata>")]
    #[serde(default, deserialize_with = "arguments::object")]
    metadata: Metadata,
    /// The message that you answer.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    parent_message_id: Option<i64>,
    // Clients of shared-context-server send it; the token of the connection says who calls.
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn add_message(call: Call, given: AddMessage) -> Result<Answer, Failure> {
    let session = call.session(given.session_id, ProjectArgument::Missing).await?;
    let AddMessage { content, visibility, metadata, parent_message_id, .. } = given;
    let new = NewSessionMessage { content, visibility, metadata, parent_message_id };
    let message = call.db.add_session_message(&call.caller, &session, new).await?;
    let data = json!({"success": true, "message_id": message.id, "timestamp": message.timestamp, "session_id": message.session_id});
    Ok(call.shared_context(|| format!("Shared as #{} ({}).", message.id, message.visibility), data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetMessages {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    #[schemars(schema_with = "arguments::visibility")]
    #[serde(default, deserialize_with = "arguments::given")]
    visibility_filter: Option<Visibility>,
    /// Default 50, at most 1000.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[serde(default, deserialize_with = "arguments::number")]
    offset: Option<u32>,
    /// next_cursor of an earlier answer.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    cursor: Option<i64>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn get_messages(call: Call, given: GetMessages) -> Result<Answer, Failure> {
    let session = call.session(given.session_id, ProjectArgument::Missing).await?;
    let query = SessionMessageQuery {
        visibility: given.visibility_filter,
        before: given.cursor,
        after: None,
        limit: given.limit,
        offset: given.offset.unwrap_or_default(),
    };
    let page = Page::newest(call.db.session_messages(&call.caller, &session, &query).await?);
    let data = json!({
        "success": true,
        "messages": page.messages,
        "count": page.messages.len(),
        "total_count": page.total_count,
        "has_more": page.next.is_some(),
        "next_cursor": page.next,
    });
    Ok(call.shared_context(|| page.brief(), data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchBySender {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    sender: String,
    /// Default 20, at most 100.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn search_by_sender(call: Call, given: SearchBySender) -> Result<Answer, Failure> {
    let session = call.session(given.session_id, ProjectArgument::Missing).await?;
    let found = call.db.session_messages_of_sender(&call.caller, &session, given.sender.trim(), given.limit).await?;
    let kept = &found[..fitting(&found)];
    let data = json!({"success": true, "messages": kept, "sender": given.sender.trim(), "count": kept.len(), "left_out": found.len() - kept.len()});
    Ok(call.shared_context(|| kept.iter().map(line).collect::<Vec<_>>().join("\n"), data))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SearchByTimerange {
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    session_id: Option<ContextSessionId>,
    /// As 2026-01-31T09:05:00Z.
    start_time: String,
    end_time: String,
    /// Default 50, at most 200.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    limit: Option<u32>,
    #[schemars(skip)]
    #[serde(default, rename = "auth_token")]
    _auth_token: Option<IgnoredAny>,
}

async fn search_by_timerange(call: Call, given: SearchByTimerange) -> Result<Answer, Failure> {
    let session = call.session(given.session_id, ProjectArgument::Missing).await?;
    let period = (time("start_time", &given.start_time)?, time("end_time", &given.end_time)?);
    let found = call.db.session_messages_between(&call.caller, &session, period, given.limit).await?;
    let kept = &found[..fitting(&found)];
    let data = json!({
        "success": true,
        "messages": kept,
        "timerange": {"start": given.start_time, "end": given.end_time},
        "count": kept.len(),
        "left_out": found.len() - kept.len(),
    });
    Ok(call.shared_context(|| kept.iter().map(line).collect::<Vec<_>>().join("\n"), data))
}

/// Reads a time. One without an offset is in UTC.
fn time(field: &'static str, given: &str) -> Result<Timestamp, Refusal> {
    let given = given.trim();
    let time = given.parse().or_else(|error| format!("{given}Z").parse().map_err(|_: domain::time::InvalidTime| error));
    time.map_err(|error: domain::time::InvalidTime| Refusal::invalid(field, error.to_string(), "Give the time in RFC 3339 with its offset."))
}
