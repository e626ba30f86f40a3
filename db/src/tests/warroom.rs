//! Tests of the war room.

mod claim;
mod claim_storm;
