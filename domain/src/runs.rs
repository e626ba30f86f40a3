//! The nouns of managed agents' work: runs and their outcome, parking, and the changes in a repository.

pub mod agent_kind;
pub mod backoff;
pub mod check;
pub mod checkout;
pub mod checkpoint;
pub mod condition;
pub mod diff;
pub mod evidence;
pub mod failure;
pub mod hand_over;
pub mod interrupt;
pub mod land;
pub mod limit;
pub mod output;
pub mod parking;
pub mod pause;
pub mod permission;
pub mod profile;
pub mod protected_paths;
pub mod publication;
pub mod rescue;
pub mod run;
pub mod run_event;
pub mod sandbox;
pub mod tick;
pub mod usage;
