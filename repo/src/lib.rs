//! Reads and writes git repositories.
//!
//! Must not start programs, use SQL or know tasks. Callers pass paths, branch names and commits, and get facts or
//! outcomes back. All functions of a [`Repository`] block, so callers run
//! them in its lane ([`in_lane`]).
//!
//! A repository is untrusted input. Every access goes through [`Repository`]. Its handle ignores a worktree's own
//! claims (its `.git` file, its index, `core.worktree`) and starts none of the programs that a repository can name.

mod base;
mod branch;
mod branch_start;
mod checkout;
mod checkpoint;
mod code_map;
mod commit_files;
mod control;
mod conversion;
mod copy_files;
mod diff;
mod disk_space;
mod durable;
mod error;
mod evidence;
mod evidence_request;
mod exclusive;
mod feature;
mod file_history;
mod file_stat;
mod file_times;
mod filter;
mod folders;
mod git_call;
mod handle;
mod history;
mod identity;
mod land;
mod lane;
mod leftover;
mod location;
mod lock;
mod memory;
mod merge;
mod nested;
mod oracle_note;
mod parallel;
mod patch_id;
mod probe;
mod profile;
mod proposal_source;
mod publication;
mod relocate;
mod remove;
mod repository_finding;
mod rescue;
mod review_round;
mod scratch;
mod signature;
mod size;
mod snapshot;
mod stat_cache;
mod submodule;
mod text_file;
mod tracked;
mod upstream;
mod workdir;
mod worktree;

#[cfg(test)]
mod git_program;
#[cfg(test)]
mod hostile;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod unusual_names;

pub use branch::check_start_branch;
pub use checkpoint::TakenCheckpoint;
pub use code_map::{CodeMap, KeptCodeMap};
pub use commit_files::with_commit_files;
pub use control::ControlFiles;
pub use copy_files::IgnoredFiles;
pub use diff::DiffLimits;
pub use diff::highlight::{code_spans, load_syntaxes};
pub use disk_space::{DiskSpace, require_writable};
pub use error::RepoError;
pub use evidence_request::{collect_evidence, read_evidence};
pub use exclusive::exclusive;
pub use file_history::record_files;
pub use git_call::{GitCall, GitOutput, RunGit, use_git};
pub use handle::Repository;
pub use history::Commit;
pub use identity::{Identity, user_name};
pub use land::{GitUpdate, LandOutcome, LandRequest, LandingQuestion, UndoOutcome, UndoRequest};
pub use lane::{Effort, in_lane, not_responding, try_again};
pub use location::FoundFile;
pub use memory::{limit_memory, return_freed_memory};
pub use merge::{MergeOutcome, SQUASHED_PREFIX};
pub use nested::{NestedRepository, NestedWork};
pub use oracle_note::holding_notes;
pub use probe::{git_dir, place, probe, probe_or_plan_base, uncommitted};
pub use proposal_source::read_proposal_source;
pub use relocate::checkout_name;
pub use rescue::{KeptCommit, RESCUE_PREFIX, Rescue};
pub use review_round::ROUND_PREFIX;
pub use text_file::TextFile;
pub use upstream::{FETCHED, Upstream, upstream_reference};
