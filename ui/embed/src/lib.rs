//! The board: the page, its style sheet, its scripts and its wasm module, compiled into the binary.
//!
//! `build.rs` creates them. No other crate may wait for that except the program itself. Must not know HTTP.

use api::Asset;

/// All files of the board. The page has the path `/`.
pub static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

#[cfg(test)]
#[path = "../build/names.rs"]
mod names;
#[cfg(test)]
mod tests;
