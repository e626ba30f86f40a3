//! Use cases of participants: agents, tokens, messages, hats, contributions, handshakes, contracts, minions, webhooks and the features in use.

pub(crate) mod agent;
pub(crate) mod audit;
pub(crate) mod browser_session;
pub(crate) mod companion;
pub(crate) mod contract;
pub(crate) mod feature;
pub(crate) mod handshake;
pub(crate) mod hat;
pub(crate) mod message;
pub(crate) mod minion;
pub(crate) mod person;
pub(crate) mod rate_limit;
pub(crate) mod token;
pub(crate) mod webhook;

pub(crate) mod contribution {
    pub(crate) mod write;
}
pub(crate) mod participant {
    pub(crate) mod row;
}
