//! The parts of the page of a plan.

mod sections;
pub(crate) mod side;
pub(crate) mod task;
