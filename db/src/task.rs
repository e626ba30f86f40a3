//! Tasks: the use-cases that make, move and change them.

mod assign;
mod create;
mod edit;
mod gate;
mod moves;
mod orphan;
pub(crate) mod read;
pub(crate) mod settle;

pub(crate) use create::{Edges, Row, in_project, insert};
pub(crate) use edit::{release, stop};
pub use moves::Move;
pub(crate) use moves::{apply, not_now};
pub(crate) use orphan::{assignee_left, assignee_returned, take_from};
