//! Tests of persons, agents, messages, handshakes, contracts, hats and minions.

mod agent;
mod browser_session;
mod companion;
mod contract;
mod contribution;
mod feature;
mod general;
mod handshake;
mod hat;
mod inbox;
mod isolation;
mod message;
mod minion;
mod name;
mod person;
mod presence;
mod rename;
mod run_inbox;
mod token;
mod token_change;
mod webhook;
