//! Audiences: which interfaces accept a token.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The interfaces that accept a token.
    TokenAudience, "audience of a token" {
        /// The tools at `/mcp`.
        Mcp = "mcp",
        /// The HTTP interface, which is for persons.
        Api = "api",
        Both = "both",
    }
}

impl TokenAudience {
    /// Whether a token for this audience is accepted at `interface`.
    pub fn includes(self, interface: Self) -> bool {
        self == Self::Both || self == interface
    }
}
