//! Pages of the area *context*.

pub(crate) mod session;
