//! What commands print for people and scripts. A closed pipe at the other end is no error: whoever read has read enough.

use std::io::{Write, stderr, stdout};

/// A line on standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    drop(writeln!(stdout(), "{text}"));
}

/// What a person should know beside the answer, out of the way of whoever reads standard output.
pub(crate) fn hint(text: impl std::fmt::Display) {
    drop(writeln!(stderr(), "{text}"));
}

/// A failed command's reason, with everything that led to it.
pub(crate) fn error(error: &dyn std::error::Error) {
    let mut text = format!("vibe-relay: {error}");
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text += &format!(": {cause_text}");
        }
        source = cause.source();
    }
    drop(writeln!(stderr(), "{text}"));
}
