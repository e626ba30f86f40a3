//! Reads an agent's output line by line while it is being written, from any offset and to the true end.
//!
//! What the lines mean is not known here. The end is reached when the run's lock is free and everything was read.

use std::io::{self, SeekFrom};
use std::time::Duration;

use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio::time::sleep;

use crate::run_dir::{RunDir, RunDirError};

/// The longest line that is kept, in bytes, without its newline.
pub const LINE_LIMIT: usize = 8 << 20;

/// How long to wait at the end of the file. Asking the file again is a read that finds nothing: some microseconds.
const POLL: Duration = Duration::from_millis(50);
const CHUNK: usize = 64 << 10;

/// A line with the offset of the byte after it, where reading can be taken up again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TailLine {
    /// Bytes that are not UTF-8 are replaced. The very last line may have lacked its newline.
    Text { text: String, end: u64 },
    /// A line of more than [`LINE_LIMIT`] bytes was passed over.
    TooLong { bytes: u64, end: u64 },
}

impl TailLine {
    pub fn end(&self) -> u64 {
        match self {
            Self::Text { end, .. } | Self::TooLong { end, .. } => *end,
        }
    }
}

/// Reads `stdout` of one run.
#[derive(Debug)]
pub struct Tail {
    run_dir: RunDir,
    file: File,
    /// What was read and not handed out; the first `start` bytes were.
    buffer: Vec<u8>,
    start: usize,
    /// Up to here the buffer holds no newline.
    scanned: usize,
    /// The offset in the file of `buffer[start]`.
    offset: u64,
    /// Bytes of the current line that were dropped because it is too long.
    dropped: u64,
    /// The writers are gone: what is in the file now is all.
    complete: bool,
}

impl Tail {
    /// # Errors
    /// When the run has no readable output file.
    pub async fn open(run_dir: &RunDir, offset: u64) -> Result<Self, RunDirError> {
        let open = async {
            let mut file = File::open(run_dir.file("stdout")).await?;
            file.seek(SeekFrom::Start(offset)).await?;
            Ok(file)
        };
        let file = open.await.map_err(|source| unreadable(run_dir, source))?;
        Ok(Self { run_dir: run_dir.clone(), file, buffer: Vec::new(), start: 0, scanned: 0, offset, dropped: 0, complete: false })
    }

    /// The next line; waits for it while the run lives. `None` at the end. Safe to cancel: nothing is lost.
    ///
    /// # Errors
    /// When the file or the run's lock cannot be read.
    pub async fn next(&mut self) -> Result<Option<TailLine>, RunDirError> {
        loop {
            if let Some(line) = self.take_line() {
                return Ok(Some(line));
            }
            self.make_room();
            let read = self.file.read_buf(&mut self.buffer).await.map_err(|source| unreadable(&self.run_dir, source))?;
            if read > 0 {
                continue;
            }
            if self.complete {
                return Ok(self.take_rest());
            }
            // Asked before the last read, not after it: what is written in between is still found.
            if self.run_dir.is_alive()? {
                sleep(POLL).await;
            } else {
                self.complete = true;
            }
        }
    }

    fn take_line(&mut self) -> Option<TailLine> {
        let newline = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n');
        match newline {
            Some(position) => Some(self.hand_out(self.scanned + position, 1)),
            None => {
                self.scanned = self.buffer.len();
                None
            }
        }
    }

    /// A last line without its newline.
    fn take_rest(&mut self) -> Option<TailLine> {
        let is_empty = self.start == self.buffer.len() && self.dropped == 0;
        (!is_empty).then(|| self.hand_out(self.buffer.len(), 0))
    }

    fn hand_out(&mut self, line_end: usize, newline: usize) -> TailLine {
        let line = &self.buffer[self.start..line_end];
        let bytes = self.dropped + line.len() as u64;
        let end = self.offset + (line.len() + newline) as u64;
        let line = if bytes > LINE_LIMIT as u64 {
            TailLine::TooLong { bytes, end }
        } else {
            TailLine::Text { text: String::from_utf8_lossy(line).into_owned(), end }
        };
        self.offset = end;
        self.start = line_end + newline;
        self.scanned = self.start;
        self.dropped = 0;
        line
    }

    fn make_room(&mut self) {
        let pending = self.buffer.len() - self.start;
        if self.dropped > 0 || pending > LINE_LIMIT {
            self.dropped += pending as u64;
            self.offset += pending as u64;
            self.buffer = Vec::new();
        } else {
            self.buffer.drain(..self.start);
            // One long line must not cost its memory for the rest of the run.
            self.buffer.shrink_to(pending.max(CHUNK));
        }
        self.start = 0;
        self.scanned = self.buffer.len();
        self.buffer.reserve(CHUNK);
    }
}

fn unreadable(run_dir: &RunDir, source: io::Error) -> RunDirError {
    RunDirError::Io { attempt: "read", path: run_dir.file("stdout"), source }
}

#[cfg(test)]
mod tests;
