//! Messages between participants. A message is stored once; one delivery for each recipient says how far it is.
//!
//! `row` maps rows, `read` selects them and `write` changes them. The other files are use cases on top of these.

pub(crate) mod history;
mod inbox;
mod mark;
mod post;
pub(crate) mod read;
mod recipient;
pub(crate) mod removable;
pub(crate) mod row;
pub(crate) mod run_end;
pub(crate) mod send;
pub(crate) mod write;

pub(crate) use post::{post, post_with_copies};
pub(crate) use write::OutgoingMessage;
