//! Commands for shared context: imports.

pub(crate) mod import;
