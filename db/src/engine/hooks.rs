//! The functions through which the engine reaches the nouns. Must not know which functions these are: `open.rs` of the crate sets them.

use std::future::Future;
use std::pin::Pin;

use domain::event::Envelope;
use sqlx::SqliteConnection;

use crate::caller::Caller;
use crate::error::Result;

/// The future of a hook, which borrows its arguments.
pub(crate) type HookFuture<'t> = Pin<Box<dyn Future<Output = Result<()>> + Send + 't>>;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Hooks {
    /// Adds the current card or project to the last event about it.
    pub(crate) attach_snapshot: for<'t> fn(&'t mut SqliteConnection, &'t mut Envelope) -> HookFuture<'t>,
    /// Refuses a caller that may no longer write.
    pub(crate) admit_writer: for<'t> fn(&'t mut SqliteConnection, &'t Caller) -> HookFuture<'t>,
}
