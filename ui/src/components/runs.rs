//! Components of the area *runs*: the attempts of a task, and landing.

pub(crate) mod attempt;
pub(crate) mod land;
