//! Where the files of a project's knowledge are.

use crate::vocabulary::vocabulary;

vocabulary! {
    /// Where the files of knowledge are kept, besides the database.
    KnowledgePlace, "place of knowledge" {
        /// In a repository of their own beside the database.
        Beside = "beside",
        /// Also in the folder `.dead-drop` of the person's checkout, who decides whether to commit it.
        Repo = "repo",
    }
}
