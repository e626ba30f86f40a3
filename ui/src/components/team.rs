//! Components of the area *team*: persons, browser sessions, agents, messages, handshakes, contracts and helpers.

pub(crate) mod audit;
pub(crate) mod browser_session;
pub(crate) mod message_composer;
pub(crate) mod message_thread;
pub(crate) mod minion;
pub(crate) mod new_agent;
pub(crate) mod new_contract;
pub(crate) mod new_handshake;
pub(crate) mod new_person;
pub(crate) mod pairing;
pub(crate) mod person;
pub(crate) mod token;
