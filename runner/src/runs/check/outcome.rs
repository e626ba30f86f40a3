//! How a command ended, and the end of what it printed. It must not run anything.

use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::run_dir::{ExitErrorKind, ExitRecord};

/// The most bytes that one command may print. One that prints more is ended, and has failed.
pub(super) const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// The end of the output that is kept with a result.
const TAIL_BYTES: u64 = 4_000;

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ended {
    Passed {
        duration_ms: u64,
        tail: String,
    },
    Failed {
        duration_ms: u64,
        tail: String,
    },
    /// It did not judge anything, and will not without a person.
    NotRun {
        why: String,
    },
    /// Something outside of it ended it.
    Lost {
        why: String,
    },
}

/// Judges the end of a command whose output ends with `tail`.
pub(super) fn ended(line: &str, exit: &ExitRecord, tail: &str) -> Ended {
    let (duration_ms, why) = (exit.duration_ms.unwrap_or_default(), |detail: &str| detail.trim_end_matches('.').to_owned());
    let with_end = |how: &str| format!("{}\n{how}", tail.trim_end()).trim_start().to_owned();
    match exit.error.as_ref().map(|error| (error.kind, error.detail.as_str())) {
        None if exit.code == Some(0) => Ended::Passed { duration_ms, tail: tail.to_owned() },
        None => {
            let how = exit.code.map(|code| format!("(exit code {code})"));
            let how = how.or_else(|| exit.signal.map(|signal| format!("(ended by signal {signal})"))).unwrap_or_default();
            Ended::Failed { duration_ms, tail: with_end(&how) }
        }
        Some((ExitErrorKind::OutputLimit, _)) => {
            Ended::Failed { duration_ms, tail: with_end(&format!("(ended because it printed more than {} MB)", MAX_OUTPUT_BYTES >> 20)) }
        }
        Some((ExitErrorKind::TimedOut, detail)) => Ended::NotRun { why: format!("`{line}`: {}", why(detail)) },
        Some((ExitErrorKind::SetupFailed | ExitErrorKind::MissingProgram | ExitErrorKind::StartFailed, detail)) => Ended::NotRun { why: why(detail) },
        Some((_, detail)) => Ended::Lost { why: why(detail) },
    }
}

/// The end of a command's output, from the beginning of a line.
pub(in crate::runs) fn tail(output: &Path) -> String {
    let read = || -> io::Result<(bool, Vec<u8>)> {
        let mut file = fs::File::open(output)?;
        let start = file.metadata()?.len().saturating_sub(TAIL_BYTES);
        file.seek(SeekFrom::Start(start))?;
        let mut bytes = Vec::new();
        file.take(TAIL_BYTES).read_to_end(&mut bytes)?;
        Ok((start > 0, bytes))
    };
    let Ok((is_cut, bytes)) = read() else { return String::new() };
    let text = String::from_utf8_lossy(&bytes);
    let text = match text.split_once('\n') {
        Some((_, rest)) if is_cut => rest,
        _ => &text,
    };
    text.chars().filter(|character| !character.is_control() || matches!(character, '\n' | '\t')).collect()
}

#[cfg(test)]
mod tests;
