//! The `vibe-relay` program.
fn main() {}
