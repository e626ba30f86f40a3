//! Tools that send messages, read the inbox and show the history.
//!
//! It must not know the rules of delivery.

use db::{AcknowledgedMessage, Caller, HistoryQuery, Sent};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, NewMessage};
use domain::warroom::trigger::Trigger;
use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, route};
use crate::format;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::tools::arguments::{self, ProjectArgument};
use crate::tools::definition::{Admission, Audience, Effect, External, ToolDefinition};
use crate::tools::managed::{CODER_ONLY, EVERY_KIND, Managed, Need, remove_descriptions};

/// The most acknowledged messages that an answer lists, newest first.
const MAX_LISTED: usize = 5;

pub(super) const TOOLS: &[ToolDefinition] = &[
    ToolDefinition {
        name: "send",
        description: "Call this to write to another agent, to `human`, to `all`, or to `zone/NAME` to ask its expert; leads get a copy. Fails while you have unread messages. Put anything that must last into add_comment.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).hiding(&[("cc", Need::Never)]).adapted(send_briefly).listed_to_oracles(),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["from_agent"],
        route: |definition| route(definition, send),
    },
    ToolDefinition {
        name: "check_inbox",
        description: "Call this when a notice announces messages, and before you send. `redelivered` marks messages whose earlier answer may have been lost.",
        effect: Effect::Writes,
        admission: Admission::Store,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).hiding(&[("ack", Need::Never)]).adapted(check_inbox_briefly).listed_to_oracles(),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &["agent_name"],
        route: |definition| route(definition, check_inbox),
    },
    ToolDefinition {
        name: "get_history",
        description: "Call this to read earlier messages, of all or of one task.",
        effect: Effect::Reads,
        admission: Admission::ActiveReader,
        audience: Audience {
            managed: Managed::of(EVERY_KIND).unlisted_for(CODER_ONLY).hiding(&[("before", Need::Never), ("count", Need::Never)]),
            human: true,
            external: External::Everyone,
            invite: false,
        },
        identity_arguments: &[],
        route: |definition| route(definition, get_history),
    },
];

fn send_briefly(kind: AgentKind, properties: &mut JsonObject) -> &'static str {
    remove_descriptions(properties);
    // Its messages are about its own task.
    if kind == AgentKind::Coder {
        properties.remove("task_id");
    }
    "Call this after check_inbox to write to another agent, to `human` or to `all`."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Send {
    to_agent: String,
    message: String,
    /// Names separated by commas.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    cc: Vec<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    task_id: Option<TaskId>,
    /// The id of the message that you answer.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    reply_to: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn send(call: Call, given: Send) -> Result<Answer, Failure> {
    let project = match (&given.task_id, given.project) {
        // The human may have several projects, so the task decides.
        (Some(task), ProjectArgument::Missing) if call.caller.project().is_none() => call.db.card(task).await?.project_id,
        (_, project) => call.project(project).await?,
    };
    let new = NewMessage { to: given.to_agent, content: given.message, cc: given.cc, task_id: given.task_id, reply_to: given.reply_to };
    let Sent { message, further, confirmed, trigger } = call.db.send(&call.caller, &project, new).await?;
    let copies = if message.cc.is_empty() { String::new() } else { format!(" Copies: {}.", message.cc.join(", ")) };
    let sent: Vec<String> = std::iter::once(&message).chain(&further).map(|sent| format!("{} (#{})", sent.to_agent, sent.id)).collect();
    let text = format!("Message sent to {}.{copies}{}", sent.join(" and "), acknowledged_text(&confirmed, &call.caller));
    let text = format!("{text}{}", trigger.as_ref().map(order_text).unwrap_or_default());
    let mut data = json!({"id": message.id, "to_agent": message.to_agent, "task_id": message.task_id, "cc": message.cc});
    if !further.is_empty() {
        data["further"] = further.iter().map(|sent| json!({"id": sent.id, "to_agent": sent.to_agent})).collect();
    }
    if !confirmed.is_empty() {
        data["counted_as_read"] = confirmed.iter().map(|read| read.id).collect();
    }
    Ok(Answer::new(text, data))
}

/// Says what follows from an order.
fn order_text(trigger: &Trigger) -> String {
    let word = trigger.word;
    let follows = match trigger.due_at {
        Some(at) => format!("It is removed if it has not answered by {}", at.clock()),
        None if word.stops_starts() => "Agents hand over, and nothing starts".to_owned(),
        None if word.lasts() => "Tasks of the zone come first".to_owned(),
        None => return format!("\nThe order {word} is given."),
    };
    format!("\nThe order {word} is given. {follows}. withdraw_trigger ends it.")
}

/// Lists the messages that sending acknowledged, and says how to read them again. A coder is not listed get_history.
fn acknowledged_text(confirmed: &[AcknowledgedMessage], caller: &Caller) -> String {
    let (Some(first), Some(last)) = (confirmed.first(), confirmed.last()) else { return String::new() };
    let named: Vec<String> = confirmed.iter().rev().take(MAX_LISTED).map(|read| format!("#{} from {}", read.id, read.from_agent)).collect();
    let more = confirmed.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let acknowledged = format!("\nAcknowledged: {}{more}. If you have not seen them, ", named.join(", "));
    if matches!(caller, Caller::Run(run) if run.phase == AgentKind::Coder) {
        return acknowledged + "ask their senders.";
    }
    let before = last.id + 1;
    // Messages of other agents may lie between them.
    let count = (before - first.id).clamp(HISTORY_DEFAULT.into(), HISTORY_PAGE.into());
    format!("{acknowledged}call get_history with before={before} and count={count}.")
}

fn check_inbox_briefly(_: AgentKind, _: &mut JsonObject) -> &'static str {
    "Call this when a notice announces messages."
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckInbox {
    /// The highest message id you have seen.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    ack: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn check_inbox(call: Call, given: CheckInbox) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let inbox = call.db.check_inbox(&call.caller, &project, given.ack).await?;
    let messages: Vec<Value> = inbox
        .messages
        .iter()
        .map(|received| {
            let mut data = format::message(&received.message);
            if received.redelivered {
                data["redelivered"] = json!(true);
            }
            data
        })
        .collect();
    let text = if messages.is_empty() { "No new messages.".to_owned() } else { json!(messages).to_string() };
    let last = inbox.messages.iter().map(|received| received.message.id).max().unwrap_or_default();
    let more = (inbox.remaining > 0).then(|| format!("{} more messages are unread: call check_inbox with ack={last}.", inbox.remaining));
    Ok(Answer::new(text, json!({"messages": messages, "remaining": inbox.remaining})).with_note(more))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetHistory {
    /// Default 10, at most 200.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    count: Option<u32>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    task_id: Option<TaskId>,
    /// Only messages before this id.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    before: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: ProjectArgument,
}

async fn get_history(call: Call, given: GetHistory) -> Result<Answer, Failure> {
    let project = call.project(given.project).await?;
    let count = given.count.unwrap_or(HISTORY_DEFAULT);
    let query = HistoryQuery { count: Some(count), task: given.task_id, agent: None, before: given.before };
    let messages = call.db.history(&project, &query).await?;
    let (shown, left_out) = page::newest_that_fit(messages.iter().map(format::message).collect());
    let first = shown.first().map(|message| &message["id"]).filter(|_| left_out > 0);
    let older = first.map(|id| format!("{left_out} older messages omitted: call get_history with before={id}."));
    Ok(Answer::new(json!(shown).to_string(), json!({"messages": shown, "left_out": left_out})).with_note(older))
}
