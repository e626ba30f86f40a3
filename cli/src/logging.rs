//! The program's log: on standard error, from `info` on unless RUST_LOG says otherwise.

use tracing_subscriber::EnvFilter;

/// Begins to log. A second call changes nothing.
pub(crate) fn start(default: &str) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    drop(tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr).with_target(false).try_init());
}
