//! How messages reach an external agent.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// How messages reach an external agent.
    Transport, "transport" {
        /// A person watches it in a terminal.
        Terminal = "terminal",
        /// Another program starts it when there is something to do.
        Daemon = "daemon",
    }
}
