//! The war room for the runner: the files of knowledge, the code map, and what oracles read first. It must not decide what is written.

pub mod code_map;
pub(crate) mod knowledge;
pub(crate) mod oracle;
