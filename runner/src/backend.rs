//! The agent programs that can be driven: how each is started, what its output means, and how its end is read.
//!
//! Everything below is pure; processes and files are the business of `shim`, `tail` and `process`.

pub mod activity;
pub mod claude;
pub mod stream;
