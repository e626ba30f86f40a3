//! Reach: in which projects the holder of a token may act. Only a person gives it.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// The projects that a token of an agent opens.
    #[derive(Default)]
    TokenReach, "reach of a token" {
        /// The one that it was created in.
        #[default]
        Project = "project",
        /// All: its holder is a general, and names the project of a call with the argument `project`.
        All = "all",
    }
}
