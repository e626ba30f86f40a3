//! Bodies of the HTTP interface and frames of the WebSocket, where they are not the nouns themselves.

mod agent;
mod board;

pub use agent::{
    Assign, CreatedToken, LinkGoal, MessageView, NewHandshake, NewToken, Notes, ReadInbox, RejectVerification, RemoveAgent, RotatedToken,
    SetSpawnPolicy,
};
pub use board::{BoardView, CardPage, FinishedCards, FinishedColumn};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::comment::Comment;
use crate::board::project::PlanApproval;
use crate::board::question::Question;
use crate::board::status::Status;
use crate::board::task::Task;
use crate::board::transition::Target;
use crate::event::{Envelope, Seq};
use crate::id::{RunId, TaskId};
use crate::runs::evidence::Sha;
use crate::runs::parking::Parking;

/// The host name of the board in a browser. Cookies ignore ports, so the name keeps the board's cookie from pages on other ports of
/// `127.0.0.1` and `localhost`. Browsers resolve it to this machine.
pub const BOARD_HOST: &str = "vibe-relay.localhost";

/// The names under which the server is addressed. A page that rebinds its own name to this machine still sends that name.
pub const HOST_NAMES: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", BOARD_HOST];

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// What to pass as `after` for the next page, with messages as `before`; none when this was the last.
    pub next: Option<i64>,
}

/// An error, as `application/problem+json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    pub status: u16,
    /// A stable word for programs.
    pub code: String,
    /// What was attempted and why it was not done.
    pub detail: String,
    /// The next legal step.
    pub hint: String,
    /// With an illegal move: where the task stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Status>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<Status>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Target>,
}

/// `POST /api/projects`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    #[schema(value_type = crate::schema::Title)]
    pub title: String,
    /// The goal, for the planner.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
    /// Any folder of the repository's checkout. The configuration's when missing.
    #[serde(default)]
    pub repo_path: Option<String>,
    /// The checked-out branch when missing.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// Whether a planner begins at once. When missing: if there is a description.
    #[serde(default)]
    pub plan: Option<bool>,
    #[serde(default)]
    pub plan_approval: Option<PlanApproval>,
}

/// `PATCH /api/projects/{id}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectPatch {
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::Title>)]
    pub title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
    #[serde(default)]
    pub plan_approval: Option<PlanApproval>,
}

/// `PATCH /api/tasks/{id}`: what is missing stays as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskPatch {
    #[serde(default)]
    pub status: Option<Status>,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::Title>)]
    pub title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub description: Option<String>,
    /// Why it moves. For cancelling: failed, abandoned, obsolete or duplicate. For sending back: what to change, kept as a comment.
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub reason: Option<String>,
    #[serde(default)]
    pub depends_on: Option<Vec<TaskId>>,
    #[serde(default)]
    pub priority: Option<i64>,
    #[serde(default)]
    #[schema(value_type = Option<crate::schema::OptionalBody>)]
    pub model: Option<String>,
    /// With a move to done: `false` closes the task without merging its branch.
    #[serde(default)]
    pub merge: Option<bool>,
}

/// A task with what its panel shows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    // Flattened for the same reason as the card in a task: one object, its fields at the top.
    #[serde(flatten)]
    pub task: Task,
    /// The description as safe HTML.
    pub description_html: Option<String>,
    /// The question that waits for an answer.
    pub question: Option<Question>,
    /// What else happened, in words: for example that the merge is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A comment with its text rendered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct CommentView {
    #[serde(flatten)]
    pub comment: Comment,
    /// The content as safe HTML.
    pub content_html: String,
}

/// Words of a person: a comment, a message to a running agent, an answer, or what to change in a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TextBody {
    #[schema(value_type = crate::schema::Body)]
    pub content: String,
}

/// `POST /api/tasks/{id}/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// failed, abandoned, obsolete or duplicate.
    #[schema(value_type = crate::board::status::CancelReason)]
    pub reason: String,
}

/// What `POST /api/projects/{id}/land` did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingResult {
    pub base_branch: String,
    pub sha: Sha,
    /// Commits that the base branch did not have before.
    pub commits: u32,
    pub detail: String,
}

/// `GET /api/health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthResponse {
    pub status: String,
    pub version: String,
}

/// `GET /api/server`: what the board says about the machine it runs on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ServerInfo {
    pub version: String,
    pub epoch: String,
    /// The repository that the configuration names, to begin with.
    pub repo_path: Option<String>,
    /// Why the configuration file is not in use as it is, as a sentence.
    pub config_notice: Option<String>,
    /// Why no agent is started at the moment.
    pub parked: Vec<Parking>,
    /// Present when this is the demonstration.
    pub demo: Option<DemoInfo>,
}

/// The demonstration: git, worktrees, reviews and merges are real; agents are scripted unless real ones were asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DemoInfo {
    /// The page that the agents change, served from the project branch.
    pub page_url: String,
    /// Whether agents are played from a scenario: no model is called and nothing is paid.
    pub scripted: bool,
}

/// What the server sends over the WebSocket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// First, and before what was missed.
    Hello {
        epoch: String,
        seq: Seq,
    },
    Event {
        event: Box<Envelope>,
    },
    /// The last line of a running agent: not numbered, at most one a second a run.
    Activity {
        run_id: RunId,
        line: String,
    },
    /// The answer of `GET /api/server` changed.
    Server {},
    /// The client is too far behind, or its log is from another life: read the board again.
    Resync {},
}

#[cfg(test)]
mod tests;
