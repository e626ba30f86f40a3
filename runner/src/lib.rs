//! Runs agents: plans what is to be done, starts their programs, watches them, merges what was approved, and cleans up.
//!
//! The life of a run, once: [`plan`] decides, `run` reserves it in the store and makes its checkout and prompt, [`process`] starts a
//! [`shim`], the shim starts the agent; `watch` reads its output from [`run_dir`] and records its end. [`backend`] alone knows the agent
//! program. The crate knows nothing about HTTP and MCP: what agents do to the board arrives as events like everything else.

mod activity;
pub mod backend;
mod checkout;
mod disk;
pub mod env;
mod merge;
mod parking;
mod patience;
pub mod plan;
mod port;
pub mod preflight;
pub mod process;
pub mod prompt;
mod run;
pub mod run_dir;
pub mod shim;
mod supervisor;
pub mod tail;
pub mod transcript;
mod watch;

pub use supervisor::supervise;

#[cfg(test)]
mod fixture;
