//! Proves rules about the sources by reading them: their shape, the arrows between crates, what has one place only, what tests
//! must name, and that the papers say what is so. It must start nothing and know no behaviour.

#![expect(clippy::unwrap_used, reason = "a test ends where something unexpected happens")]

mod areas;
mod arrows;
mod coverage;
mod failures;
mod generated;
mod layers;
mod one_place;
mod papers;
mod shape;
mod site;
mod source;
mod words;
