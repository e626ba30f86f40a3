//! Tests of the store: one file per noun, each test on a database of its own. They run no git, so they supply the evidence themselves.

mod backup;
mod board;
mod clock;
mod context;
mod coverage;
mod engine;
mod external_agents;
mod figures;
mod migrate;
mod open;
mod retention;
mod runs;
mod store;
mod team;
mod warroom;
