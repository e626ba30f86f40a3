//! Prints a diff. Must not know what is compared.

use domain::runs::diff::Diff;

use crate::output;

/// Prints the changed files with their lines.
pub(crate) fn print(diff: &Diff) {
    for file in &diff.files {
        output::line(format!("{}  +{} -{}", file.path, file.added, file.removed));
        for line in file.hunks.iter().flat_map(|hunk| &hunk.lines) {
            output::line(format!("{}{}", line.origin, line.text));
        }
    }
    if diff.truncated {
        output::line("The rest is too long to show.");
    }
}
