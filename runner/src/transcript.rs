//! A run's transcript: what its program printed, turned into what a person reads, kept beside the raw output.
//!
//! Each entry carries how much of the raw output it covers, so that a server which takes a run over goes on exactly where the last
//! one stopped. It knows the shape of parsed lines, not of any program's raw ones.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek, SeekFrom, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use domain::runs::output::{OutputKind, OutputLine};
use domain::text::excerpt;

use crate::backend::stream::RunLine;
use crate::prompt::{self, inbox};

/// The transcript's file in the run's folder.
pub const FILE: &str = "transcript.jsonl";
/// What is kept of one entry's detail, in bytes.
const DETAIL_BYTES: usize = 32 * 1024;

#[derive(Debug)]
pub struct Transcript {
    file: File,
    /// Up to here the raw output is covered.
    covered: u64,
}

impl Transcript {
    /// Opens the transcript in `run_dir` for going on. Where it is torn it is cut, and what was cut is added again.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn open(run_dir: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().read(true).append(true).create(true).mode(0o600).open(run_dir.join(FILE))?;
        let (covered, length) = whole(&file)?;
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Self { file, covered })
    }

    /// Whether the raw line that ends at `offset` is in the transcript already.
    pub fn covers(&self, offset: u64) -> bool {
        offset <= self.covered
    }

    /// Adds what a person should read of one raw line.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&mut self, offset: u64, lines: &[RunLine], checkout: &str) -> io::Result<()> {
        if self.covers(offset) {
            return Ok(());
        }
        let mut text = Vec::new();
        for entry in lines.iter().filter_map(|line| readable(offset, line, checkout)) {
            serde_json::to_writer(&mut text, &entry)?;
            text.push(b'\n');
        }
        // One write: a reader in between sees whole entries or nothing.
        self.file.write_all(&text)?;
        self.covered = offset;
        Ok(())
    }
}

/// How much of the raw output is covered, and by how many bytes of the transcript. Entries of one raw line are written together, so
/// where one is torn those before it that share its offset do not count either.
fn whole(file: &File) -> io::Result<(u64, u64)> {
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    // As (covered, length): up to the last raw line, and up to the one before.
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

fn readable(offset: u64, line: &RunLine, checkout: &str) -> Option<OutputLine> {
    let entry = |kind, text: String, detail: Option<String>| {
        Some(OutputLine { offset, kind, text: bounded(&text), detail: detail.map(|detail| bounded(&detail)) })
    };
    match line {
        RunLine::Init(init) => entry(OutputKind::Start, format!("{} begins", init.model), None),
        RunLine::Text { text } if !text.trim().is_empty() => entry(OutputKind::Text, text.clone(), None),
        RunLine::Thinking { text } if !text.trim().is_empty() => entry(OutputKind::Thinking, excerpt(text, 120), Some(text.clone())),
        RunLine::ToolUse { input, .. } => {
            let sentence = crate::backend::activity::activity(line, checkout).unwrap_or_default();
            entry(OutputKind::ToolUse, sentence, serde_json::to_string_pretty(input).ok())
        }
        RunLine::ToolResult { is_error, text, .. } => {
            let kind = if *is_error { OutputKind::ToolError } else { OutputKind::ToolResult };
            entry(kind, excerpt(text, 160), Some(text.clone()).filter(|text| text.trim().lines().count() > 1 || text.len() > 160))
        }
        RunLine::UserReplay { text, .. } => match prompt::words(text) {
            Some(words) => entry(OutputKind::Message, words.to_owned(), None),
            None => entry(OutputKind::Message, name_of(text), Some(text.clone())),
        },
        RunLine::Result(result) if result.is_error => {
            let said = result.text.clone().or_else(|| result.errors.first().cloned());
            entry(OutputKind::Error, said.unwrap_or_else(|| result.subtype.clone()), None)
        }
        RunLine::Result(result) => entry(OutputKind::Result, format!("turn ended after {} requests", result.turns), None),
        RunLine::ApiError { text, .. } => entry(OutputKind::Error, text.clone(), None),
        RunLine::ApiRetry { .. } => entry(OutputKind::Note, crate::backend::activity::activity(line, checkout)?, None),
        RunLine::RateLimit { status, .. } if status != "allowed" => entry(OutputKind::Note, format!("rate limit: {status}"), None),
        RunLine::Foreign { text } => entry(OutputKind::Note, excerpt(text, 400), None),
        RunLine::Text { .. } | RunLine::Thinking { .. } | RunLine::RateLimit { .. } | RunLine::Usage { .. } | RunLine::Other { .. } => None,
    }
}

/// What a prompt is, in a line: its fields are for agents.
fn name_of(prompt: &str) -> String {
    match prompt {
        _ if prompt.starts_with("<issue>") => "the task with its comments".to_owned(),
        _ if prompt.starts_with("<reminder>") => "a reminder".to_owned(),
        _ if inbox::is_told(prompt) => "messages of others".to_owned(),
        _ => excerpt(prompt, 160),
    }
}

fn bounded(text: &str) -> String {
    if text.len() <= DETAIL_BYTES {
        return text.to_owned();
    }
    let end = (0..=DETAIL_BYTES).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    format!("{}\n… {} bytes more in the run's raw output", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests;
