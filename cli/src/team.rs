//! Commands for participants: people, agents and their tokens.

pub(crate) mod audit;
pub(crate) mod browser_session;
pub(crate) mod companion;
pub(crate) mod inbox;
pub(crate) mod pairing;
pub(crate) mod person;
pub(crate) mod token;
