//! Pages of the area *warroom*.

pub(crate) mod room;
