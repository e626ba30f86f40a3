//! The transcript of a run, in a form that does not depend on the agent program.
//!
//! Must not know which program the agent runs in.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::vocabulary::vocabulary;

/// The transcript's file in a run's folder. Each line is an [`OutputLine`] as JSON.
pub const TRANSCRIPT_FILE: &str = "transcript.jsonl";
/// The file of a run's folder with what the agent program wrote.
pub const RAW_OUTPUT_FILE: &str = "stdout";
/// The file of the folder of a command other than an agent with everything that it printed.
pub const COMMAND_OUTPUT_FILE: &str = "output";

vocabulary! {
    /// The kind of a transcript entry.
    OutputKind, "kind of output" {
        /// A session started or was resumed.
        Start = "start",
        Text = "text",
        Thinking = "thinking",
        /// A tool call: `text` is a one-line summary, `detail` is the input.
        ToolUse = "tool_use",
        /// A tool call that edits a file: `detail` has its lines, each after `-`, `+` or a space.
        Edit = "edit",
        ToolResult = "tool_result",
        ToolError = "tool_error",
        /// The agent received a message.
        Message = "message",
        /// A turn ended.
        Result = "result",
        Error = "error",
        /// Any other output of the program.
        Note = "note",
    }
}

/// One entry of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OutputLine {
    /// The end of its line in the program's output, in bytes. All entries of one line have the same offset.
    pub offset: u64,
    pub kind: OutputKind,
    pub text: String,
    /// Text that the UI folds: a tool's input or full result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A part of a run's transcript.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Output {
    pub lines: Vec<OutputLine>,
    /// The offset of the next part, in bytes of the transcript.
    pub next: u64,
    /// Whether the run has ended and the transcript is complete.
    pub complete: bool,
}

#[cfg(test)]
mod tests;
