//! The war room for the runner: the files of knowledge and the code map. It must not decide what is written.

pub mod code_map;
pub(crate) mod knowledge;
