//! Parses a Messages API request into its conversation and its agent. It must not know the response.

use cli::scripted::player::{Called, Conversation, Entry};
use serde_json::Value;

/// The agent that sent a request, from the `<issue>` block of its prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentId {
    pub phase: String,
    pub task_id: String,
    pub title: String,
}

/// The agent that sent the request. A request without tools is a side request of the program, even if it quotes a prompt.
pub(super) fn agent(body: &Value, conversation: &Conversation) -> Option<AgentId> {
    body["tools"].as_array().filter(|tools| !tools.is_empty())?;
    let issue = conversation.issue()?;
    let line = |key| issue.line(key).unwrap_or_default().to_owned();
    Some(AgentId { phase: line("Phase"), task_id: line("Task"), title: line("Title") })
}

/// Converts the messages to a conversation of the scenario player.
pub(super) fn conversation(body: &Value) -> Conversation {
    let messages = body["messages"].as_array().into_iter().flatten();
    Conversation { entries: messages.flat_map(entries).collect() }
}

fn entries(message: &Value) -> Vec<Entry> {
    match message["role"].as_str() {
        Some("assistant") => vec![assistant(&message["content"])],
        // The program delivers messages to a working agent in the system role. They start no turn.
        Some("system") => vec![Entry::Steering { text: text_of(&message["content"]) }],
        _ => user(&message["content"]),
    }
}

fn assistant(content: &Value) -> Entry {
    let blocks = content.as_array().into_iter().flatten().filter(|block| block["type"] == "tool_use");
    let calls = blocks.map(|block| Called {
        id: block["id"].as_str().unwrap_or_default().to_owned(),
        tool: block["name"].as_str().unwrap_or_default().to_owned(),
        input: block["input"].as_object().cloned().unwrap_or_default(),
    });
    Entry::Assistant { text: text_of(content), calls: calls.collect() }
}

/// Tool results, then the text of the human, if any.
fn user(content: &Value) -> Vec<Entry> {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let results = blocks.iter().filter(|block| block["type"] == "tool_result");
    let mut entries: Vec<Entry> = results
        .map(|block| Entry::Result {
            id: block["tool_use_id"].as_str().unwrap_or_default().to_owned(),
            text: without_reminder(text_of(&block["content"])),
            is_error: block["is_error"] == true,
        })
        .collect();
    let parts = blocks.iter().flat_map(|block| [block["text"].as_str().map(str::to_owned), Some(text_of(&block["content"]))]);
    entries.extend(parts.flatten().filter_map(|text| interruption(&text)).map(|text| Entry::Steering { text }));
    let texts = content.as_str().into_iter().chain(blocks.iter().filter_map(|block| block["text"].as_str()));
    let words: Vec<&str> = texts.filter(|text| !text.trim_start().starts_with("<system-reminder>")).collect();
    if !words.is_empty() {
        entries.push(Entry::user(words.join("\n")));
    }
    entries
}

/// The message in a tool result, which the program adds if someone wrote meanwhile.
fn interruption(text: &str) -> Option<String> {
    let (_, message) = text.split_once("The user sent a new message while you were working:\n")?;
    Some(message.split("\n</system-reminder>").next().unwrap_or(message).to_owned())
}

/// Removes the reminders that the program appends to tool results.
fn without_reminder(mut text: String) -> String {
    if let Some(at) = text.find("\n\n<system-reminder>") {
        text.truncate(at);
    }
    text
}

fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// All text of the system prompt and the messages, including tool results.
pub(super) fn texts(body: &Value) -> Vec<String> {
    let mut found = vec![text_of(&body["system"])];
    for message in body["messages"].as_array().into_iter().flatten() {
        found.push(text_of(&message["content"]));
        let blocks = message["content"].as_array().into_iter().flatten();
        found.extend(blocks.filter(|block| block["type"] == "tool_result").map(|block| text_of(&block["content"])));
    }
    found.retain(|text| !text.is_empty());
    found
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn reminders_and_steering_are_not_prompts() {
        let body = json!({
            "tools": [{"name": "Bash"}],
            "system": [{"type": "text", "text": "You are a coder."}],
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "<system-reminder>\nToday\n</system-reminder>"},
                    {"type": "text", "text": "<issue>\nTitle: Cards\nPhase: coder\nTask: TASK-002\n</issue>"},
                ]},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "ls"}},
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": [{"type": "text", "text": "a.txt\n\n<system-reminder>\n9 tokens left\n</system-reminder>"}]},
                    {"type": "text", "text": "<system-reminder>be brief</system-reminder>"},
                ]},
                {"role": "system", "content": "The user sent a new message while you were working: hurry"},
            ],
        });
        let conversation = conversation(&body);
        assert_eq!(conversation.turns(), 1);
        assert!(conversation.entries.contains(&Entry::Result { id: "t1".to_owned(), text: "a.txt".to_owned(), is_error: false }));
        let kinds = conversation.entries.iter().map(|entry| match entry {
            Entry::Human { .. } => "human",
            Entry::Steering { .. } => "steering",
            Entry::Assistant { .. } => "assistant",
            Entry::Result { .. } => "result",
        });
        assert_eq!(kinds.collect::<Vec<_>>(), ["human", "assistant", "result", "steering"]);
        let wanted = AgentId { phase: "coder".to_owned(), task_id: "TASK-002".to_owned(), title: "Cards".to_owned() };
        assert_eq!(agent(&body, &conversation), Some(wanted));
        assert_eq!(agent(&json!({"messages": body["messages"]}), &conversation), None, "without tools it is a side request");
        assert!(texts(&body).iter().any(|text| text.starts_with("a.txt")));
    }
}
