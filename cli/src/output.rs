//! The output of commands, for people and scripts. A closed pipe is not an error, because the reader may have read enough.
//!
//! Everything that a command prints passes through here, because titles, comments and errors come from agents: [`printable`] takes away
//! what a terminal would obey.

use std::io::{self, IsTerminal, Write, stderr, stdout};

pub(crate) use domain::printable::printable;

use crate::error::{CliError, full_text};

/// Prints a line on standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    drop(try_line(text));
}

/// Prints a line on standard output at once, for a command that ends with its reader.
///
/// # Errors
/// When standard output is closed.
pub(crate) fn try_line(text: impl std::fmt::Display) -> io::Result<()> {
    let mut stdout = stdout();
    writeln!(stdout, "{}", printable(&text.to_string())).and_then(|()| stdout.flush())
}

/// Prints a text with several lines below a heading, indented, so that no line of it looks like one of the command's own.
pub(crate) fn quoted(text: &str) {
    text.lines().for_each(|text| line(format!("  {text}")));
}

/// Prints lines of block characters. A terminal draws them black on white in any theme, because cameras expect that of a QR code.
pub(crate) fn dark_on_light(text: &str) {
    let (on, off) = if stdout().is_terminal() { ("\u{1b}[30;107m", "\u{1b}[0m") } else { ("", "") };
    let mut stdout = stdout();
    for line in text.lines() {
        drop(writeln!(stdout, "{on}{}{off}", printable(line)));
    }
}

/// Prints a line on standard error, so that scripts do not read it as part of the result.
pub(crate) fn hint(text: impl std::fmt::Display) {
    drop(writeln!(stderr(), "{}", printable(&text.to_string())));
}

/// Asks a question on standard output, and returns whether the answer is yes.
///
/// # Errors
/// When the terminal cannot be written or read.
pub(crate) fn confirm(question: &str) -> Result<bool, CliError> {
    let mut terminal = stdout();
    terminal.write_all(question.as_bytes()).and_then(|()| terminal.flush()).map_err(CliError::io("ask"))?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer).map_err(CliError::io("read the answer"))?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Prints the error that ended a command, with its causes.
pub(crate) fn error(error: &dyn std::error::Error) {
    hint(format!("vibe-relay: {}", full_text(error)));
}
