//! Messages: written to one, to all, read from an inbox, and looked back at.

use db::{AcknowledgedMessage, HistoryQuery, Sent};
use domain::id::TaskId;
use domain::team::message::{HISTORY_DEFAULT, HISTORY_PAGE, NewMessage};
use rmcp::handler::server::router::tool::ToolRoute;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::call::{Call, Effect, tool};
use crate::handler::Handler;
use crate::page;
use crate::reply::{Answer, Failure};
use crate::show;
use crate::tools::arguments::{self, InProject};

/// How many messages that count as read are named in one answer, the newest first.
const NAMED: usize = 5;

pub(super) fn routes() -> Vec<ToolRoute<Handler>> {
    vec![
        tool(
            "send",
            "Use it to write to another agent, to `human` or to `all`; leads get a copy. Read your inbox first: while messages are unread, nothing is sent. What the next reader of a task must know belongs into add_comment.",
            Effect::Writes,
            send,
        ),
        tool(
            "check_inbox",
            "Use it when a notice says that messages wait, and before you send. `again` marks what you were given before and did not confirm: by `ack`, or by sending.",
            Effect::Writes,
            check_inbox,
        ),
        tool("get_history", "Use it to read what was said before: the newest messages of all, or of one task.", Effect::Reads, get_history),
    ]
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Send {
    to_agent: String,
    message: String,
    /// Names with commas between them.
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::list")]
    cc: Vec<String>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    task_id: Option<TaskId>,
    /// The message that you answer.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    reply_to: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn send(call: Call, given: Send) -> Result<Answer, Failure> {
    let project = match (&given.task_id, given.project.0) {
        // A person with several projects means the task's.
        (Some(task), None) if call.caller.project().is_none() => call.db.card(task).await?.project_id,
        (_, project) => call.project(project).await?,
    };
    let new = NewMessage { to: given.to_agent, content: given.message, cc: given.cc, task_id: given.task_id, reply_to: given.reply_to };
    let Sent { message, confirmed } = call.db.send(&call.caller, &project, new).await?;
    let copies = if message.cc.is_empty() { String::new() } else { format!(" Copies: {}.", message.cc.join(", ")) };
    let text = format!("Message sent to {} (#{}).{copies}{}", message.to_agent, message.id, counted_as_read(&confirmed));
    let mut data = json!({"id": message.id, "to_agent": message.to_agent, "task_id": message.task_id, "cc": message.cc});
    if !confirmed.is_empty() {
        data["counted_as_read"] = confirmed.iter().map(|read| read.id).collect();
    }
    Ok(Answer::new(text, data))
}

/// What sending confirmed, and how whoever never saw it comes to see it.
fn counted_as_read(confirmed: &[AcknowledgedMessage]) -> String {
    let (Some(first), Some(last)) = (confirmed.first(), confirmed.last()) else { return String::new() };
    let named: Vec<String> = confirmed.iter().rev().take(NAMED).map(|read| format!("#{} from {}", read.id, read.from_agent)).collect();
    let more = confirmed.len() - named.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let before = last.id + 1;
    // Others talked in between.
    let count = (before - first.id).clamp(HISTORY_DEFAULT.into(), HISTORY_PAGE.into());
    format!("\nCounted as read: {}{more}. If you have not seen them, call get_history with before={before} and count={count}.", named.join(", "))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CheckInbox {
    /// The highest message id that you have seen.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    ack: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn check_inbox(call: Call, given: CheckInbox) -> Result<Answer, Failure> {
    let project = call.project(given.project.0).await?;
    let inbox = call.db.check_inbox(&call.caller, &project, given.ack).await?;
    let messages: Vec<Value> = inbox
        .messages
        .iter()
        .map(|received| {
            let mut data = show::message(&received.message);
            if received.redelivered {
                data["again"] = json!(true);
            }
            data
        })
        .collect();
    let text = if messages.is_empty() { "No new messages.".to_owned() } else { json!(messages).to_string() };
    let last = inbox.messages.iter().map(|received| received.message.id).max().unwrap_or_default();
    let more = (inbox.remaining > 0).then(|| format!("{} more messages wait: call check_inbox with ack={last}.", inbox.remaining));
    Ok(Answer::new(text, json!({"messages": messages, "more": inbox.remaining})).with_aside(more))
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetHistory {
    /// 10 unless given, at most 200.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    count: Option<u32>,
    #[schemars(with = "Option<String>")]
    #[serde(default, deserialize_with = "arguments::given")]
    task_id: Option<TaskId>,
    /// Only what came before this message.
    #[serde(default, deserialize_with = "arguments::number_from_one")]
    before: Option<i64>,
    #[serde(default, alias = "project_id")]
    project: InProject,
}

async fn get_history(call: Call, given: GetHistory) -> Result<Answer, Failure> {
    call.db.require_active_reader(&call.caller).await?;
    let project = call.project(given.project.0).await?;
    let count = given.count.unwrap_or(HISTORY_DEFAULT);
    let query = HistoryQuery { count: Some(count), task: given.task_id, agent: None, before: given.before };
    let messages = call.db.history(&project, &query).await?;
    let (shown, left_out) = page::newest(messages.iter().map(show::message).collect());
    let first = shown.first().map(|message| &message["id"]).filter(|_| left_out > 0);
    let older = first.map(|id| format!("{left_out} older ones did not fit: call get_history with before={id}."));
    Ok(Answer::new(json!(shown).to_string(), json!({"messages": shown, "left_out": left_out})).with_aside(older))
}
