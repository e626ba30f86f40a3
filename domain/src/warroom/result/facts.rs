//! The result that follows from the facts of runs, for the work of managed agents. Must not know how facts are stored.

use crate::runs::agent_kind::AgentKind;
use crate::runs::evidence::Sha;
use crate::text::excerpt;

use super::MAX_RESULT_BYTES;

/// The most attempts, verdicts and files that a result lists.
pub const MAX_LISTED: usize = 20;
/// How much of a comment and of a finding is kept, in characters.
const MAX_COMMENT: usize = 2_000;
const MAX_FINDING: usize = 200;

/// An attempt of a managed agent that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attempt {
    pub kind: AgentKind,
    pub number: u32,
    /// How it ended, or why it failed.
    pub end: String,
}

/// The decision of a reviewer or a person about a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    pub approved: bool,
    pub by: String,
    pub sha: Sha,
    pub findings: Option<String>,
}

/// The facts about the work on a task, each list with the newest [`MAX_LISTED`] entries, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Facts {
    pub attempts: Vec<Attempt>,
    pub decisions: Vec<Decision>,
    /// The last comment of a coder.
    pub comment: Option<String>,
    /// The files that it changed.
    pub files: Vec<String>,
}

impl Facts {
    /// Words the facts under the headings of a result.
    pub fn worded(&self) -> String {
        let attempts = self.attempts.iter().map(|Attempt { kind, number, end }| format!("- {kind}, attempt {number}: {}", excerpt(end, MAX_FINDING)));
        let decisions = self.decisions.iter().map(|Decision { approved, by, sha, findings }| {
            let short = sha.get(..10).unwrap_or(sha);
            let verdict = if *approved { "approved" } else { "sent back" };
            let findings = findings.as_deref().map(|findings| format!(": {}", excerpt(findings, MAX_FINDING))).unwrap_or_default();
            format!("- {short} {verdict} by {by}{findings}")
        });
        let comment = self.comment.as_deref().map(|comment| comment.chars().take(MAX_COMMENT).collect::<String>());
        let files = self.files.iter().map(|file| format!("- {file}"));
        let sections = [
            ("What was tried", list(attempts, "The attempts are not recorded.")),
            ("What worked and what did not", list(decisions, "No review is recorded.")),
            ("What the next agent should know", comment.unwrap_or_else(|| "Its agent left no comment.".to_owned())),
            ("Changed files", list(files, "No changed file is recorded.")),
        ];
        let mut text = sections.map(|(title, body)| format!("## {title}\n\n{body}")).join("\n\n");
        text.truncate(text.floor_char_boundary(MAX_RESULT_BYTES));
        text
    }
}

fn list(lines: impl Iterator<Item = String>, none: &str) -> String {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { none.to_owned() } else { lines.join("\n") }
}
