//! A run's transcript: its run events as a person reads them, stored beside the raw output.
//!
//! Each entry carries the offset of the raw output that it covers, so a server that adopts a run continues exactly where the last one
//! stopped. It must not know any program's raw output. All functions block.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use domain::runs::output::{OutputKind, OutputLine, TRANSCRIPT_FILE};
use domain::runs::run_event::{PlanEntry, PlanStatus, RateLimitState, RunEvent, StopReason, TextEdit};
use domain::text::excerpt;
use similar::TextDiff;

use crate::activity::{self, activity};
use crate::prompt::{self, inbox};

/// The longest text and detail of an entry, in bytes.
const MAX_DETAIL_BYTES: usize = 32 * 1024;

#[derive(Debug)]
pub struct Transcript {
    /// Locked as long as it is open: a cancelled watch may still be writing when the next one opens the transcript.
    file: File,
    /// The offset up to which the raw output is in the transcript.
    written_offset: u64,
}

impl Transcript {
    /// Opens the transcript in `run_dir` to continue it. A torn end is cut off and added again later. Waits until no other transcript of
    /// the run is open.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(run_dir: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(run_dir.join(TRANSCRIPT_FILE))?;
        file.lock()?;
        let (written_offset, length) = intact_part(&file)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file, written_offset })
    }

    /// Whether the transcript contains the raw line that ends at `offset`.
    pub fn covers(&self, offset: u64) -> bool {
        offset <= self.written_offset
    }

    /// Adds the entries for the events of one raw line. Returns whether there were any.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, offset: u64, events: &[RunEvent], checkout: &str) -> io::Result<bool> {
        if self.covers(offset) {
            return Ok(false);
        }
        let mut text = Vec::new();
        for entry in entries(offset, events, checkout) {
            serde_json::to_writer(&mut text, &entry)?;
            text.push(b'\n');
        }
        // A single write, so that a reader sees whole entries or nothing.
        self.file.write_all(&text)?;
        self.written_offset = offset;
        Ok(!text.is_empty())
    }
}

/// The raw offset that the intact entries cover, and their length in bytes. The entries of one raw line are written together, so a torn
/// entry also removes the entries that share its offset.
fn intact_part(file: &File) -> io::Result<(u64, u64)> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    // As (offset, length): up to the last raw line, and up to the one before.
    let (mut last, mut before) = ((0, 0), (0, 0));
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)? as u64;
        match serde_json::from_slice::<OutputLine>(&line) {
            _ if read == 0 => return Ok(last),
            Ok(entry) if line.ends_with(b"\n") => {
                if entry.offset != last.0 {
                    before = last;
                }
                last = (entry.offset, last.1 + read);
            }
            _ => return Ok(before),
        }
    }
}

/// The entries for the events of one raw line.
fn entries(offset: u64, events: &[RunEvent], checkout: &str) -> Vec<OutputLine> {
    let requests = events.iter().find_map(|event| if let RunEvent::Usage(usage) = event { Some(usage.requests) } else { None });
    let entry = |(kind, text, detail): (OutputKind, String, Option<String>)| {
        Some(OutputLine { offset, kind, text: bounded(&text), detail: detail.map(|detail| bounded(&detail)) })
    };
    events.iter().filter_map(|event| entry(content(event, requests, checkout)?)).collect()
}

/// The kind, text and detail of an event's entry; `None` for events that a person does not have to read.
fn content(event: &RunEvent, requests: Option<u64>, checkout: &str) -> Option<(OutputKind, String, Option<String>)> {
    let line = || activity(event, checkout);
    let content = match event {
        RunEvent::SessionStarted(session) => (OutputKind::Start, format!("{} begins", session.model), None),
        RunEvent::Text { text } if !text.trim().is_empty() => (OutputKind::Text, text.clone(), None),
        RunEvent::Thinking { text } if !text.trim().is_empty() => (OutputKind::Thinking, excerpt(text, 120), Some(text.clone())),
        RunEvent::ToolStarted(call) if !call.edits.is_empty() => (OutputKind::Edit, line()?, Some(changes(&call.edits))),
        RunEvent::ToolStarted(call) => (OutputKind::ToolUse, line()?, serde_json::to_string_pretty(&call.input).ok()),
        RunEvent::Plan { entries } => (OutputKind::ToolUse, line()?, Some(checklist(entries))),
        RunEvent::ToolEnded { ok, output, .. } => {
            let kind = if *ok { OutputKind::ToolResult } else { OutputKind::ToolError };
            let is_long = output.trim().lines().count() > 1 || output.len() > 160;
            (kind, excerpt(output, 160), is_long.then(|| output.clone()))
        }
        RunEvent::MessageAccepted { text, .. } => match prompt::human_message_text(text) {
            Some(words) => (OutputKind::Message, words.to_owned(), None),
            None => (OutputKind::Message, entry_name(text), Some(text.clone())),
        },
        RunEvent::Failed(error) => (OutputKind::Error, error.message.clone(), None),
        RunEvent::TurnEnded { reason: StopReason::EndTurn } => {
            let after = requests.map(|requests| format!(" after {requests} requests")).unwrap_or_default();
            (OutputKind::Result, format!("turn ended{after}"), None)
        }
        RunEvent::TurnEnded { reason } => (OutputKind::Error, activity::turn_end(*reason)?.to_owned(), None),
        RunEvent::Retrying { .. } | RunEvent::PermissionAsked { .. } => (OutputKind::Note, line()?, None),
        RunEvent::RateLimit { state, .. } if *state != RateLimitState::Allowed => (OutputKind::Note, format!("rate limit: {state}"), None),
        RunEvent::Other { raw, plain: true } => (OutputKind::Note, excerpt(raw, 400), None),
        RunEvent::Text { .. }
        | RunEvent::Thinking { .. }
        | RunEvent::RateLimit { .. }
        | RunEvent::TurnStarted {}
        | RunEvent::InterruptTaken { .. }
        | RunEvent::PermissionClosed { .. }
        | RunEvent::Usage(_)
        | RunEvent::Request(_)
        | RunEvent::Context { .. }
        | RunEvent::Other { .. } => return None,
    };
    Some(content)
}

/// The edits as a diff without line numbers, which a replacement does not tell.
fn changes(edits: &[TextEdit]) -> String {
    let change = |edit: &TextEdit| {
        let lines = TextDiff::from_lines(&edit.old, &edit.new);
        let lines = lines.iter_all_changes().map(|change| format!("{}{}\n", change.tag(), change.value().trim_end_matches(['\r', '\n'])));
        lines.collect::<String>()
    };
    edits.iter().map(change).collect::<Vec<_>>().join("\n")
}

fn checklist(entries: &[PlanEntry]) -> String {
    let line = |entry: &PlanEntry| {
        let mark = match entry.status {
            PlanStatus::Completed => "[x]",
            PlanStatus::InProgress => "[-]",
            PlanStatus::Pending => "[ ]",
        };
        format!("{mark} {}", entry.content)
    };
    entries.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The name of a prompt, because its fields are written for agents.
fn entry_name(prompt: &str) -> String {
    match prompt {
        _ if prompt.starts_with("<issue>") => "the task with its comments".to_owned(),
        _ if prompt.starts_with("<reminder>") => "a reminder".to_owned(),
        _ if inbox::is_inbox_message(prompt) => "messages from others".to_owned(),
        _ => excerpt(prompt, 160),
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= MAX_DETAIL_BYTES {
        return text.to_owned();
    }
    let end = (0..=MAX_DETAIL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n… {} more bytes in the run's raw output", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests;
