//! The signals that end a command, SIGINT and SIGTERM, and SIGHUP, which does not end a server. Must not know what the command does.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::CliError;

/// Listens for both signals from its creation.
pub(crate) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
}

impl StopSignals {
    /// # Errors
    /// When the system does not deliver signals.
    pub(crate) fn listen() -> Result<Self, CliError> {
        let listen = |kind| signal(kind).map_err(CliError::io("listen for signals"));
        Ok(Self { interrupt: listen(SignalKind::interrupt())?, terminate: listen(SignalKind::terminate())? })
    }

    /// Waits for the first of them.
    pub(crate) async fn wait(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}

/// Survives SIGHUP from now on: a closed terminal or a lost connection does not end a server.
///
/// # Errors
/// When the system does not deliver signals.
pub(crate) fn ignore_hangup() -> Result<(), CliError> {
    // The handler stays installed without its receiver.
    signal(SignalKind::hangup()).map(drop).map_err(CliError::io("listen for signals"))
}
