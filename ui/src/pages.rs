//! The pages: what a person sees at an address.

pub(crate) mod contracts;
pub(crate) mod goals;
pub(crate) mod handshakes;
pub(crate) mod messages;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod projects;
pub(crate) mod sign_in;
pub(crate) mod team;
