//! Tasks: the use-cases that make, move and change them.

mod assign;
mod create;
mod edit;
mod gate;
mod moves;
mod orphan;
pub(crate) mod read;
pub(crate) mod settle;

pub(crate) use create::{Edges, NewTaskRow, in_project, insert};
pub(crate) use edit::{release, stop};
pub use moves::MoveRequest;
pub(crate) use moves::{apply, wrong_status};
pub(crate) use orphan::{assignee_left, assignee_returned, unassign_all};
