//! The board as bytes: the page, its style sheet, its scripts and its wasm module, compiled into the binary.
//!
//! `build.rs` creates them. Must not know HTTP; the server derives headers from these fields.

/// One file of the board.
#[derive(Debug, PartialEq, Eq)]
pub struct Asset {
    /// The path below the server's root, such as `/assets/board-0123456789abcdef.js`.
    pub path: &'static str,
    pub content_type: &'static str,
    pub bytes: &'static [u8],
    /// The same bytes compressed for `Content-Encoding: br`.
    pub brotli: Option<&'static [u8]>,
    /// A strong entity tag, with its quotes.
    pub etag: &'static str,
    /// Whether the name changes with the content, so that browsers may cache the file forever.
    pub immutable: bool,
}

static ASSETS: &[Asset] = include!(concat!(env!("OUT_DIR"), "/assets.rs"));

/// Finds the file at an exact path.
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

/// The page, which the server sends for every address of the board, because the board reads the address itself.
pub fn index() -> Option<&'static Asset> {
    asset("/")
}

#[cfg(test)]
#[path = "../build/names.rs"]
mod names;
#[cfg(test)]
mod tests;
