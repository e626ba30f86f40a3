//! Messages between participants. A message is stored once; one delivery for each recipient says how far it is.
//!
//! `row` maps rows, `read` selects them and `write` changes them. The other files are use cases on top of these.

mod history;
mod inbox;
pub(crate) mod post;
pub(crate) mod read;
pub(crate) mod removable;
mod row;
pub(crate) mod run_end;
pub(crate) mod send;
pub(crate) mod write;

pub use history::HistoryQuery;
#[cfg(test)]
pub(crate) use history::sql as history_sql;
pub(crate) use post::post;
pub use row::AcknowledgedMessage;
pub use send::Sent;
pub(crate) use send::post_with_copies;
pub(crate) use write::OutgoingMessage;
