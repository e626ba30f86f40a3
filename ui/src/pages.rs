//! The pages: what a person sees at an address.

pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod projects;
pub(crate) mod sign_in;
