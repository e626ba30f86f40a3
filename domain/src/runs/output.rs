//! What an agent said and did, readable by a person, whatever program the agent runs in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::vocabulary::vocabulary;

vocabulary! {
    OutputKind, "kind of output" {
        /// A session began, or the run was taken up again.
        Start = "start",
        Text = "text",
        Thinking = "thinking",
        /// The agent uses a tool: `text` says it in a line, `detail` holds the input.
        ToolUse = "tool_use",
        ToolResult = "tool_result",
        ToolError = "tool_error",
        /// Somebody spoke to the agent.
        Message = "message",
        /// A turn ended.
        Result = "result",
        Error = "error",
        /// Anything else that its program printed.
        Note = "note",
    }
}

/// One entry of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputLine {
    /// How many bytes of the program's own output it covers: entries of one line share the number.
    pub offset: u64,
    pub kind: OutputKind,
    pub text: String,
    /// What is folded away at first: a tool's input or full result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A part of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    pub lines: Vec<OutputLine>,
    /// What to ask for next time, in bytes of the transcript.
    pub next: u64,
    /// Whether the run ended and nothing more will come.
    pub complete: bool,
}

#[cfg(test)]
mod tests;
