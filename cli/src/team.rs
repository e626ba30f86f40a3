//! Commands for the participants of a project.

pub(crate) mod token;
