//! Permissions: an agent that has to ask before it uses a tool, and the answers of a person.
//!
//! Must not know the tools of any agent program.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::attention::{Attention, AttentionKind};
use crate::event::kinds::events;
use crate::id::RunId;
use crate::printable::printable;
use crate::refusal::category::refusals;
use crate::runs::agent_kind::AgentKind;
use crate::runs::run_event::{ToolCall, ToolKind};
use crate::text;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The most text of a call that is shown. A longer call is cut, and can be allowed only once.
const MAX_INPUT_BYTES: usize = 16 * 1024;

/// Whether agents ask before they use a tool that changes something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PermissionMode {
    /// They use their tools without a question.
    #[default]
    Auto,
    /// They wait for a person, except for what the agent program considers harmless, and for the tools of the board.
    Ask,
}

vocabulary! {
    /// The answer of a person.
    PermissionAnswer, "answer" {
        Allow = "allow",
        Deny = "deny",
        /// Allow it now, and the same for the rest of the task.
        Always = "always",
    }
}

/// The uses of a tool that an answer for the whole task allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ToolRule {
    pub tool: String,
    /// Only exactly this command; without one, every use of the tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl ToolRule {
    /// Says what it allows.
    pub fn sentence(&self) -> String {
        match &self.command {
            Some(_) => format!("exactly this {} command", self.tool),
            None => format!("every use of {}", self.tool),
        }
    }
}

/// A request of an agent to use a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PermissionRequest {
    pub id: i64,
    pub run_id: RunId,
    pub tool: String,
    /// The input of the tool. Characters that a reader would not see are replaced.
    pub input: String,
    /// The uses that the answer `always` would allow; missing if only this one can be allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<ToolRule>,
    pub asked_at: Timestamp,
    pub answer: Option<PermissionAnswer>,
    /// Why it was denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The name of the person who answered; missing after an answer for the whole task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

impl PermissionRequest {
    /// The attention for a card whose agent waits for an answer.
    pub fn attention(&self, phase: AgentKind) -> Attention {
        let input = self.input.split_whitespace().collect::<Vec<_>>().join(" ");
        let detail = format!("Its {phase} asks to use {}: {}", self.tool, text::excerpt(&input, 200));
        Attention::new(AttentionKind::Permission, detail)
    }
}

/// Returns what a person reads of a call, and what an answer for the whole task would allow.
pub fn readable_call(call: &ToolCall) -> (String, Option<ToolRule>) {
    let is_command = call.kind == ToolKind::Execute;
    let whole = if is_command { call.title.clone() } else { serde_json::to_string_pretty(&call.input).unwrap_or_else(|_| call.title.clone()) };
    let rule = ToolRule { tool: call.name.clone(), command: is_command.then(|| call.title.clone()) };
    if whole.len() <= MAX_INPUT_BYTES {
        return (printable(&whole).into_owned(), Some(rule));
    }
    let end = whole.floor_char_boundary(MAX_INPUT_BYTES);
    let shown = format!("{}\n… {} more bytes, which are not shown", printable(&whole[..end]), whole.len() - end);
    (shown, None)
}

events! {
    /// A change of a permission request.
    PermissionEvent {
        Asked "permission_asked" { request: i64, tool: String }
        /// A person answered, or an earlier answer for the whole task applies.
        Answered "permission_answered" { request: i64, answer: PermissionAnswer }
        /// The agent received the answer, or no longer waits for one.
        Closed "permission_closed" { request: i64 }
    }
}

refusals! {
    /// Why a permission request may not be answered.
    PermissionRefusal {
        #[error("request {request} was already answered: {answer}")]
        Answered { request: i64, answer: PermissionAnswer } => Conflict "permission-answered",
        #[error("the agent is not waiting for an answer to request {request}")]
        Closed { request: i64 } => Unprocessable "permission-closed",
    }
}

impl PermissionRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Answered { .. } => "The first answer counts. Interrupt or stop the agent if it should not continue.".to_owned(),
            Self::Closed { .. } => "Its run ended or was interrupted. Read the card again.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(kind: ToolKind, name: &str, title: &str, input: serde_json::Value) -> ToolCall {
        ToolCall { id: "t".to_owned(), kind, name: name.to_owned(), title: title.to_owned(), locations: Vec::new(), input, edits: Vec::new() }
    }

    #[test]
    fn command_is_shown_whole_and_allowed_exactly() {
        let (shown, rule) = readable_call(&call(ToolKind::Execute, "Bash", "touch a\nrm b # \u{202e}\u{1b}[2J", json!({})));
        assert_eq!(shown, "touch a\nrm b # \\u202e\\u001b[2J");
        let rule = rule.unwrap();
        assert_eq!(rule.command.as_deref(), Some("touch a\nrm b # \u{202e}\u{1b}[2J"));
        assert_eq!(rule.sentence(), "exactly this Bash command");
    }

    #[test]
    fn other_tools_are_shown_with_their_input_and_allowed_by_name() {
        let (shown, rule) = readable_call(&call(ToolKind::Write, "Write", "a.txt", json!({"file_path": "a.txt", "content": "x\u{1b}"})));
        insta::assert_snapshot!(shown, @r#"
        {
          "content": "x\u001b",
          "file_path": "a.txt"
        }
        "#);
        assert_eq!(rule.unwrap().sentence(), "every use of Write");
    }

    #[test]
    fn call_that_is_cut_cannot_be_allowed_for_the_task() {
        let long = format!("{}; rm -rf ~", "ä".repeat(MAX_INPUT_BYTES));
        let (shown, rule) = readable_call(&call(ToolKind::Execute, "Bash", &long, json!({})));
        assert_eq!(rule, None);
        assert!(shown.len() < MAX_INPUT_BYTES + 100 && shown.ends_with("more bytes, which are not shown"), "{}", shown.len());
    }
}
