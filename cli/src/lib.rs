//! The `vibe-relay` program as a library: what its commands do. It must not hold rules of the board; those live in `domain` and `db`.

pub mod scripted;
