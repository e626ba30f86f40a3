//! Components of the area *runs*: the attempts of a task, their sandbox, and landing.

pub(crate) mod attempt;
pub(crate) mod branch_start;
pub(crate) mod check;
pub(crate) mod checkpoint;
pub(crate) mod land;
pub(crate) mod pause;
pub(crate) mod permission;
pub(crate) mod preview;
pub(crate) mod profile;
pub(crate) mod publication;
pub(crate) mod pull_request;
pub(crate) mod repository_finding;
pub(crate) mod rescue;
pub(crate) mod sandbox;
