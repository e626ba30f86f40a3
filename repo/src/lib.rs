//! Everything that is read or written in a git repository.
//!
//! Starts no program, knows no SQL and no task: callers pass paths, branch names and commits, and get facts or
//! outcomes back. All functions block; callers run them on a thread that may block.
//!
//! A repository is untrusted input. Every access goes through [`Repository`], whose handle ignores what a worktree says
//! about itself (its `.git` file, its index, `core.worktree`) and starts none of the programs that a repository can name.

mod branch;
mod checkout;
mod diff;
mod durable;
mod error;
mod evidence;
mod feature;
mod filter;
mod handle;
mod history;
mod identity;
mod land;
mod lock;
mod look;
mod merge;
mod probe;
mod remove;
mod rescue;
mod workdir;
mod worktree;

#[cfg(test)]
mod git_program;
#[cfg(test)]
mod hostile;
#[cfg(any(test, feature = "testing"))]
pub mod testing;

pub use diff::DiffLimits;
pub use error::RepoError;
pub use handle::Repository;
pub use history::Commit;
pub use identity::Identity;
pub use land::LandOutcome;
pub use look::look;
pub use merge::MergeOutcome;
pub use probe::{git_dir, probe};
pub use rescue::{RESCUE_PREFIX, Rescue};
