//! Pages of the area *team*.

pub(crate) mod agent;
pub(crate) mod contract;
pub(crate) mod handshake;
pub(crate) mod message;
