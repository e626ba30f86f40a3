//! The pages: what a person sees at an address.

pub(crate) mod board;
pub(crate) mod context;
pub(crate) mod runs;
pub(crate) mod settings;
pub(crate) mod sign_in;
pub(crate) mod team;
pub(crate) mod warroom;
