//! The tools as a client meets them: over HTTP in both eras of the protocol and through the bridge, on a real store and repository.

mod bridge;
mod calls;
mod door;
mod fixture;
mod notices;
mod table;
