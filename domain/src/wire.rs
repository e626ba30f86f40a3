//! Bodies of the HTTP API and frames of the WebSocket that are not nouns themselves.

mod agent;
mod board;
mod comment;
mod context;
mod plan;
mod problem;
mod review;
mod usage;

pub use agent::{
    Assign, CompanionToken, CreatedPersonToken, CreatedToken, LinkGoal, MessageView, NewHandshake, NewPersonToken, NewToken, Notes, ReadInbox,
    RejectVerification, RemoveAgent, RotatedToken, SetSpawnPolicy, SignInLink, TokenPatch,
};
pub use board::{BoardView, CardPage, FinishedCards, FinishedColumn, OpenCards};
pub use comment::CommentView;
pub use context::{ContextUse, FoundMessage, QuotedMessage, SessionThread};
pub use plan::{PlanView, PlannedTask};
pub use problem::Problem;
pub use review::{Approval, ReviewView};
pub use usage::{DayUsage, KindUsage, ProjectUsage, TaskUsage};

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::project::{PlanApproval, ReviewPolicy};
use crate::board::question::Question;
use crate::board::takeover::Takeover;
use crate::board::task::Task;
use crate::event::{Envelope, Seq};
use crate::id::RunId;
use crate::runs::branch_start::BranchStart;
use crate::runs::evidence::Sha;
use crate::runs::parking::Parking;
use crate::runs::permission::{PermissionAnswer, PermissionRequest};
use crate::runs::profile::Profile;
use crate::runs::sandbox::{Access, SandboxStatus, SandboxTier};
use crate::team::person::Person;
use crate::time::Timestamp;
use crate::warroom::claim::ClaimMode;
use crate::warroom::knowledge::KnowledgePlace;

/// The host name of the board in a browser. Cookies ignore ports, so the name keeps the board's cookie from pages on other ports of
/// `127.0.0.1` and `localhost`. Browsers resolve it to this machine.
pub const BOARD_HOST: &str = "vibe-relay.localhost";

/// The names under which the server is addressed. A page that rebinds its own name to this machine still sends that name.
pub const HOST_NAMES: [&str; 4] = ["127.0.0.1", "localhost", "[::1]", BOARD_HOST];

/// The last output line of each agent at work. A line is replaced as a whole, so that a reader finds the new ones by their addresses.
pub type ActivityLines = BTreeMap<RunId, Arc<str>>;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct List<T> {
    pub items: Vec<T>,
    /// The value of `after` (for messages, `before`) for the next page, or none after the last page.
    pub next: Option<i64>,
}

impl<T> List<T> {
    /// Makes a page of at most `size` from up to one item more than that, whose presence means that another page follows.
    pub fn page(mut items: Vec<T>, size: u32, id: impl FnOnce(&T) -> i64) -> Self {
        let size = size as usize;
        let has_more = items.len() > size;
        items.truncate(size);
        let next = items.last().filter(|_| has_more).map(id);
        Self { items, next }
    }
}

/// `POST /api/projects`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewProject {
    /// The default is that of the issue.
    #[serde(default)]
    #[schema(value_type = crate::text_schema::Title)]
    pub title: String,
    /// The goal, for the planner.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    /// The number of an issue on the host of the remote, or the address of any issue. Its text follows the description as the goal, and the
    /// pull request of the project closes it.
    #[serde(default)]
    pub issue: Option<String>,
    /// Any folder of the repository's checkout. The default is in the configuration.
    #[serde(default)]
    pub repo_path: Option<String>,
    /// The default is the checked-out branch.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// Whether `base_branch` may be a branch of a remote or a tag, from which the local base branch is made.
    #[serde(default)]
    pub make_base: bool,
    /// Where the project branch begins. The default is the tip of the base branch.
    #[serde(default)]
    pub start: BranchStart,
    /// Whether a planner starts at once. The default is yes if there is a description.
    #[serde(default)]
    pub plan: Option<bool>,
    #[serde(default)]
    pub plan_approval: Option<PlanApproval>,
    /// The reviewers of its work. The default is an agent.
    #[serde(default)]
    pub review: Option<ReviewPolicy>,
    /// The budget in millionths of a US dollar. The default is in the configuration.
    #[serde(default)]
    pub budget_micro_usd: Option<i64>,
    /// How checkouts are prepared. Only the owner may give it; the default is that of the newest project on the repository.
    #[serde(default)]
    pub profile: Option<Profile>,
}

/// `PATCH /api/projects/{id}`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectPatch {
    /// Replaces what the agents of the project may reach besides the usual. Only the owner may change it, and it applies to later runs.
    #[serde(default)]
    pub allowed_access: Option<Vec<Access>>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::Title>)]
    pub title: Option<String>,
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub description: Option<String>,
    #[serde(default)]
    pub plan_approval: Option<PlanApproval>,
    /// The reviewers of its work, from now on.
    #[serde(default)]
    pub review: Option<ReviewPolicy>,
    #[serde(default)]
    pub claim_mode: Option<ClaimMode>,
    /// Where the files of knowledge are. Only the owner chooses it.
    #[serde(default)]
    pub knowledge: Option<KnowledgePlace>,
    /// The budget in millionths of a US dollar; 0 for the configured one.
    #[serde(default)]
    pub budget_micro_usd: Option<i64>,
    /// How many coders work at the same time at most, up to 64; 0 for what the configuration allows.
    #[serde(default)]
    pub max_coders: Option<u32>,
    /// Another local branch, for example because the base branch was renamed or deleted.
    #[serde(default)]
    pub base_branch: Option<String>,
    /// Replaces how checkouts are prepared, from the next attempt on. Only the owner may change it.
    #[serde(default)]
    pub profile: Option<Profile>,
}

/// `POST /api/projects/{id}/relocate`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Relocation {
    /// Any folder of the checkout of the moved repository: absolute, or from `~`.
    pub repo_path: String,
}

/// `DELETE /api/projects/{id}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectDeletion {
    /// The title of the project, as proof that this one is meant.
    pub title: String,
}

/// A task with the data of its panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct TaskView {
    // Flattened, so that the JSON object has all fields at the top.
    #[serde(flatten)]
    pub task: Task,
    /// The description as sanitized HTML.
    pub description_html: Option<String>,
    /// The unanswered question.
    pub question: Option<Question>,
    /// The open permission requests of its agent, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permissions: Vec<PermissionRequest>,
    /// Where and how to continue by hand, while a person has taken the task over and its agent is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub takeover: Option<Takeover>,
    /// A further effect of the request, for example that the merge is queued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A text from the human: a comment, a message to a running agent, an answer, or feedback on a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TextBody {
    #[schema(value_type = crate::text_schema::Body)]
    pub content: String,
}

/// `POST /api/markdown`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkdownTexts {
    pub texts: Vec<String>,
}

/// The texts of `POST /api/markdown` as sanitized HTML, in the same order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RenderedTexts {
    pub html: Vec<String>,
}

/// `POST /api/runs/{id}/interrupt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct InterruptOptions {
    /// The agent's next instruction. Without a message it waits for one.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub message: Option<String>,
}

/// `POST /api/runs/{id}/permission`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PermissionDecision {
    pub request: i64,
    pub answer: PermissionAnswer,
    /// Why you deny it. The agent reads this.
    #[serde(default)]
    #[schema(value_type = Option<crate::text_schema::OptionalBody>)]
    pub reason: Option<String>,
}

/// `POST /api/tasks/{id}/cancel`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Cancel {
    /// failed, abandoned, obsolete or duplicate.
    #[schema(value_type = crate::board::status::CancelReason)]
    pub reason: String,
}

/// `POST /api/projects/{id}/land`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LandOptions {
    /// The confirmation of exactly the commits that an earlier refusal listed as `returning`.
    #[serde(default)]
    pub bring_back: Option<String>,
}

/// `POST /api/projects/{id}/landing/undo`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct UndoLanding {
    /// The landing to take back, which must be the last one; without it, the last one.
    #[serde(default)]
    pub landing: Option<i64>,
}

/// The result of `POST /api/projects/{id}/land`, and of taking a landing back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingResult {
    pub base_branch: String,
    pub sha: Sha,
    /// The number of commits added to the base branch, or removed from it.
    pub commits: u32,
    pub detail: String,
}

/// `GET /api/health`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HealthResponse {
    pub status: String,
    pub version: String,
    /// For a request with a person's token.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner: Option<RunnerHealth>,
}

/// The state of the runner.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct RunnerHealth {
    pub ticking_since: Timestamp,
    /// At most 30 seconds ago while the runner works.
    pub last_tick_at: Option<Timestamp>,
    /// Whether its last pass is recent.
    pub is_ticking: bool,
    /// The maximum number of agents at work.
    pub max_agents: u32,
    /// Runs whose agents are at work.
    pub live_runs: Vec<RunId>,
    /// Why no agents are started; empty while they are.
    pub parked: Vec<Parking>,
}

/// `GET /api/server`: the state of the server and its machine.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ServerInfo {
    pub version: String,
    pub epoch: String,
    /// The person who asks.
    pub person: Person,
    /// The default repository from the configuration.
    pub repo_path: Option<String>,
    /// The configured budget of a project in millionths of a US dollar.
    #[serde(default)]
    pub project_budget_micro_usd: Option<i64>,
    /// Why the configuration in use differs from its file, as a sentence.
    pub config_notice: Option<String>,
    /// The configured names under which other devices reach the board.
    #[serde(default)]
    pub allowed_hosts: Vec<String>,
    pub runner: RunnerHealth,
    /// Since when a person has paused all projects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Timestamp>,
    /// The sandbox of the next agents; missing until the runner knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxStatus>,
    /// The cost of all agents today in millionths of a US dollar. The day is the date in UTC, as for the limit of a day.
    #[serde(default)]
    pub cost_today_micro_usd: i64,
    /// The cost of an hour in millionths of a US dollar, if the agents at work go on as since their start.
    #[serde(default)]
    pub cost_per_hour_micro_usd: i64,
    /// Present in the demo.
    pub demo: Option<DemoInfo>,
}

/// The choice of the sandbox of agents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SandboxChoice {
    pub tier: SandboxTier,
}

/// The demo: git, worktrees, reviews and merges are real; agents are scripted unless real ones were requested.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DemoInfo {
    /// The page that the agents change, served from the project branch.
    pub page_url: String,
    /// Whether agents follow a script, without calls to a model and without cost.
    pub scripted: bool,
}

/// A frame that the server sends over the WebSocket.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Frame {
    /// The first frame, before the missed events.
    Hello {
        epoch: String,
        seq: Seq,
    },
    Event {
        event: Box<Envelope>,
    },
    /// The latest line of a running agent: not numbered, at most one per second and run.
    Activity {
        run_id: RunId,
        line: String,
    },
    /// The response of `GET /api/server` has changed.
    Server {},
    /// The client is too far behind or knows another log: it must read the board again.
    Resync {},
}

#[cfg(test)]
mod tests;
