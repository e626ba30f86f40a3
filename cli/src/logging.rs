//! The program's log on standard error. `RUST_LOG` overrides each command's default level.

use tracing_subscriber::EnvFilter;

/// Starts logging. Later calls have no effect.
pub(crate) fn start(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false);
    // A server outlives its terminal, and an error about a line that cannot be written would panic there.
    drop(log.log_internal_errors(false).try_init());
}
