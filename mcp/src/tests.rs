//! The tools as a client meets them: over HTTP in all revisions of the protocol and through the bridge, on a real store and repository.

mod audit;
mod auth;
mod bad_input;
mod bridge;
mod bridge_resource;
mod calls;
mod claim;
mod connect;
mod context;
mod context_resource;
mod coordination;
mod dead_drop;
mod fixture;
mod idempotency;
mod identity;
mod invite;
mod listener;
mod messaging;
mod notices;
mod pages;
mod protocol;
mod push;
mod resource;
mod table;
mod token;
mod workflow;
