//! Commands for the nouns of the board. They send the same requests as the board in the browser.

pub(crate) mod project;
pub(crate) mod report;
pub(crate) mod takeover;
pub(crate) mod task;
