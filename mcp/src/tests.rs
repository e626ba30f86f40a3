//! The tools as a client meets them: over HTTP in both eras of the protocol and through the bridge, on a real store and repository.

mod agree;
mod bad_input;
mod bridge;
mod calls;
mod door;
mod ear;
mod fixture;
mod identity;
mod notices;
mod pages;
mod push;
mod repeat;
mod resource;
mod room;
mod table;
mod talk;
mod work;
