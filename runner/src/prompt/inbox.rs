//! Formats an agent's inbox: a block in its prompt, or a message while it works.
//!
//! Pure. The store knows which messages are unread and which were delivered.

use domain::prompt::{Prompt, Prompts};
use domain::team::message::{Inbox, InboxMessage};

use super::indented;

/// The start of every inbox, in a prompt and in a message.
const OPENING: &str = "<inbox>\n";

/// The messages that interrupt an agent: direct messages and broadcasts that were not delivered before. Without any of them, the copies
/// at the front.
pub fn interrupting_messages(inbox: Inbox) -> Inbox {
    let Inbox { messages, remaining: more } = inbox;
    let new: Vec<InboxMessage> = messages.into_iter().filter(|received| !received.redelivered).collect();
    let (copies, direct): (Vec<InboxMessage>, Vec<InboxMessage>) = new.into_iter().partition(|received| received.message.is_cc);
    if direct.is_empty() {
        return Inbox { messages: copies, remaining: more };
    }
    let left = u32::try_from(copies.len()).unwrap_or(u32::MAX);
    Inbox { messages: direct, remaining: more + left }
}

/// The message that delivers an inbox to an agent at work.
pub fn inbox_message(prompts: &Prompts, inbox: &Inbox) -> String {
    format!("{}\n{}", block(prompts, inbox), prompts.text(Prompt::Inbox))
}

/// Whether `text` is from [`inbox_message`].
pub fn is_inbox_message(text: &str) -> bool {
    text.starts_with(OPENING)
}

/// The inbox between its tags; empty without messages.
pub(super) fn block(prompts: &Prompts, inbox: &Inbox) -> String {
    if inbox.messages.is_empty() {
        return String::new();
    }
    let lines: String = inbox.messages.iter().map(line).collect();
    let more = match inbox.remaining {
        0 => String::new(),
        more => prompts.text(Prompt::MoreInbox).replace("{more}", &more.to_string()),
    };
    format!("{OPENING}{lines}{more}</inbox>\n")
}

fn line(received: &InboxMessage) -> String {
    let message = &received.message;
    let to = message.cc_original_to.as_ref().unwrap_or(&message.to_agent);
    let marks = [
        message.is_cc.then(|| "cc".to_owned()),
        received.redelivered.then(|| "again".to_owned()),
        message.task_id.as_ref().map(ToString::to_string),
        message.reply_to.map(|id| format!("reply to #{id}")),
    ];
    let marks: String = marks.into_iter().flatten().map(|mark| format!(", {mark}")).collect();
    format!("[#{} {} → {to} {}{marks}] {}\n", message.id, message.from_agent, message.timestamp, indented(&message.content))
}

#[cfg(test)]
mod tests;
