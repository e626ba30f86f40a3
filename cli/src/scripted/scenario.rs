//! The scenario file in JSON: the steps of every agent. Must not know who plays it.
//!
//! A scenario is a list of parts, and an agent plays the first part that matches it. A part is a list of turns, and a turn is one answer of a
//! model: text, tool calls, or both. Put parts for special cases before the general one.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::runs::agent_kind::AgentKind;
use regex::Regex;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::placeholder::{self, PlaceholderError};
use super::tool::BuiltIn;

/// A scenario that passed every check.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub parts: Vec<Part>,
}

/// The work of one agent after one prompt.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// `Phase:` of the agent's `<issue>` block.
    pub phase: AgentKind,
    /// Text that the task's title contains.
    pub title: Option<String>,
    /// How often this session was prompted, including this prompt: 1 is the first attempt, 2 follows a rejection or an answer.
    pub attempt: Option<NonZeroU32>,
    /// A pattern that the latest prompt must match. It tells a reviewer's second session from the first by the comments.
    pub sees: Option<Pattern>,
    /// A pattern that a message to the working agent must match. The turns begin after that message.
    pub told: Option<Pattern>,
    pub turns: Vec<Turn>,
    /// Makes the model fail before the first turn.
    pub fail: Option<Failure>,
}

/// One answer of the model.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Turn {
    #[serde(default)]
    pub text: String,
    #[serde(default)]
    pub calls: Vec<Call>,
    /// Milliseconds before the turn, to let people watch.
    #[serde(default)]
    pub pause_ms: u64,
}

/// The tool that starts a helper. Only the real program has it; the scripted agent answers that the tool does not exist.
const HELPER: &str = "Agent";

/// One tool call: `Bash`, `Write`, `Edit`, `Read`, `Agent`, or an MCP tool by its full name. Strings of the input may hold placeholders.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    pub tool: String,
    #[serde(default)]
    pub input: Map<String, Value>,
}

/// The model's service refuses the first `times` requests of a part with an HTTP status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    pub status: u16,
    /// Seconds, as in the header of that name.
    pub retry_after: Option<u64>,
    pub times: u32,
}

/// A regular expression, compiled when the scenario is read.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub struct Pattern(Regex);

impl TryFrom<String> for Pattern {
    type Error = regex::Error;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Regex::new(&text).map(Self)
    }
}

impl Pattern {
    pub(super) fn is_match(&self, text: &str) -> bool {
        self.0.is_match(text)
    }
}

impl Turn {
    pub fn pause(&self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }
}

/// The reason why a scenario is not valid. Parts, turns and calls are counted from 1.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    #[error("the scenario {} could not be read: check the path", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error("the scenario is not valid: {0}")]
    Json(#[from] serde_json::Error),
    #[error("part {part}, turn {turn}: only the last turn may be without calls, because a turn without calls ends the agent's work")]
    EndsEarly { part: usize, turn: usize },
    #[error("part {part}, turn {turn}: {tool:?} is not a tool: use Bash, Write, Edit, Read or an MCP tool as mcp__server__tool")]
    Tool { part: usize, turn: usize, tool: String },
    #[error("part {part}, turn {turn}: the input of {tool} is not valid: {source}")]
    Input { part: usize, turn: usize, tool: String, source: serde_json::Error },
    #[error("part {part}, turn {turn}: {source}")]
    Placeholder { part: usize, turn: usize, source: PlaceholderError },
}

impl Scenario {
    /// Reads and checks a scenario file.
    ///
    /// # Errors
    /// The file cannot be read, or [`Scenario::parse`] rejects it.
    pub fn read(path: &Path) -> Result<Self, ScenarioError> {
        let text = std::fs::read_to_string(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
        Self::parse(&text)
    }

    /// Parses a scenario. Unknown keys, tools and placeholders and invalid tool inputs are errors, so a typing mistake cannot stop a scenario
    /// halfway.
    ///
    /// # Errors
    /// The part, the turn and the mistake.
    pub fn parse(text: &str) -> Result<Self, ScenarioError> {
        let scenario: Self = serde_json::from_str(text)?;
        for (index, part) in scenario.parts.iter().enumerate() {
            part.check(index + 1)?;
        }
        Ok(scenario)
    }
}

impl Part {
    fn check(&self, part: usize) -> Result<(), ScenarioError> {
        for (index, turn) in self.turns.iter().enumerate() {
            let number = index + 1;
            if turn.calls.is_empty() && number < self.turns.len() {
                return Err(ScenarioError::EndsEarly { part, turn: number });
            }
            let in_turn = |source| ScenarioError::Placeholder { part, turn: number, source };
            placeholder::check(&turn.text).map_err(in_turn)?;
            turn.calls.iter().try_for_each(|call| call.check(part, number))?;
        }
        Ok(())
    }
}

impl Call {
    fn check(&self, part: usize, turn: usize) -> Result<(), ScenarioError> {
        let tool = || self.tool.clone();
        let input = Value::Object(self.input.clone());
        placeholder::map_strings(&input, &mut |text| placeholder::check(text).map(|()| String::new()))
            .map_err(|source| ScenarioError::Placeholder { part, turn, source })?;
        if self.tool.strip_prefix("mcp__").and_then(|name| name.split_once("__")).is_some() {
            return Ok(());
        }
        match BuiltIn::parse(&self.tool, &self.input) {
            None if self.tool == HELPER => Ok(()),
            None => Err(ScenarioError::Tool { part, turn, tool: tool() }),
            Some(parsed) => parsed.map(|_| ()).map_err(|source| ScenarioError::Input { part, turn, tool: tool(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        Scenario::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn mistakes_are_rejected_when_parsing() {
        let part = |turns: &str| format!(r#"{{"parts":[{{"phase":"coder","turns":[{turns}]}}]}}"#);
        let cases = [
            (r#"{"parts":[{"phase":"coder","turn":[]}]}"#.to_owned(), "unknown field `turn`"),
            (r#"{"parts":[{"phase":"tester","turns":[]}]}"#.to_owned(), "unknown variant `tester`"),
            (r#"{"parts":[{"phase":"coder","attempt":0,"turns":[]}]}"#.to_owned(), "nonzero"),
            (r#"{"parts":[{"phase":"coder","sees":"(","turns":[]}]}"#.to_owned(), "unclosed group"),
            (part(r#"{"text":"a"},{"text":"b"}"#), "part 1, turn 1: only the last turn"),
            (part(r#"{"calls":[{"tool":"Bsh","input":{}}]}"#), "\"Bsh\" is not a tool"),
            (part(r#"{"calls":[{"tool":"Bash","input":{"cmd":"ls"}}]}"#), "the input of Bash is not valid: unknown field `cmd`"),
            (part(r#"{"calls":[{"tool":"mcp__a__b","input":{"x":["{{nope}}"]}}]}"#), "unknown placeholder `{{nope}}`"),
        ];
        for (text, wanted) in cases {
            let message = refusal(&text);
            assert!(message.contains(wanted), "{text}: {message}");
        }
    }
}
