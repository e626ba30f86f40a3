//! The transcript of a run, readable by a person. It must not know which program the agent runs in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::vocabulary::vocabulary;

/// The transcript's file in a run's folder. Each line is an [`OutputLine`] as JSON.
pub const TRANSCRIPT_FILE: &str = "transcript.jsonl";

vocabulary! {
    OutputKind, "kind of output" {
        /// A session or a turn started.
        Start = "start",
        Text = "text",
        Thinking = "thinking",
        /// The agent uses a tool. `text` is one line and `detail` holds the input.
        ToolUse = "tool_use",
        ToolResult = "tool_result",
        ToolError = "tool_error",
        /// A message to the agent.
        Message = "message",
        /// A turn ended.
        Result = "result",
        Error = "error",
        /// Any other output of its program.
        Note = "note",
    }
}

/// One entry of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputLine {
    /// The end of the raw output that it covers, in bytes. The entries of one raw line share the number.
    pub offset: u64,
    pub kind: OutputKind,
    pub text: String,
    /// The collapsed part: a tool's input or full output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A part of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    pub lines: Vec<OutputLine>,
    /// The offset of the next request, in bytes of the transcript.
    pub next: u64,
    /// Whether the run ended and no more lines follow.
    pub complete: bool,
}

#[cfg(test)]
mod tests;
