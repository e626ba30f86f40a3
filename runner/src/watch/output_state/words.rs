//! The words and failed tool calls of an agent that its card shows when it ends without an outcome. Pure.

use std::collections::BTreeMap;

use domain::runs::run_event::{RunEvent, ToolCall, ToolKind};
use domain::text;

use crate::watch::commit_failure::is_commit;

/// The length of each quotation, in characters.
const QUOTED_CHARS: usize = 400;
/// Calls whose end is awaited. A program that reports no ends must not fill the memory.
const MAX_PENDING: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct Words {
    /// The titles of started calls, by id, and whether they commit.
    pending: BTreeMap<String, (String, bool)>,
    failed_call: Option<FailedCall>,
    failed_commit: Option<FailedCall>,
    last: Option<String>,
    /// The last words since a tool was called or a turn started.
    after_calls: Option<String>,
    question: Option<String>,
}

/// A call that failed or was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FailedCall {
    pub(crate) title: String,
    /// The end of its output, where programs print their errors.
    pub(crate) output: String,
}

impl Words {
    pub(super) fn apply(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Text { text } if !text.trim().is_empty() => {
                self.last = Some(text.trim().to_owned());
                self.after_calls.clone_from(&self.last);
            }
            RunEvent::ToolStarted(call) => {
                self.after_calls = None;
                if self.pending.len() < MAX_PENDING {
                    let commits = call.kind == ToolKind::Execute && is_commit(call.input["command"].as_str().unwrap_or(&call.title));
                    self.pending.insert(call.id.clone(), (title(call), commits));
                }
            }
            RunEvent::TurnStarted {} => self.after_calls = None,
            RunEvent::ToolEnded { id, ok, output } => {
                let (title, commits) = self.pending.remove(id).unwrap_or_else(|| ("a tool".to_owned(), false));
                let failed = (!ok).then(|| FailedCall { title, output: text::excerpt_end(output.trim(), QUOTED_CHARS) });
                if commits {
                    self.failed_commit.clone_from(&failed);
                }
                self.failed_call = failed.or(self.failed_call.take());
            }
            RunEvent::TurnEnded { .. } => {
                self.question = self.last.clone().filter(|words| is_question(words)).or(self.question.take());
            }
            _ => {}
        }
    }

    pub(super) fn failed_call(&self) -> Option<&FailedCall> {
        self.failed_call.as_ref()
    }

    pub(super) fn failed_commit(&self) -> Option<&FailedCall> {
        self.failed_commit.as_ref()
    }

    /// The agent's last words.
    pub(super) fn last(&self) -> Option<String> {
        self.last.as_deref().map(|last| text::excerpt_end(last, QUOTED_CHARS))
    }

    /// The last words since the agent called a tool, in this turn.
    pub(super) fn final_words(&self) -> Option<&str> {
        self.after_calls.as_deref()
    }

    /// The last words of a turn, if they ask for a decision.
    pub(super) fn question(&self) -> Option<&str> {
        self.question.as_deref()
    }
}

fn title(call: &ToolCall) -> String {
    let target = text::excerpt(&call.title, 80);
    if target.is_empty() || call.name.ends_with(target.as_str()) { call.name.clone() } else { format!("{} `{target}`", call.name) }
}

/// Whether the last paragraph of a text asks its reader for a decision. Agents ask in words as often as with a question mark.
fn is_question(words: &str) -> bool {
    const REQUESTS: [&str; 8] =
        ["tell me", "let me know", "please confirm", "please choose", "please clarify", "please decide", "which one", "waiting for your"];
    let paragraph = words.trim_end().rsplit("\n\n").next().unwrap_or_default().to_lowercase();
    paragraph.contains('?') || REQUESTS.iter().any(|request| paragraph.contains(request))
}

#[cfg(test)]
mod tests {
    use domain::runs::run_event::StopReason;
    use serde_json::Value;

    use super::*;

    fn said(text: &str) -> RunEvent {
        RunEvent::Text { text: text.to_owned() }
    }

    #[test]
    fn request_for_a_decision_is_a_question() {
        for words in ["Two designs fit.\n\nTell me which one you want.", "Which database?", "I stopped. Please confirm that I may delete it."] {
            assert!(is_question(words), "{words}");
        }
        for words in ["Is it slow? I measured it.\n\nIt is not. The work is committed.", "Done.", ""] {
            assert!(!is_question(words), "{words}");
        }
    }

    #[test]
    fn question_outlasts_a_turn_that_only_repeats_that_the_agent_waits() {
        let mut words = Words::default();
        for event in [
            said("Red or blue?"),
            RunEvent::TurnEnded { reason: StopReason::EndTurn },
            said("I wait."),
            RunEvent::TurnEnded { reason: StopReason::EndTurn },
        ] {
            words.apply(&event);
        }
        assert_eq!((words.question(), words.last().as_deref()), (Some("Red or blue?"), Some("I wait.")));
    }

    #[test]
    fn failed_call_is_named_with_the_end_of_its_output() {
        let call = ToolCall {
            id: "1".to_owned(),
            kind: ToolKind::Execute,
            name: "Bash".to_owned(),
            title: "git commit -m x".to_owned(),
            locations: Vec::new(),
            input: Value::Null,
            edits: Vec::new(),
        };
        let mut words = Words::default();
        words.apply(&RunEvent::ToolStarted(call.clone()));
        words.apply(&RunEvent::ToolEnded { id: "1".to_owned(), ok: false, output: format!("{}the hook refuses", "x".repeat(9999)) });
        let failed = words.failed_call().unwrap();
        assert_eq!(failed.title, "Bash `git commit -m x`");
        assert!(failed.output.ends_with("the hook refuses") && failed.output.chars().count() <= QUOTED_CHARS + 1);
        assert!(words.pending.is_empty());
        let refused = RunEvent::ToolEnded { id: "2".to_owned(), ok: false, output: "no commits".to_owned() };
        words.apply(&RunEvent::ToolStarted(ToolCall { id: "2".to_owned(), title: "update_task_status".to_owned(), ..call.clone() }));
        words.apply(&refused);
        assert_eq!((words.failed_call().unwrap().output.as_str(), words.failed_commit().is_some()), ("no commits", true));
        words.apply(&RunEvent::ToolStarted(call));
        words.apply(&RunEvent::ToolEnded { id: "1".to_owned(), ok: true, output: String::new() });
        assert_eq!(words.failed_commit(), None, "a later commit succeeded");
    }
}
