//! Tests of the writer, the event log and stored answers.

mod audit;
mod call;
pub(crate) mod event_log;
mod fold;
pub(super) mod index;
mod rate_limit;
mod writer;
