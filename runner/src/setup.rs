//! The setup of a checkout before its agent starts, as the server orders it from a shim, and the reports of the shim about it.
//!
//! A report is one line of the run's output, like the messages of an agent program, so it is stored, shown and followed in the same way. This
//! module must not run anything; [`crate::shim`] does.

pub(crate) mod reuse;

use std::path::PathBuf;

use domain::runs::run_event::{RunEvent, ToolCall, ToolKind};
use serde::{Deserialize, Serialize};

/// The name under which a transcript shows the commands.
const NAME: &str = "Setup";
/// The type of all lines of this module.
const LINE_TYPE: &str = "vibe_relay_setup";

/// The part of a run's spec that prepares its checkout.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupSpec {
    pub commands: Vec<SetupCommand>,
    /// Seconds after which a command is ended.
    pub limit_seconds: u64,
    /// The file that gets `key` when all commands ended well.
    pub stamp: PathBuf,
    /// Identifies the commands and the lock files: a checkout with this stamp is set up already.
    pub key: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reuse: Option<Reuse>,
}

/// One line of shell.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetupCommand {
    /// As the person wrote it.
    pub line: String,
    /// The program and its arguments, inside of the jail if there is one.
    pub argv: Vec<String>,
}

/// Folders that later checkouts get as copies instead of running the commands again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reuse {
    /// The folder of the copies for this key.
    pub cache: PathBuf,
    /// Relative to the checkout.
    pub folders: Vec<PathBuf>,
    /// Whether copies may be kept from this checkout: only if its commit was approved, because setup runs what the commit contains.
    pub keep: bool,
}

/// A report of the shim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub(crate) enum SetupEvent {
    Started {
        id: String,
        line: String,
    },
    /// A line that the command printed.
    Printed {
        text: String,
    },
    Ended {
        id: String,
        ok: bool,
        text: String,
    },
}

#[derive(Serialize, Deserialize)]
struct Line {
    r#type: String,
    #[serde(flatten)]
    event: SetupEvent,
}

impl SetupEvent {
    /// Writes the report as a line without its newline.
    pub(crate) fn encode(self) -> String {
        // Texts always have a form in JSON.
        serde_json::to_string(&Line { r#type: LINE_TYPE.to_owned(), event: self }).unwrap_or_default()
    }
}

/// The run events of a line that a shim wrote; `None` for a line of the agent program.
pub(crate) fn decode(line: &str) -> Option<Vec<RunEvent>> {
    if !line.contains(LINE_TYPE) {
        return None;
    }
    let Line { r#type, event } = serde_json::from_str(line).ok()?;
    if r#type != LINE_TYPE {
        return None;
    }
    Some(vec![match event {
        SetupEvent::Started { id, line } => RunEvent::ToolStarted(ToolCall {
            id,
            kind: ToolKind::Execute,
            name: NAME.to_owned(),
            title: line,
            locations: Vec::new(),
            input: serde_json::Value::Null,
            edits: Vec::new(),
        }),
        SetupEvent::Printed { text } => RunEvent::Other { raw: text, plain: true },
        SetupEvent::Ended { id, ok, text } => RunEvent::ToolEnded { id, ok, output: text },
    }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_shim_are_written_and_read() {
        let started = SetupEvent::Started { id: "setup-1".to_owned(), line: "npm ci".to_owned() }.encode();
        insta::assert_snapshot!(started, @r#"{"type":"vibe_relay_setup","event":"started","id":"setup-1","line":"npm ci"}"#);
        let Some([RunEvent::ToolStarted(call)]) =
            decode(&started).as_deref().map(|events| events.to_vec()).map(<[RunEvent; 1]>::try_from).and_then(Result::ok)
        else {
            panic!("no start");
        };
        assert_eq!((call.name.as_str(), call.title.as_str(), call.kind), ("Setup", "npm ci", ToolKind::Execute));
        let printed = SetupEvent::Printed { text: "added 3 packages\u{1b}[0m".to_owned() }.encode();
        assert_eq!(decode(&printed), Some(vec![RunEvent::Other { raw: "added 3 packages\u{1b}[0m".to_owned(), plain: true }]));
        let ended = SetupEvent::Ended { id: "setup-1".to_owned(), ok: false, text: "exit code 1".to_owned() }.encode();
        assert_eq!(decode(&ended), Some(vec![RunEvent::ToolEnded { id: "setup-1".to_owned(), ok: false, output: "exit code 1".to_owned() }]));
    }

    #[test]
    fn lines_of_an_agent_program_are_not_read() {
        for line in [r#"{"type":"assistant","text":"vibe_relay_setup"}"#, r#"{"type":"vibe_relay_setup","event":"other"}"#, "vibe_relay_setup", ""] {
            assert_eq!(decode(line), None, "{line}");
        }
    }
}
