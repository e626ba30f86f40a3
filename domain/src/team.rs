//! The nouns of participants: persons, agents, roles and hats, messages, pairings, handshakes, contracts, minions and webhooks.

pub mod agent;
pub mod browser_session;
pub mod contract;
pub mod handshake;
pub mod hat;
pub mod message;
pub mod minion;
pub mod pairing;
pub mod person;
pub mod role;
pub mod token;
pub mod webhook;
