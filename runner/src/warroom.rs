//! The war room for the runner: the files of knowledge. It must not decide what is written.

pub(crate) mod knowledge;
