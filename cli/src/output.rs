//! The output of commands, for people and scripts. A closed pipe is not an error, because the reader may have read enough.

use std::io::{Write, stderr, stdout};

use crate::error::full_text;

/// Prints a line on standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    drop(writeln!(stdout(), "{text}"));
}

/// Prints a line on standard error, so that scripts do not read it as part of the result.
pub(crate) fn hint(text: impl std::fmt::Display) {
    drop(writeln!(stderr(), "{text}"));
}

/// Prints the error that ended a command, with its causes.
pub(crate) fn error(error: &dyn std::error::Error) {
    drop(writeln!(stderr(), "vibe-relay: {}", full_text(error)));
}
