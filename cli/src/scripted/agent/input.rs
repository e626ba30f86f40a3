//! What reaches the scripted agent on stdin: user messages and control requests, one JSON object a line. It must not know what follows.

use std::io;
use std::thread;

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

/// A user message as it was sent.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) uuid: Option<String>,
}

/// One thing read from stdin.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    User(Message),
    Control { request_id: Value, subtype: String },
    Foreign(String),
}

#[derive(Deserialize)]
struct RawLine {
    #[serde(rename = "type")]
    kind: String,
    message: Option<RawMessage>,
    uuid: Option<String>,
    request_id: Option<Value>,
    request: Option<Value>,
}

#[derive(Deserialize)]
struct RawMessage {
    content: Value,
}

impl Line {
    fn parse(text: &str) -> Self {
        let foreign = || Self::Foreign(text.to_owned());
        let Ok(raw) = serde_json::from_str::<RawLine>(text) else { return foreign() };
        match (raw.kind.as_str(), raw.message) {
            ("user", Some(message)) => Self::User(Message { text: text_of(&message.content), uuid: raw.uuid }),
            ("control_request", _) => {
                let subtype = raw.request.and_then(|request| Some(request["subtype"].as_str()?.to_owned()));
                Self::Control { request_id: raw.request_id.unwrap_or_default(), subtype: subtype.unwrap_or_default() }
            }
            _ => foreign(),
        }
    }
}

/// A message's content is a string or a list of blocks.
fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// Lines as they arrive, read meanwhile so that a working agent sees what came meanwhile.
#[derive(Debug)]
pub(super) struct Input {
    lines: mpsc::UnboundedReceiver<Line>,
}

impl Input {
    /// Reads in a thread of its own, which ends with the process: a pending read of stdin cannot be cancelled.
    pub(super) fn start() -> Self {
        let (sender, lines) = mpsc::unbounded_channel();
        thread::spawn(move || {
            for text in io::stdin().lines().map_while(Result::ok).filter(|text| !text.trim().is_empty()) {
                if sender.send(Line::parse(&text)).is_err() {
                    break;
                }
            }
        });
        Self { lines }
    }

    /// The next line; nothing when stdin was closed and everything before was taken.
    pub(super) async fn next(&mut self) -> Option<Line> {
        self.lines.recv().await
    }

    /// A line that has arrived already.
    pub(super) fn waiting(&mut self) -> Option<Line> {
        self.lines.try_recv().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_runner_are_understood_and_others_are_kept() {
        let message = |text: &str, uuid: Option<&str>| Line::User(Message { text: text.to_owned(), uuid: uuid.map(str::to_owned) });
        let plain = r#"{"type":"user","message":{"role":"user","content":"go"},"uuid":"u1"}"#;
        assert_eq!(Line::parse(plain), message("go", Some("u1")));
        let blocks = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(Line::parse(blocks), message("a\nb", None));
        let control = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#;
        assert_eq!(Line::parse(control), Line::Control { request_id: "r1".into(), subtype: "interrupt".to_owned() });
        assert_eq!(Line::parse("{not json"), Line::Foreign("{not json".to_owned()));
    }
}
