//! The text of a task that is made from the text of someone outside. Must not know tasks, whose refusals know publications.

/// A title and a description.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskText {
    pub title: String,
    pub description: String,
}
