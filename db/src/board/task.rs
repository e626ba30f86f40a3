//! Tasks: the use-cases that make, move and change them.

mod assign;
mod create;
mod edit;
mod gate;
mod moves;
pub(crate) mod read;
mod unresponsive;

pub(crate) use create::{NewTaskRow, in_project, insert};
pub(crate) use edit::{release, stop};
pub use moves::MoveRequest;
pub(crate) use moves::{apply, wrong_status};
pub(crate) use unresponsive::{assignee_left, assignee_returned, unassign_all};
