//! Commits on the project branch that no review covers, and the text that asks the human about them.
//!
//! It must not know how they were found.

use std::fmt::{self, Display, Formatter};

use domain::runs::evidence::Sha;
use domain::runs::land::commit_line;
use repo::Commit;

/// How many commits the text lists.
pub(super) const MAX_LISTED: usize = 5;

/// A tip of the project branch that neither a review nor the human approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct UnapprovedCommits {
    pub(super) branch: String,
    pub(crate) tip: Sha,
    /// The recorded tip, unless the repository has lost that commit.
    pub(super) recorded_tip: Option<Sha>,
    /// Commits that the branch gained since then, newest first, at most one more than [`MAX_LISTED`].
    pub(super) added: Vec<Commit>,
    /// Commits that it lost since then.
    pub(super) lost: Vec<Commit>,
}

impl Display for UnapprovedCommits {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let mut findings = Vec::new();
        if !self.added.is_empty() {
            findings.push(format!("has unapproved commits: {}", listed(&self.added)));
        }
        if !self.lost.is_empty() {
            findings.push(format!("lacks merged commits: {}", listed(&self.lost)));
        }
        let restore = match &self.recorded_tip {
            Some(recorded_tip) => format!(", or restore it with `git branch -f {} {recorded_tip}`: work then continues automatically", self.branch),
            None => {
                findings.push("was last recorded at a commit that the repository no longer has".to_owned());
                String::new()
            }
        };
        let findings = findings.join("; and ");
        write!(
            formatter,
            "The project branch {} {findings}. No run starts from it and nothing is merged into it. Press Retry to accept it as it is{restore}.",
            self.branch
        )
    }
}

fn listed(commits: &[Commit]) -> String {
    let listed = commits.iter().take(MAX_LISTED).map(|commit| commit_line(&commit.sha, &commit.subject, &commit.author));
    let mut listed: Vec<String> = listed.collect();
    if commits.len() > MAX_LISTED {
        listed.push("and more".to_owned());
    }
    listed.join(", ")
}
