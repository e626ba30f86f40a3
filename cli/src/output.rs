//! The output of commands, for people and scripts. A closed pipe is not an error, because the reader may have read enough.
//!
//! Everything that a command prints passes through here, because titles, comments and errors come from agents: [`printable`] takes away
//! what a terminal would obey.

use std::io::{self, ErrorKind, IsTerminal, Read, Write, stderr, stdin, stdout};
use std::sync::OnceLock;

pub(crate) use domain::printable::printable;

use serde::Serialize;

use crate::error::{CliError, full_text};

/// Begins the line of an error.
pub(crate) const ERROR_PREFIX: &str = "vibe-relay: ";

/// How a command prints what it found out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mode {
    /// Data as one line of JSON, in the types of the HTTP interface.
    pub(crate) json: bool,
    /// Without hints.
    pub(crate) quiet: bool,
}

static MODE: OnceLock<Mode> = OnceLock::new();
/// The first error of standard output other than a closed pipe.
static LOST: OnceLock<String> = OnceLock::new();

/// Sets the mode of this process, once.
pub(crate) fn set_mode(mode: Mode) {
    MODE.get_or_init(|| mode);
}

/// Whether data is printed as JSON.
pub(crate) fn is_json() -> bool {
    mode().json
}

fn mode() -> Mode {
    MODE.get().copied().unwrap_or_default()
}

/// Prints data: as JSON if the person asked for it, else by `lines`.
pub(crate) fn data<T: Serialize + ?Sized>(value: &T, lines: impl FnOnce(&T)) {
    if !mode().json {
        return lines(value);
    }
    match serde_json::to_string(value) {
        Ok(text) => line(text),
        Err(error) => drop(LOST.set(error.to_string())),
    }
}

/// Prints a sentence about what was done, where there is no other data.
pub(crate) fn done(sentence: impl std::fmt::Display) {
    data(&Outcome { outcome: sentence.to_string() }, |told| line(&told.outcome));
}

/// The data of a command that only says what it did.
#[derive(Debug, Serialize)]
struct Outcome {
    outcome: String,
}

/// Prints the items of a list, or one line that says that there are none.
pub(crate) fn list<T: Serialize>(items: &[T], none: &str, item: impl Fn(&T) -> String) {
    data(items, |items| {
        if items.is_empty() {
            hint(none);
        }
        items.iter().for_each(|one| line(item(one)));
    });
}

/// Why something that was printed is lost, as on a full disk.
pub(crate) fn lost() -> Option<CliError> {
    LOST.get().map(|reason| CliError::Lost { reason: reason.clone() })
}

/// Returns a text that was given, or standard input for `-`.
///
/// # Errors
/// When standard input cannot be read.
pub(crate) fn text_or_input(given: String) -> Result<String, CliError> {
    if given != "-" {
        return Ok(given);
    }
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(CliError::io("read standard input"))?;
    Ok(text.trim_end().to_owned())
}

/// Prints a line on standard output.
pub(crate) fn line(text: impl std::fmt::Display) {
    if let Err(error) = try_line(text)
        && error.kind() != ErrorKind::BrokenPipe
    {
        drop(LOST.set(error.to_string()));
    }
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
    if !mode().quiet {
        report(text);
    }
}

/// Prints a line on standard error, also with `--quiet`.
pub(crate) fn report(text: impl std::fmt::Display) {
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
    report(format!("{ERROR_PREFIX}{}", full_text(error)));
}
