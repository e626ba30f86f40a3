//! An agent's inbox as it reads it: a block in its prompt, or a message while it works.
//!
//! Pure. Which messages wait, and what has been given, is the store's to know.

use domain::team::message::{Inbox, InboxMessage};

use super::indented;

/// What begins every inbox, in a prompt as well as in a message of its own.
const OPENING: &str = "<inbox>\n";

/// The messages that an agent is interrupted for: what was never given to it and was written to it or to all. Where nothing of that is
/// among them, the copies that stand in front.
pub fn pressing(inbox: Inbox) -> Inbox {
    let Inbox { messages, remaining: more } = inbox;
    let new: Vec<InboxMessage> = messages.into_iter().filter(|received| !received.redelivered).collect();
    let (copies, direct): (Vec<InboxMessage>, Vec<InboxMessage>) = new.into_iter().partition(|received| received.message.is_cc);
    if direct.is_empty() {
        return Inbox { messages: copies, remaining: more };
    }
    let left = u32::try_from(copies.len()).unwrap_or(u32::MAX);
    Inbox { messages: direct, remaining: more + left }
}

/// What is said to an agent at work that others wrote to.
pub fn told(inbox: &Inbox) -> String {
    format!("{}\n{}", block(inbox), super::ANSWER)
}

/// Whether an agent was told of messages with this.
pub fn is_told(text: &str) -> bool {
    text.starts_with(OPENING)
}

/// The inbox between its tags; nothing when it is empty.
pub(super) fn block(inbox: &Inbox) -> String {
    if inbox.messages.is_empty() {
        return String::new();
    }
    let lines: String = inbox.messages.iter().map(line).collect();
    let more = match inbox.remaining {
        0 => String::new(),
        more => super::MORE.replace("{more}", &more.to_string()),
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
