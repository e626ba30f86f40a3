//! Tasks: the use cases that create, move and change them.

pub(crate) mod row;
pub(crate) mod write;

mod assign;
mod create;
mod edit;
mod gate;
mod moves;
pub(crate) mod order;
mod unresponsive;
