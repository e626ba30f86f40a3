//! Reads an agent's output line by line while it is written, from any offset to the true end.
//!
//! It must not know what the lines mean, except that messages of agent programs are JSON objects. The end is reached when the run's lock is free and everything is read.

use domain::runs::output::RAW_OUTPUT_FILE;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;
use tokio::time::sleep;

use crate::run_dir::{RunDir, RunDirError};

/// The longest line that is kept, in bytes, without its newline.
pub const MAX_LINE_BYTES: usize = 8 << 20;

/// How long to wait at the end of the file. One check is a read and a lock attempt that find nothing: some microseconds.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const CHUNK: usize = 64 << 10;
/// This many complete lines in a row that are no messages are a flood: they are counted instead of read.
const FLOOD_LINES: usize = 100;

/// A line, with the offset of the byte after it, where reading can resume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TailLine {
    /// Bytes that are not UTF-8 are replaced. Only the very last line may lack its newline.
    Text { text: String, end: u64 },
    /// A skipped line of more than [`MAX_LINE_BYTES`] bytes.
    TooLong { bytes: u64, end: u64 },
    /// Skipped lines that are no messages, because there were very many.
    Flood { lines: u64, end: u64 },
}

impl TailLine {
    pub fn end(&self) -> u64 {
        match self {
            Self::Text { end, .. } | Self::TooLong { end, .. } | Self::Flood { end, .. } => *end,
        }
    }
}

/// Reads `stdout` of one run.
#[derive(Debug)]
pub struct Tail {
    run_dir: RunDir,
    file: Arc<File>,
    /// The read bytes; the first `start` of them were returned.
    buffer: Vec<u8>,
    start: usize,
    /// Up to here the buffer holds no newline.
    scanned: usize,
    /// The offset in the file of `buffer[start]`.
    offset: u64,
    /// Bytes of the current line that were skipped because it is too long.
    skipped_bytes: u64,
    /// The writers are gone, so the file does not grow.
    complete: bool,
}

/// The result of one read.
enum Read {
    Bytes(Vec<u8>),
    /// The file has no more bytes; the run lives or not.
    Nothing {
        alive: bool,
    },
}

impl Tail {
    /// # Errors
    /// When the run has no readable output file.
    pub async fn open(run_dir: &RunDir, offset: u64) -> Result<Self, RunDirError> {
        let path = run_dir.file(RAW_OUTPUT_FILE);
        let file = blocking(run_dir, move || File::open(path)).await?.map_err(|source| unreadable(run_dir, source))?;
        let (run_dir, file) = (run_dir.clone(), Arc::new(file));
        Ok(Self { run_dir, file, buffer: Vec::new(), start: 0, scanned: 0, offset, skipped_bytes: 0, complete: false })
    }

    /// Returns the next line and waits for it while the run lives; `None` at the end. Cancelling loses nothing.
    ///
    /// # Errors
    /// When the file or the run's lock cannot be read.
    pub async fn next(&mut self) -> Result<Option<TailLine>, RunDirError> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            self.make_room();
            match self.read().await? {
                Read::Bytes(bytes) => self.buffer.extend(bytes),
                Read::Nothing { .. } if self.complete => return Ok(self.take_rest()),
                Read::Nothing { alive: true } => sleep(POLL_INTERVAL).await,
                // Bytes may have been written between the read and the check, so the file is read once more.
                Read::Nothing { alive: false } => self.complete = true,
            }
        }
    }

    /// Reads at the end of the buffer. The position is our own, so a cancelled read is simply repeated.
    async fn read(&self) -> Result<Read, RunDirError> {
        let (run_dir, file) = (self.run_dir.clone(), self.file.clone());
        let position = self.offset + (self.buffer.len() - self.start) as u64;
        let read = blocking(&self.run_dir, move || {
            let mut bytes = vec![0; CHUNK];
            let read = file.read_at(&mut bytes, position).map_err(|source| unreadable(&run_dir, source))?;
            if read > 0 {
                bytes.truncate(read);
                return Ok(Read::Bytes(bytes));
            }
            Ok(Read::Nothing { alive: run_dir.is_alive()? })
        });
        read.await?
    }

    fn take_line(&mut self) -> Option<TailLine> {
        if let Some(flood) = self.take_flood() {
            return Some(flood);
        }
        let newline = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        match newline {
            Some(position) => Some(self.emit_line(self.scanned + position, 1)),
            None => {
                self.scanned = self.buffer.len();
                None
            }
        }
    }

    /// The lines up to the next message, if they are a flood.
    fn take_flood(&mut self) -> Option<TailLine> {
        let unread = &self.buffer[self.start..];
        // The beginning of a line that is not complete yet was looked at before.
        let is_seen = self.scanned > self.start || self.skipped_bytes > 0;
        if is_seen || unread.first().is_none_or(|byte| *byte == b'{') {
            return None;
        }
        let (mut lines, mut length) = (0, 0);
        for line in unread.split_inclusive(|byte| *byte == b'\n') {
            if line.first() == Some(&b'{') || line.last() != Some(&b'\n') {
                break;
            }
            (lines, length) = (lines + 1, length + line.len());
        }
        if lines < FLOOD_LINES {
            return None;
        }
        self.offset += length as u64;
        self.start += length;
        self.scanned = self.start;
        Some(TailLine::Flood { lines: lines as u64, end: self.offset })
    }

    /// A last line without its newline.
    fn take_rest(&mut self) -> Option<TailLine> {
        let is_empty = self.start == self.buffer.len() && self.skipped_bytes == 0;
        (!is_empty).then(|| self.emit_line(self.buffer.len(), 0))
    }

    fn emit_line(&mut self, line_end: usize, newline: usize) -> TailLine {
        let line = &self.buffer[self.start..line_end];
        let bytes = self.skipped_bytes + line.len() as u64;
        let end = self.offset + (line.len() + newline) as u64;
        let line = if bytes > MAX_LINE_BYTES as u64 {
            TailLine::TooLong { bytes, end }
        } else {
            TailLine::Text { text: String::from_utf8_lossy(line).into_owned(), end }
        };
        self.offset = end;
        self.start = line_end + newline;
        self.scanned = self.start;
        self.skipped_bytes = 0;
        line
    }

    fn make_room(&mut self) {
        let pending = self.buffer.len() - self.start;
        if self.skipped_bytes > 0 || pending > MAX_LINE_BYTES {
            self.skipped_bytes += pending as u64;
            self.offset += pending as u64;
            self.buffer = Vec::new();
        } else {
            self.buffer.drain(..self.start);
            // Releases the memory of a long line.
            self.buffer.shrink_to(pending.max(CHUNK));
        }
        self.start = 0;
        self.scanned = self.buffer.len();
    }
}

async fn blocking<T: Send + 'static>(run_dir: &RunDir, work: impl FnOnce() -> T + Send + 'static) -> Result<T, RunDirError> {
    spawn_blocking(work).await.map_err(|error| unreadable(run_dir, io::Error::other(error)))
}

fn unreadable(run_dir: &RunDir, source: io::Error) -> RunDirError {
    RunDirError::Io { attempt: "read", path: run_dir.file(RAW_OUTPUT_FILE), source }
}

#[cfg(test)]
mod tests;
