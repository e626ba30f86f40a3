//! Commands for the participants of a project.

pub(crate) mod browser_session;
pub(crate) mod token;
