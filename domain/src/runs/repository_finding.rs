//! Repository findings: what is unusual about a repository that may become a project's, what follows from it, and what a person can do.
//!
//! Each is a fact that `repo` reads without running a program. A repository that cannot be used at all has no findings but an error. Must not
//! read a repository.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Work goes on, but probably not as the person expects.
    Warns,
    /// Nothing to do.
    Informs,
}

/// One finding, in words. Each text is a sentence with code in backticks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RepositoryFinding {
    /// The stable name of its kind.
    pub kind: String,
    pub severity: Severity,
    /// The fact.
    pub finding: String,
    /// The effect on agents and on landing.
    pub consequence: String,
    /// The next step, if one is wanted.
    pub remedy: String,
}

/// A fact about a repository that makes a finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RepositoryFact {
    /// Files of the person's checkout that are not committed.
    Uncommitted {
        count: u32,
    },
    /// The base branch lacks commits of its upstream, as it was fetched last.
    BehindUpstream {
        branch: String,
        upstream: String,
        behind: u32,
    },
    /// The base branch and its upstream both have commits that the other lacks.
    Diverged {
        branch: String,
        upstream: String,
        ahead: u32,
        behind: u32,
    },
    /// The base branch does not exist yet. It is made at a remote branch or a tag together with the project.
    BaseIsMade {
        branch: String,
        from: String,
    },
    /// The base branch is checked out in another folder than the one that was named.
    BaseElsewhere {
        branch: String,
        path: String,
    },
    Submodules {
        paths: Vec<String>,
    },
    /// Files that git converts with a filter, or to another encoding. Each is named as an attribute names it.
    Converted {
        by: Vec<String>,
    },
    Shallow,
    /// The person's checkout has only some of the files.
    Sparse,
    /// The index of the person's checkout is in two files.
    SplitIndex,
    /// Commits are signed (`commit.gpgsign`).
    SignedCommits,
    /// Hooks that run when someone commits.
    CommitHooks {
        hooks: Vec<String>,
    },
    /// Files whose names are not valid UTF-8.
    UnusualNames {
        count: u32,
        example: String,
    },
    /// The disk of the checkouts has too little space for one checkout in each slot.
    LittleSpace {
        folder: String,
        free: u64,
        checkout: u64,
        slots: u32,
    },
}

/// Names that a finding lists.
const MAX_LISTED: usize = 3;

impl RepositoryFact {
    /// The kind of a finding that the profile of a project can settle.
    pub const SUBMODULES: &str = "submodules";

    /// The stable name of the kind.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Uncommitted { .. } => "uncommitted-files",
            Self::BehindUpstream { .. } => "behind-upstream",
            Self::Diverged { .. } => "diverged-from-upstream",
            Self::BaseIsMade { .. } => "base-is-made",
            Self::BaseElsewhere { .. } => "base-checked-out-elsewhere",
            Self::Submodules { .. } => Self::SUBMODULES,
            Self::Converted { .. } => "converted-files",
            Self::Shallow => "shallow-clone",
            Self::Sparse => "sparse-checkout",
            Self::SplitIndex => "split-index",
            Self::SignedCommits => "signed-commits",
            Self::CommitHooks { .. } => "commit-hooks",
            Self::UnusualNames { .. } => "names-not-utf8",
            Self::LittleSpace { .. } => "little-space",
        }
    }

    pub fn severity(&self) -> Severity {
        match self {
            Self::Uncommitted { .. }
            | Self::BehindUpstream { .. }
            | Self::Diverged { .. }
            | Self::BaseElsewhere { .. }
            | Self::Submodules { .. }
            | Self::SignedCommits
            | Self::CommitHooks { .. }
            | Self::LittleSpace { .. } => Severity::Warns,
            Self::BaseIsMade { .. } | Self::Converted { .. } | Self::Shallow | Self::Sparse | Self::SplitIndex | Self::UnusualNames { .. } => {
                Severity::Informs
            }
        }
    }

    fn finding(&self) -> String {
        match self {
            Self::Uncommitted { count } => format!("Your checkout has {}.", counted(*count, "uncommitted file")),
            Self::BehindUpstream { branch, upstream, behind } => {
                format!("`{branch}` lacks {} of `{upstream}`, as of the last fetch.", counted(*behind, "commit"))
            }
            Self::Diverged { branch, upstream, ahead, behind } => {
                format!(
                    "`{branch}` has {} that `{upstream}` lacks, and lacks {} of it, as of the last fetch.",
                    counted(*ahead, "commit"),
                    counted(*behind, "commit")
                )
            }
            Self::BaseIsMade { branch, from } => format!("`{from}` is not a local branch. The local branch `{branch}` will be created from it."),
            Self::BaseElsewhere { branch, path } => format!("`{branch}` is checked out at `{path}`, not in the folder that you named."),
            Self::Submodules { paths } => format!("The repository has {}: {}.", counted(length(paths), "submodule"), listed(paths)),
            Self::Converted { by } => format!("git converts files of the repository: {}.", listed(by)),
            Self::Shallow => "The repository is a shallow clone.".to_owned(),
            Self::Sparse => "Your checkout is sparse: it has only some of the files.".to_owned(),
            Self::SplitIndex => "The index of your checkout is split into two files.".to_owned(),
            Self::SignedCommits => "Commits in this repository are signed (`commit.gpgsign`).".to_owned(),
            Self::CommitHooks { hooks } => format!("The repository runs {} on each commit.", listed(hooks)),
            Self::UnusualNames { count, example } => {
                let verb = if *count == 1 { "has a name" } else { "have names" };
                format!("{} {verb} that {} not valid UTF-8, such as `{example}`.", counted(*count, "file"), if *count == 1 { "is" } else { "are" })
            }
            Self::LittleSpace { folder, free, checkout, slots } => format!(
                "{} are free on the disk of `{folder}`, and {} of this repository need about {}.",
                size(*free),
                counted(*slots, "checkout"),
                size(checkout.saturating_mul(u64::from(*slots)))
            ),
        }
    }

    fn consequence(&self) -> String {
        match self {
            Self::Uncommitted { .. } => "They stay untouched, and agents do not see them. Landing into this checkout waits until they are committed.".to_owned(),
            Self::BehindUpstream { .. } => "Agents start from the older files.".to_owned(),
            Self::Diverged { upstream, .. } => format!("Agents start from your branch, without the newer commits of `{upstream}`."),
            Self::BaseIsMade { branch, .. } => format!("Work lands on `{branch}`. The remote branch or tag stays where it is."),
            Self::BaseElsewhere { path, .. } => format!("Landing is refused as long as `{path}` has the branch checked out."),
            Self::Submodules { .. } => "Their folders are empty in the checkouts of agents, so builds that need them fail.".to_owned(),
            Self::Converted { .. } => "Agents get the converted files. `git` itself converts them, with the filters of your own configuration.".to_owned(),
            Self::Shallow => "Agents see no history before its first commit.".to_owned(),
            Self::Sparse => "Agents get all files. Landing writes those that your checkout has, with `git` itself.".to_owned(),
            Self::SplitIndex => "Landing writes its files with `git` itself, and leaves the index as one file.".to_owned(),
            Self::SignedCommits => {
                "Agents in a jail commit without a signature, because they have no keys. Without a jail they sign with your key, and a commit fails if the key asks for a passphrase. The board signs merges with your key."
                    .to_owned()
            }
            Self::CommitHooks { .. } => "They run in the checkouts of agents. A hook that fails there keeps agents from committing.".to_owned(),
            Self::UnusualNames { .. } => "Agents can change them. The board shows the bytes that are not UTF-8 as `\u{fffd}`.".to_owned(),
            Self::LittleSpace { .. } => "Agents stop when the disk is full.".to_owned(),
        }
    }

    fn remedy(&self) -> String {
        match self {
            Self::Uncommitted { .. } => "Include a snapshot of them, or commit them first.".to_owned(),
            Self::BehindUpstream { upstream, .. } => format!("Start from `{upstream}`, or run `git pull` first."),
            Self::Diverged { upstream, .. } => format!("Merge `{upstream}` into your branch, or rebase it, before you create the project."),
            Self::BaseIsMade { .. } => "Choose another base branch if you do not want a new local one.".to_owned(),
            Self::BaseElsewhere { path, .. } => format!("Name `{path}` as the repository, or switch that checkout to another branch."),
            Self::Submodules { .. } => {
                "Choose Fill submodules under Prepare worktrees, or run `vibe-relay profile edit PROJECT --submodules true` later.".to_owned()
            }
            Self::Shallow => "Run `git fetch --unshallow` if agents need the history.".to_owned(),
            Self::Converted { .. } => "Nothing to do.".to_owned(),
            Self::Sparse => "Nothing to do, if `git` is installed.".to_owned(),
            Self::SplitIndex => "Nothing to do, if `git` is installed.".to_owned(),
            Self::SignedCommits => {
                "Use a jail, or a key without a passphrase. Keep the key of the board unlocked: a merge that cannot be signed waits for you."
                    .to_owned()
            }
            Self::CommitHooks { .. } => "Let the setup of worktrees install what they need.".to_owned(),
            Self::UnusualNames { .. } => "Nothing to do.".to_owned(),
            Self::LittleSpace { .. } => "Free space, or set `max_parallel_agents` or `worktrees_path` in the configuration.".to_owned(),
        }
    }

    /// The finding about this fact, in words.
    pub fn describe(&self) -> RepositoryFinding {
        RepositoryFinding {
            kind: self.kind().to_owned(),
            severity: self.severity(),
            finding: self.finding(),
            consequence: self.consequence(),
            remedy: self.remedy(),
        }
    }
}

/// Puts the findings that matter most first, and keeps the order of the others.
pub fn sort(findings: &mut [RepositoryFinding]) {
    findings.sort_by_key(|finding| finding.severity);
}

fn counted(count: u32, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn length(names: &[String]) -> u32 {
    u32::try_from(names.len()).unwrap_or(u32::MAX)
}

fn listed(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(MAX_LISTED).map(|name| format!("`{name}`")).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}

fn size(bytes: u64) -> String {
    const MIB: f64 = 1024.0 * 1024.0;
    let mib = bytes as f64 / MIB;
    if mib < 1024.0 { format!("{mib:.0} MiB") } else { format!("{:.1} GiB", mib / 1024.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every() -> Vec<RepositoryFact> {
        let text = str::to_owned;
        vec![
            RepositoryFact::Uncommitted { count: 2 },
            RepositoryFact::BehindUpstream { branch: text("main"), upstream: text("origin/main"), behind: 1 },
            RepositoryFact::Diverged { branch: text("main"), upstream: text("origin/main"), ahead: 1, behind: 3 },
            RepositoryFact::BaseIsMade { branch: text("next"), from: text("origin/next") },
            RepositoryFact::BaseElsewhere { branch: text("main"), path: text("/code/other") },
            RepositoryFact::Submodules { paths: ["a", "b", "c", "d"].map(text).to_vec() },
            RepositoryFact::Converted { by: ["filter=lfs", "working-tree-encoding=UTF-16"].map(text).to_vec() },
            RepositoryFact::Shallow,
            RepositoryFact::Sparse,
            RepositoryFact::SplitIndex,
            RepositoryFact::SignedCommits,
            RepositoryFact::CommitHooks { hooks: vec![text("pre-commit"), text("commit-msg")] },
            RepositoryFact::UnusualNames { count: 1, example: text("caf\u{fffd}") },
            RepositoryFact::LittleSpace { folder: text("/work"), free: 3 << 30, checkout: 700 << 20, slots: 8 },
        ]
    }

    #[test]
    fn each_finding_has_three_sentences_and_a_kind_of_its_own() {
        let found: Vec<_> = every().iter().map(RepositoryFact::describe).collect();
        let kinds: std::collections::BTreeSet<_> = found.iter().map(|finding| &finding.kind).collect();
        assert_eq!(kinds.len(), found.len());
        for text in found.iter().flat_map(|finding| [&finding.finding, &finding.consequence, &finding.remedy]) {
            assert!(text.ends_with('.') && text.matches('`').count().is_multiple_of(2), "{text}");
        }
        let texts: Vec<_> = found.iter().map(|finding| format!("{}: {}", finding.kind, finding.finding)).collect();
        insta::assert_snapshot!(texts.join("\n"));
    }

    #[test]
    fn warnings_come_first() {
        let mut found: Vec<_> = every().iter().map(RepositoryFact::describe).collect();
        sort(&mut found);
        let first = found.iter().position(|finding| finding.severity == Severity::Informs).unwrap();
        assert!(found[first..].iter().all(|finding| finding.severity == Severity::Informs));
    }
}
