//! The target that the board is compiled for. This package has no dependencies, so its build script runs in the first seconds of a build
//! and makes sure that the toolchain has that target. It must not know how the board is compiled.

/// The target triple of the board.
pub const TARGET: &str = "wasm32-unknown-unknown";
