//! Zones: parts of a repository that have a name, paths, an owner and an oracle.
//!
//! Must not know files: whoever asks names them.

use super::claim::ClaimPath;
use crate::refusal::general::GeneralRefusal;

/// The longest name of a zone, in bytes, and the most paths of one.
const MAX_NAME_BYTES: usize = 60;
pub const MAX_PATHS: usize = 100;

/// What a zone has: where it is, and who knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    pub name: String,
    pub paths: Vec<ClaimPath>,
    /// The agent that leads the work in it.
    pub owner: Option<String>,
    /// The agent that answers questions about it.
    pub oracle: Option<String>,
}

impl Zone {
    /// Whether a path, or a part of what a glob stands for, is in this zone.
    pub fn touches(&self, path: &ClaimPath) -> bool {
        self.paths.iter().any(|own| own.overlaps(path))
    }
}

/// Checks the name of a zone, which is also a word of orders and the end of the names of its agents.
///
/// # Errors
/// When it is empty, too long, or has other characters than lower-case letters, digits, `-` and `_`.
pub fn validate_name(name: &str) -> Result<(), GeneralRefusal> {
    let is_word = name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_'));
    if !name.is_empty() && name.len() <= MAX_NAME_BYTES && is_word {
        return Ok(());
    }
    let problem = format!("it is not a word of 1 to {MAX_NAME_BYTES} lower-case letters, digits, - and _");
    Err(GeneralRefusal::invalid("zone", problem, "Give a name such as audio or api-v2."))
}

/// The zones that a task works in, judged by the paths that it plans to change: those in the order of `zones`, and the paths in none.
pub fn coverage<'z>(zones: &'z [Zone], paths: &'z [ClaimPath]) -> (Vec<&'z Zone>, Vec<&'z ClaimPath>) {
    let touched = zones.iter().filter(|zone| paths.iter().any(|path| zone.touches(path))).collect();
    let uncovered = paths.iter().filter(|path| !zones.iter().any(|zone| zone.touches(path))).collect();
    (touched, uncovered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(given: &[&str]) -> Vec<ClaimPath> {
        given.iter().map(|path| path.parse().expect("a path")).collect()
    }

    fn zone(name: &str, given: &[&str]) -> Zone {
        Zone { name: name.to_owned(), paths: paths(given), owner: None, oracle: None }
    }

    #[test]
    fn task_knows_its_zones_and_what_no_zone_covers() {
        let zones = [zone("audio", &["src/audio/"]), zone("docs", &["docs/**", "**/*.md"]), zone("api", &["src/api/"])];
        let planned = paths(&["src/audio/mixer.rs", "src/audio/README.md", "Cargo.toml"]);
        let (touched, uncovered) = coverage(&zones, &planned);
        assert_eq!(touched.iter().map(|zone| zone.name.as_str()).collect::<Vec<_>>(), ["audio", "docs"]);
        assert_eq!(uncovered.iter().map(|path| path.as_str()).collect::<Vec<_>>(), ["Cargo.toml"]);
    }

    #[test]
    fn names_are_words() {
        for name in ["audio", "api-v2", "a_b"] {
            assert!(validate_name(name).is_ok(), "{name}");
        }
        for name in ["", "Audio", "a b", "a/b", "ä", &"a".repeat(61)] {
            assert!(validate_name(name).is_err(), "{name}");
        }
    }
}
