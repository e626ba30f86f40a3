//! Claims: which agent edits which files. A claim names a path or a glob of one repository, and no two claims of different agents overlap.
//!
//! Must not know how claims are stored, or that a path may lead through a symbolic link: whoever names a path resolves it first.

mod overlap;
mod path;
pub mod refusal;

pub use path::ClaimPath;
