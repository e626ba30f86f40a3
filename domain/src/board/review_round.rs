//! Review rounds: what was submitted each time, and the findings with which it was sent back.
//!
//! Must not know how a patch id is computed, or what happens when a task makes no progress.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::runs::evidence::Sha;
use crate::time::Timestamp;

/// The share of common words, in percent, from which findings count as the same: agents reword what they repeat. The changes are the same as
/// well, so a wrong match only makes a person look early, and a missed one costs another round.
const MIN_COMMON_PERCENT: usize = 60;

/// A submission that was sent back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReviewRound {
    /// Its position among the rounds of the task, from 1.
    pub number: u32,
    /// The submitted commit.
    pub sha: Sha,
    /// Identifies its changes, regardless of commits and their messages; none if another commit was judged than the one submitted.
    pub patch_id: Option<Sha>,
    /// The comments of the reviewer, as Markdown.
    pub findings: String,
    /// The participant that sent it back.
    pub by: Actor,
    pub created_at: Timestamp,
}

/// Returns the numbers of the rounds with the same changes and the same findings as the last one, including it. They do not have to follow each
/// other: work that alternates between two versions makes no progress either.
pub fn repeated_rounds(rounds: &[ReviewRound]) -> Vec<u32> {
    let Some(last) = rounds.last().filter(|last| last.patch_id.is_some()) else { return Vec::new() };
    let words = word_set(&last.findings);
    let repeats = |round: &&ReviewRound| round.patch_id == last.patch_id && are_same(&words, &word_set(&round.findings));
    rounds.iter().filter(repeats).map(|round| round.number).collect()
}

/// The words of a text without numbers, because lines move.
fn word_set(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.chars().all(|c| c.is_ascii_digit()));
    words.map(str::to_lowercase).collect()
}

fn are_same(one: &BTreeSet<String>, other: &BTreeSet<String>) -> bool {
    let common = one.intersection(other).count();
    common * 100 >= one.union(other).count() * MIN_COMMON_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(given: &[(Option<&str>, &str)]) -> Vec<u32> {
        let round = |(number, (patch_id, findings)): (u32, &(Option<&str>, &str))| ReviewRound {
            number,
            sha: format!("commit {number}"),
            patch_id: patch_id.map(str::to_owned),
            findings: (*findings).to_owned(),
            by: Actor::Agent("reviewer-TASK-001".to_owned()),
            created_at: Timestamp::from_milliseconds(0),
        };
        repeated_rounds(&(1..).zip(given).map(round).collect::<Vec<_>>())
    }

    const FINDINGS: &str = "- src/list.rs:42: `last` panics on an empty list.\n- Add a test for it.";
    const REWORDED: &str = "* `src/list.rs`, line 57: `last` still panics on an empty list. Please add a test for it.";
    const OTHERS: &str = "README.md names an option that does not exist.";

    #[test]
    fn round_repeats_with_same_changes_and_same_findings() {
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(rounds(&[]), [0; 0]);
        assert_eq!(rounds(&[(a, FINDINGS)]), [1]);
        assert_eq!(rounds(&[(a, FINDINGS), (a, FINDINGS)]), [1, 2]);
        assert_eq!(rounds(&[(a, FINDINGS), (a, REWORDED)]), [1, 2], "the words count, not the lines and their numbers");
        assert_eq!(rounds(&[(a, FINDINGS), (b, FINDINGS)]), [2], "the work changed");
        assert_eq!(rounds(&[(a, FINDINGS), (a, OTHERS)]), [2], "the reviewer found something else");
        assert_eq!(rounds(&[(None, FINDINGS), (None, FINDINGS)]), [0; 0], "nobody knows whether the work changed");
    }

    #[test]
    fn alternating_work_repeats_an_earlier_round() {
        let (a, b) = (Some("a"), Some("b"));
        assert_eq!(rounds(&[(a, FINDINGS), (b, OTHERS), (a, REWORDED)]), [1, 3]);
        assert_eq!(rounds(&[(a, FINDINGS), (b, OTHERS), (a, OTHERS)]), [3]);
    }
}
