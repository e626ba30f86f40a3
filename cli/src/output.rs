//! The output of commands, for people and scripts. A closed pipe is not an error, because the reader may have read enough.
//!
//! Everything that a command prints passes through here, because titles, comments and errors come from agents: [`printable`] takes away
//! what a terminal would obey.

use std::io::{self, ErrorKind, IsTerminal, Read, Write, stderr, stdin, stdout};
use std::os::fd::AsFd;
use std::sync::OnceLock;

pub(crate) use domain::printable::printable;

use serde::Serialize;
use tokio::io::Interest;
use tokio::net::unix::pipe::Sender;

use crate::error::{CliError, ErrorData, full_text};

/// Begins the line of an error.
pub(crate) const ERROR_PREFIX: &str = "vibe-relay: ";

/// The columns that every terminal has.
const WIDTH: usize = 80;

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
/// Set once standard output has no reader.
static CLOSED: OnceLock<()> = OnceLock::new();

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
/// When standard input cannot be read, or is empty.
pub(crate) fn text_or_input(given: String) -> Result<String, CliError> {
    if given != "-" {
        return Ok(given);
    }
    let mut text = String::new();
    stdin().read_to_string(&mut text).map_err(CliError::io("read standard input"))?;
    // An empty text would delete what is there, and a failed program before the pipe writes one.
    if text.trim().is_empty() { Err(CliError::EmptyInput) } else { Ok(text.trim_end().to_owned()) }
}

/// Prints a line on standard output at once.
pub(crate) fn line(text: impl std::fmt::Display) {
    let mut stdout = stdout();
    record(writeln!(stdout, "{}", printable(&text.to_string())).and_then(|()| stdout.flush()));
}

/// Prints help or the version, which clap words.
pub(crate) fn help(answer: &clap::Error) {
    record(answer.print().and_then(|()| stdout().flush()));
}

/// Prints the problem with a command line, which clap words.
pub(crate) fn usage(problem: &clap::Error) {
    if mode().json {
        refusal(&ErrorData::usage(problem.render().to_string().trim_end().to_owned()));
    } else {
        drop(problem.print());
    }
}

/// Remembers that standard output cannot be written.
fn record(printed: io::Result<()>) {
    match printed {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::BrokenPipe => drop(CLOSED.set(())),
        Err(error) => drop(LOST.set(error.to_string())),
    }
}

/// Whether nothing more can be printed, so that a command that prints without an end should end.
pub(crate) fn is_over() -> bool {
    CLOSED.get().is_some() || LOST.get().is_some()
}

/// Returns once the other end of standard output is closed, if it is a pipe or the like.
pub(crate) async fn closed() {
    // The copy is only watched. Making it non-blocking, as the checked constructors do, would make standard output so.
    let watched = stdout().as_fd().try_clone_to_owned().and_then(Sender::from_owned_fd_unchecked);
    match watched {
        // A failure to wait is no news about the other end.
        Ok(stdout) if stdout.ready(Interest::ERROR).await.is_ok() => {}
        // A file has no other end.
        _ => std::future::pending().await,
    }
}

/// Returns the columns for wrapped text, if standard output is a terminal. Elsewhere each line is whole, so that programs find its words.
pub(crate) fn width() -> Option<usize> {
    stdout().is_terminal().then_some(WIDTH)
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
        record(writeln!(stdout, "{on}{}{off}", printable(line)));
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

/// Prints the error that ended a command, with its causes; as JSON if the person asked for it.
pub(crate) fn error(error: &CliError) {
    if mode().json { refusal(&error.data()) } else { report(format!("{ERROR_PREFIX}{}", full_text(error))) }
}

fn refusal(data: &ErrorData<'_>) {
    // Texts and numbers are always valid JSON.
    serde_json::to_string(data).into_iter().for_each(report);
}
