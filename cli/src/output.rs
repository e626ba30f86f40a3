//! What commands print for people and scripts. A closed pipe at the other end is no error: whoever read has read enough.

use std::io::{Write, stderr, stdout};

use crate::error::full_text;

/// A line on standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    drop(writeln!(stdout(), "{text}"));
}

/// What a person should know beside the answer, out of the way of whoever reads standard output.
pub(crate) fn hint(text: impl std::fmt::Display) {
    drop(writeln!(stderr(), "{text}"));
}

/// Prints the error that ended a command, with its causes.
pub(crate) fn error(error: &dyn std::error::Error) {
    drop(writeln!(stderr(), "vibe-relay: {}", full_text(error)));
}
