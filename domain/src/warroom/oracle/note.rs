//! The notes of managed oracles: earlier answers, which are given again while the files of their zone are as they were.
//!
//! It must not know how changed files are found.

use super::super::claim::ClaimPath;
use crate::runs::evidence::Sha;

/// The newest answer of a managed oracle to a question that someone asks again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OracleNote {
    /// The earlier question.
    pub question: i64,
    /// The commit that the oracle read.
    pub sha: Sha,
    /// The paths of its zone now.
    pub paths: Vec<ClaimPath>,
}

impl OracleNote {
    /// Whether the answer still holds after these files changed. A path that is none of a repository's concerns every zone.
    pub fn holds_after<'a>(&self, changed: impl IntoIterator<Item = &'a str>) -> bool {
        changed.into_iter().all(|path| path.parse::<ClaimPath>().is_ok_and(|path| !covers(&self.paths, &path)))
    }
}

/// Whether one of these paths covers a file.
pub fn covers(paths: &[ClaimPath], file: &ClaimPath) -> bool {
    paths.iter().any(|path| path.covers_file(file))
}

/// The form in which equal questions are the same text: case, spaces and punctuation at the end do not count.
pub fn topic(question: &str) -> String {
    let words: Vec<String> = question.split_whitespace().map(str::to_lowercase).collect();
    words.join(" ").trim_end_matches(['?', '.', '!', ' ']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_are_the_same_but_for_case_spaces_and_punctuation() {
        let asked = topic("Who frees the buffer?");
        for same in ["who frees  the buffer", " Who\nfrees the Buffer ?! ", "WHO FREES THE BUFFER."] {
            assert_eq!(topic(same), asked, "{same}");
        }
        for other in ["Who frees the buffers?", "Who frees the buffer? And when?", "frees the buffer"] {
            assert_ne!(topic(other), asked, "{other}");
        }
    }

    #[test]
    fn note_holds_until_a_file_of_its_zone_changes() {
        let paths = ["audio/", "*.ogg"].map(|path| path.parse().unwrap()).to_vec();
        let note = OracleNote { question: 1, sha: "a".repeat(40), paths };
        assert!(note.holds_after([]) && note.holds_after(["src/lib.rs", "audio.md"]));
        for changed in ["audio/mix.rs", "audio/deep/in.rs", "AUDIO/mix.rs", "boom.ogg"] {
            assert!(!note.holds_after(["src/lib.rs", changed]), "{changed}");
        }
        assert!(!note.holds_after(["../etc"]), "nobody knows what that is");
    }
}
