//! Runs work that blocks, such as file and repository access, on a thread that may block.
//!
//! It must not know what the work is.

/// The process is shutting down, or the work panicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the work was interrupted; try again")]
pub(crate) struct Interrupted;

/// Runs `work` and returns its result, while async threads go on.
///
/// # Errors
/// When the work does not come to its end.
pub(crate) async fn off_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Interrupted> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Interrupted)
}
