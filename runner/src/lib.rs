//! Runs agents: plans what is to be done, starts their programs, watches them, and ends them.

pub mod backend;
pub mod env;
pub mod process;
pub mod run_dir;
pub mod shim;
pub mod tail;
