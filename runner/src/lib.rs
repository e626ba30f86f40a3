//! Runs agents: schedules what is due, starts their programs, watches them, merges approved work, and cleans up.
//!
//! The life of a run: [`schedule`] decides, `runs` reserves it in the store and prepares its checkout and prompt, [`process`] starts a
//! [`shim`], and the shim starts the agent. [`backend`] alone knows the agent program. `watch` reads the output from [`run_dir`] and records the end. This crate must not know HTTP
//! or MCP: what agents do to the board arrives as events.

mod activity;
pub mod backend;
mod blocking;
pub mod env;
pub mod free_space;
pub mod jail;
mod janitor;
pub mod liveness;
pub mod preflight;
pub mod process;
mod procfs;
pub mod prompt;
mod resource;
mod retry;
pub mod run_dir;
mod runs;
pub mod schedule;
pub mod setup;
pub mod shell_writes;
pub mod shim;
mod supervisor;
pub mod tail;
pub mod transcript;
pub mod warroom;
mod watch;

pub use runs::base::follow_before_landing;
pub use runs::checkout::folder_of;
pub use runs::run::RunContext;
pub use runs::scratch::is_of_project;
pub use runs::{checkout_update, publication};
pub use supervisor::supervise;

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod hostile;
#[cfg(test)]
mod unusual_repositories;
