//! Components of the area *runs*: the attempts of a task.

pub(crate) mod attempt;
