//! Bodies of the review of a task.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::review::{Decisions, Verdict};
use crate::board::review_round::ReviewRound;
use crate::board::status::Status;
use crate::id::{ProjectId, TaskId};
use crate::runs::diff::{Conflict, DiffSize};
use crate::runs::evidence::Sha;
use crate::wire::comment::CommentView;

/// `GET /api/tasks/{id}/review`: what a person reads before they decide, besides the changes themselves.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ReviewView {
    pub task_id: TaskId,
    pub project_id: ProjectId,
    pub title: String,
    pub status: Status,
    /// The description as sanitized HTML.
    pub description_html: Option<String>,
    /// The branch that the work is merged into.
    pub base_branch: String,
    /// The commit under review; none before the first commit.
    pub head: Option<Sha>,
    /// The size of all changes at `head`.
    pub size: Option<DiffSize>,
    /// The files that cannot be merged into the project branch, because both sides changed them.
    pub conflicts: Vec<Conflict>,
    /// The protected paths that the work changes, in words.
    pub protected: Option<String>,
    /// The latest verdict, which may be about an earlier commit.
    pub verdict: Option<Verdict>,
    /// The comments of the coder and the reviewer of the latest runs, oldest first.
    pub words: Vec<CommentView>,
    /// The earlier submissions that were sent back, the oldest first.
    pub rounds: Vec<ReviewRound>,
    pub decisions: Decisions,
}

/// `POST /api/tasks/{id}/approve`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// Stored with the task.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub notes: Option<String>,
    /// The commit that the person read. If it is given, another one is refused. Without it, as a script sends it, the newest commit of the
    /// branch is approved.
    #[serde(default)]
    pub sha: Option<Sha>,
}
