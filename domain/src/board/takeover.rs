//! Takeover: a person continues the work of an agent by hand, in the task's own worktree, and gives it back.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::runs::evidence::{Sha, short};

/// The folder and the command with which a person continues the work of an agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Takeover {
    /// The worktree of the task.
    pub folder: String,
    /// The shell command that continues the agent's last session there. Missing if no agent of the task has a session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

/// The work of a person in a worktree that they give back, as read from the repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HandBack {
    /// The commits since the takeover as id and subject, newest first, at most [`Self::LISTED`].
    pub commits: Vec<(Sha, String)>,
    /// The files that they changed, at most [`Self::LISTED`].
    pub changed: Vec<String>,
    /// The files that are not committed, at most [`Self::LISTED`].
    pub uncommitted: Vec<String>,
    /// The reference that keeps a copy of the uncommitted files.
    pub kept: Option<String>,
    /// Uncommitted files of which there is no copy, because they are too large or cannot be read.
    pub not_kept: Vec<String>,
}

impl HandBack {
    /// How many commits and files an agent is told.
    pub const LISTED: usize = 30;

    /// Describes the work for the agent that continues it.
    pub fn comment(&self, person: &str) -> String {
        let mut text = format!("{person} took this task over, worked in its worktree, and gave it back. Continue from the state of the worktree.");
        let commits: Vec<String> = self.commits.iter().map(|(sha, subject)| format!("{} {subject}", short(sha))).collect();
        text += &list("Commits since then, newest first:", &commits);
        text += &list("Files that they change:", &self.changed);
        text += &list("Files that are not committed. Keep this work, and commit what belongs to the task:", &self.uncommitted);
        if let Some(reference) = &self.kept {
            text += &format!("\n\nA copy of the uncommitted files is in {reference}.");
        }
        text += &list("Not in the copy, because they are too large or cannot be read:", &self.not_kept);
        if self.commits.is_empty() && self.uncommitted.is_empty() {
            text += " Nothing was changed there.";
        }
        text
    }
}

/// A titled list in Markdown; nothing without items.
fn list(title: &str, items: &[String]) -> String {
    if items.is_empty() { String::new() } else { format!("\n\n{title}\n- {}", items.join("\n- ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_told_what_the_person_did() {
        let work = HandBack {
            commits: vec![("a".repeat(40), "Fix the parser".to_owned())],
            changed: vec!["src/parse.rs".to_owned()],
            uncommitted: vec!["notes.md".to_owned()],
            kept: Some("refs/vibe-relay/rescue/TASK-001/given-back".to_owned()),
            not_kept: Vec::new(),
        };
        insta::assert_snapshot!(work.comment("human"), @"
        human took this task over, worked in its worktree, and gave it back. Continue from the state of the worktree.

        Commits since then, newest first:
        - aaaaaaa Fix the parser

        Files that they change:
        - src/parse.rs

        Files that are not committed. Keep this work, and commit what belongs to the task:
        - notes.md

        A copy of the uncommitted files is in refs/vibe-relay/rescue/TASK-001/given-back.
        ");
        assert!(HandBack::default().comment("human/ann").ends_with("the worktree. Nothing was changed there."));
    }
}
