//! `vibe-relay version`: the version of this program, and the commit that it was built from.

use serde::Serialize;

use crate::output;

/// The version in one line.
pub(crate) const LINE: &str = concat!(env!("CARGO_PKG_VERSION"), " (", env!("VIBE_RELAY_COMMIT"), ")");

/// The version for programs. A build from a source archive knows no commit.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct Version {
    version: &'static str,
    commit: Option<&'static str>,
    /// The date of the commit.
    date: Option<&'static str>,
}

/// Prints the version.
pub(crate) fn print() {
    output::data(&version(env!("VIBE_RELAY_COMMIT")), |_| output::line(format!("vibe-relay {LINE}")));
}

/// Reads the commit as the build script wrote it.
fn version(built_from: &'static str) -> Version {
    let (commit, date) = built_from.split_once(" of ").unzip();
    Version { version: env!("CARGO_PKG_VERSION"), commit, date }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_and_date_are_apart_or_unknown() {
        let built = version("054fa87e of 2026-11-26");
        assert_eq!((built.commit, built.date), (Some("054fa87e"), Some("2026-11-26")));
        let unknown = version("unknown commit");
        assert_eq!((unknown.commit, unknown.date), (None, None));
    }
}
