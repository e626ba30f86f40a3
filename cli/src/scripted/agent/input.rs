//! The scripted agent's standard input: user messages and control requests, one JSON object per line. Must not know how they are answered.

use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::thread;

use serde::Deserialize;
use serde_json::Value;
use tokio::sync::mpsc;

/// The control request that ends a turn.
pub(super) const INTERRUPT: &str = "interrupt";

/// A user message.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Message {
    pub(super) text: String,
    pub(super) uuid: Option<String>,
}

/// One line of standard input.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Line {
    User(Message),
    Control { request_id: Value, subtype: String },
    Unparsed(String),
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
        let unparsed = || Self::Unparsed(text.to_owned());
        let Ok(raw) = serde_json::from_str::<RawLine>(text) else { return unparsed() };
        match (raw.kind.as_str(), raw.message) {
            ("user", Some(message)) => Self::User(Message { text: text_of(&message.content), uuid: raw.uuid }),
            ("control_request", _) => {
                let subtype = raw.request.and_then(|request| Some(request["subtype"].as_str()?.to_owned()));
                Self::Control { request_id: raw.request_id.unwrap_or_default(), subtype: subtype.unwrap_or_default() }
            }
            _ => unparsed(),
        }
    }
}

/// The text of a message, whose content is a string or a list of blocks.
fn text_of(content: &Value) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let blocks = content.as_array().into_iter().flatten();
    blocks.filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n")
}

/// The lines so far, read in the background while the agent works.
#[derive(Debug)]
pub(super) struct Input {
    lines: mpsc::UnboundedReceiver<Line>,
    /// Lines that arrived while the agent waited for an interrupt alone.
    early: VecDeque<Line>,
}

impl Input {
    /// Starts a thread that reads until the process ends, because a pending read of standard input cannot be cancelled.
    pub(super) fn start() -> Self {
        let (sender, lines) = mpsc::unbounded_channel();
        thread::spawn(move || {
            for text in io::stdin().lines().map_while(Result::ok).filter(|text| !text.trim().is_empty()) {
                if sender.send(Line::parse(&text)).is_err() {
                    break;
                }
            }
        });
        Self { lines, early: VecDeque::new() }
    }

    /// Waits for the next line. Returns `None` after the last line.
    pub(super) async fn next(&mut self) -> Option<Line> {
        match self.early.pop_front() {
            Some(line) => Some(line),
            None => self.lines.recv().await,
        }
    }

    /// Waits for an interrupt and returns the id of its request. Other lines are kept.
    pub(super) async fn interrupt(&mut self) -> Value {
        while let Some(line) = self.lines.recv().await {
            match line {
                Line::Control { request_id, subtype } if subtype == INTERRUPT => return request_id,
                line => self.early.push_back(line),
            }
        }
        pending().await
    }

    /// Returns a line that has already arrived.
    pub(super) fn waiting(&mut self) -> Option<Line> {
        self.early.pop_front().or_else(|| self.lines.try_recv().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_lines_are_parsed_and_others_kept() {
        let message = |text: &str, uuid: Option<&str>| Line::User(Message { text: text.to_owned(), uuid: uuid.map(str::to_owned) });
        let plain = r#"{"type":"user","message":{"role":"user","content":"go"},"uuid":"u1"}"#;
        assert_eq!(Line::parse(plain), message("go", Some("u1")));
        let blocks = r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}}"#;
        assert_eq!(Line::parse(blocks), message("a\nb", None));
        let control = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}"#;
        assert_eq!(Line::parse(control), Line::Control { request_id: "r1".into(), subtype: "interrupt".to_owned() });
        assert_eq!(Line::parse("{not json"), Line::Unparsed("{not json".to_owned()));
    }
}
