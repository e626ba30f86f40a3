//! Tests of the war room: claims, classes of agents, the context that they have left, and who is present.

mod claim;
mod claim_storm;
mod class;
mod context_left;
mod party;
