//! Comments: the thread of a task, through which agents pass on what they know.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::kinds::events;
use crate::id::{CommentId, RunId, TaskId};
use crate::refusal::category::refusals;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The kind of author. `runner` reports for the machine, such as a conflict; `agent` is an external agent.
    AuthorRole, "author role" {
        Planner = "planner",
        Coder = "coder",
        Reviewer = "reviewer",
        Orchestrator = "orchestrator",
        Oracle = "oracle",
        Human = "human",
        Runner = "runner",
        Agent = "agent",
    }
}

/// A comment on a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Comment {
    pub id: CommentId,
    pub task_id: TaskId,
    pub author_role: AuthorRole,
    /// The name of an external agent, or of a person other than the owner (`human/ann`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author_name: Option<String>,
    pub run_id: Option<RunId>,
    /// Markdown, unchanged.
    pub content: String,
    pub created_at: Timestamp,
    /// When its author last changed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited_at: Option<Timestamp>,
}

impl Comment {
    /// Returns the author in words: `coder`, `agent mara`, `human/ann`.
    pub fn author(&self) -> String {
        self.author_role.with_name(self.author_name.as_deref())
    }
}

impl AuthorRole {
    /// Returns an author of this role in words.
    pub fn with_name(self, name: Option<&str>) -> String {
        match (self, name) {
            (Self::Human, Some(name)) => name.to_owned(),
            (role, Some(name)) => format!("{role} {name}"),
            (role, None) => role.to_string(),
        }
    }
}

events! {
    /// A change of a thread.
    CommentEvent {
        Added "comment_added" { comment: CommentId, author_role: AuthorRole }
        /// Its author changed its text.
        Edited "comment_edited" { comment: CommentId }
        /// Its author deleted it.
        Removed "comment_removed" { comment: CommentId }
    }
}

refusals! {
    /// Why a comment may not be changed.
    CommentRefusal {
        #[error("{comment} was written by {author}")]
        NotYours { comment: CommentId, author: String } => Forbidden "not-yours",
    }
}

impl CommentRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NotYours { .. } => "Change only your own comments; answer this one with a comment.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn author_has_a_name_where_the_role_does_not_say_it() {
        let author = |author_role, name: Option<&str>| {
            let (id, task_id, created_at) = (CommentId::new(1), TaskId::new(1), Timestamp::from_milliseconds(0));
            Comment {
                id,
                task_id,
                author_role,
                author_name: name.map(str::to_owned),
                run_id: None,
                content: String::new(),
                created_at,
                edited_at: None,
            }
            .author()
        };
        assert_eq!(author(AuthorRole::Coder, None), "coder");
        assert_eq!(author(AuthorRole::Agent, Some("mara")), "agent mara");
        assert_eq!([author(AuthorRole::Human, None), author(AuthorRole::Human, Some("human/ann"))], ["human", "human/ann"]);
    }
}
