//! The nouns of agents at work: runs, how they end, what keeps them from starting, and what they leave in a repository.

pub mod agent_kind;
pub mod diff;
pub mod evidence;
pub mod failure;
pub mod output;
pub mod parking;
pub mod run;
pub mod run_event;
