//! Pages of the area *runs*.

pub(crate) mod land;
