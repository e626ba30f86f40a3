//! The program's log: on standard error, and for a server also in files. `RUST_LOG` replaces the levels.
//!
//! Its lines have no colours and pass through `output::printable`, because they quote what agents wrote.

mod rotation;

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;

use domain::config::Config;
use tracing_subscriber::fmt::layer;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::error::CliError;
use crate::output::printable;
use rotation::RotatingFile;

/// rmcp logs an error for every stream whose client disconnects; requests are logged elsewhere.
const QUIET: &str = "rmcp=warn,rmcp::service=off";
/// Lines that the server prints itself, see `runs::parking`.
const PRINTED: &str = "cli::runs::parking=off";

/// Starts the log of a command. Later calls have no effect.
pub(crate) fn start(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    drop(tracing_subscriber::registry().with(lines(Printable(io::stderr)).with_filter(filter)).try_init());
}

/// Starts the log of a server and returns its file.
///
/// # Errors
/// When the levels of the configuration are invalid, or the file cannot be written.
pub(crate) fn start_server(config: &Config) -> Result<PathBuf, CliError> {
    let levels = std::env::var("RUST_LOG").ok().filter(|levels| !levels.is_empty()).unwrap_or_else(|| config.log.clone());
    let filter = |more: &str| {
        let invalid = |source| CliError::LogLevels { levels: levels.clone(), source: Box::new(source) };
        EnvFilter::try_new(format!("{QUIET},{levels}{more}")).map_err(invalid)
    };
    let (terminal, kept) = (filter(&format!(",{PRINTED}"))?, filter("")?);
    let path = rotation::path(&folder(config), &config.db_path);
    let file = RotatingFile::open(&path).map_err(CliError::io(format!("write the log {}", path.display())))?;
    let file = Printable(Mutex::new(file));
    let log = tracing_subscriber::registry().with(lines(Printable(io::stderr)).with_filter(terminal)).with(lines(file).with_filter(kept));
    drop(log.try_init());
    Ok(path)
}

/// The folder of the log files.
pub(crate) fn folder(config: &Config) -> PathBuf {
    config.logs_path.clone().unwrap_or_else(|| config.db_path.with_file_name("logs"))
}

/// One line for each event.
fn lines<S, W>(writer: W) -> impl Layer<S>
where
    S: tracing::Subscriber + for<'span> tracing_subscriber::registry::LookupSpan<'span>,
    W: for<'writer> tracing_subscriber::fmt::MakeWriter<'writer> + Send + Sync + 'static,
{
    // A server outlives its terminal, and an error about a line that cannot be written would panic there.
    layer().with_ansi(false).with_target(false).log_internal_errors(false).with_writer(writer)
}

/// Makes writers that replace what a terminal obeys.
struct Printable<M>(M);

impl<'writer, M: tracing_subscriber::fmt::MakeWriter<'writer>> tracing_subscriber::fmt::MakeWriter<'writer> for Printable<M> {
    type Writer = PrintableWriter<M::Writer>;

    fn make_writer(&'writer self) -> Self::Writer {
        PrintableWriter(self.0.make_writer())
    }
}

struct PrintableWriter<W>(W);

impl<W: Write> Write for PrintableWriter<W> {
    /// A line arrives as a whole.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write_all(printable(&String::from_utf8_lossy(line)).as_bytes())?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Logs through a file as a server does, and returns its text.
    fn logged(path: &Path, log: impl FnOnce()) -> String {
        let file = Printable(Mutex::new(RotatingFile::open(path).unwrap()));
        tracing::subscriber::with_default(tracing_subscriber::registry().with(lines(file)), log);
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn log_has_fields_of_spans_and_nothing_that_a_terminal_obeys() {
        let folder = tempfile::tempdir().unwrap();
        let text = logged(&folder.path().join("x.log"), || {
            let _span = tracing::info_span!("job", task = "TASK-001").entered();
            tracing::warn!(run = "RUN-002", error = "\x1b[2Jgone\u{9b}31m\u{202e}", "a \x1b]0;title\x07");
        });
        assert!(text.contains("WARN job{task=\"TASK-001\"}") && text.contains("run=\"RUN-002\""), "{text}");
        assert_eq!(text.lines().count(), 1);
        assert!(text.trim_end().chars().all(|letter| !letter.is_control() && letter != '\u{202e}'), "{text:?}");
    }
}
