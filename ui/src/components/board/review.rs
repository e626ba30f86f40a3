//! The parts of a review: the list of files, their changes with comments on lines, what the reviewer said, and the decision.

pub(crate) mod blocks;
pub(crate) mod comment;
pub(crate) mod conflict;
pub(crate) mod decision;
pub(crate) mod file;
pub(crate) mod lines;
pub(crate) mod state;
pub(crate) mod tree;
pub(crate) mod verdict;
