//! Projects: a goal and a plan, or an empty board, on one repository.

pub mod refusal;
pub mod summary;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::Card;
use crate::board::status::{HeldBy, Status};
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::Refusal;
use crate::runs::agent_kind::AgentKind;
use crate::runs::base::FetchProblem;
use crate::runs::evidence::Sha;
use crate::runs::land::Landing;
use crate::runs::preview::Preview;
use crate::runs::profile::Profile;
use crate::runs::publication::Publication;
use crate::runs::sandbox::Access;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;
use crate::warroom::claim::ClaimMode;
use crate::warroom::knowledge::KnowledgePlace;

vocabulary! {
    /// Whether work remains.
    ProjectStatus, "project status" {
        Active = "active",
        Complete = "complete",
    }
}

vocabulary! {
    /// Whether a plan starts without approval.
    PlanApproval, "plan approval" {
        /// The tasks of the plan start when the planning task is done.
        Auto = "auto",
        /// They are held until the human presses Start.
        Ask = "ask",
    }
}

vocabulary! {
    /// The reviewers that approve work before it is merged.
    ReviewPolicy, "review" {
        /// An agent or a person.
        Agent = "agent",
        /// A person. No reviewer starts.
        Human = "human",
        /// First an agent, then a person.
        Both = "both",
    }
}

#[expect(clippy::derivable_impls, reason = "a vocabulary derives no default")]
impl Default for ReviewPolicy {
    fn default() -> Self {
        Self::Agent
    }
}

impl ReviewPolicy {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Whether nothing is merged without the approval of a person.
    pub fn needs_person(self) -> bool {
        self != Self::Agent
    }
}

/// A project and its branches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Project {
    pub id: ProjectId,
    pub title: String,
    /// The goal, if the project has one.
    pub description: Option<String>,
    pub status: ProjectStatus,
    pub repo_path: String,
    /// The common `.git` folder. It is recorded when the project is created, so that agents cannot redirect it.
    pub git_dir: String,
    pub base_branch: String,
    /// The newest tip of the base branch that held all earlier ones. Someone removed those of its commits that the base branch now lacks.
    pub base_head: Sha,
    /// The project branch, into which approved work is merged.
    pub integration_branch: String,
    /// The tip of the project branch, after the runner created it.
    pub integration_head: Option<Sha>,
    /// The tip that was last landed on the base branch.
    pub landed_sha: Option<Sha>,
    /// The last landing. Work may have been merged since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landed: Option<Landing>,
    /// The last push of the project branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<Publication>,
    /// Why the upstream of its base branch cannot be fetched, if that failed the last time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fetch_problem: Option<FetchProblem>,
    /// The app on its branch, if it runs or failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<Preview>,
    /// When the runner last merged approved work into the project branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged_at: Option<Timestamp>,
    pub plan_approval: PlanApproval,
    /// The reviewers of its work.
    #[serde(default, skip_serializing_if = "ReviewPolicy::is_default")]
    pub review: ReviewPolicy,
    /// Whether edits of files that another agent claimed are refused.
    pub claim_mode: ClaimMode,
    pub knowledge: KnowledgePlace,
    /// Its own budget in millionths of a US dollar; otherwise the configured one applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_micro_usd: Option<i64>,
    /// How many of its coders work at the same time at most; otherwise the configuration alone limits them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_coders: Option<u32>,
    /// How its checkouts are prepared.
    #[serde(default, skip_serializing_if = "Profile::is_default")]
    pub profile: Profile,
    /// Counts how often the profile was set. Results of checks hold for one version.
    #[serde(default)]
    pub profile_version: u32,
    /// The accesses of its agents besides the usual, which the owner allowed.
    pub allowed_access: Vec<Access>,
    /// Since when a person lets no new agent start in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_at: Option<Timestamp>,
    /// Since when it is archived: it is in no list of current projects, and no agent starts in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archived_at: Option<Timestamp>,
    /// When its owner deleted it. It is archived too, until the checkouts of its tasks are removed; then all about it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<Timestamp>,
    /// The address of the issue that it was made from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub issue: Option<String>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

impl Project {
    /// The tip that was last landed by a pull request. Its host may have squashed it.
    pub fn landed_by_pull_request(&self) -> Option<&Sha> {
        self.landed.as_ref().filter(|landing| landing.pull_request.is_some()).map(|landing| &landing.tip)
    }

    /// Whether the project branch has merged work that the base branch lacks. `has_merged_work` says whether any task was merged.
    pub fn has_unlanded_work(&self, has_merged_work: bool) -> bool {
        has_merged_work && self.integration_head != self.landed_sha
    }
}

/// Returns the number of the orchestration round that is due for the planning task `root`, or none.
///
/// A round is due when the planning task and a child are done, and no child and no earlier round is open. `rounds` are the earlier
/// orchestrator tasks. None is due after `max_rounds` rounds, or if the last one added no task.
pub fn round_due(root: &Card, children: &[&Card], rounds: &[&Card], max_rounds: u32) -> Option<u32> {
    let ready = root.phase == AgentKind::Planner
        && root.status == Status::Done
        && children.iter().any(|child| child.status == Status::Done)
        && children.iter().all(|child| !child.status.is_open())
        && rounds.iter().all(|round| !round.status.is_open());
    if !ready {
        return None;
    }
    let last = rounds.iter().max_by_key(|round| round.round);
    // Compare ids, because they increase, while times can be equal.
    let added_since = last.is_none_or(|last| children.iter().any(|child| child.id.number() > last.id.number()));
    let next = last.and_then(|last| last.round).unwrap_or(0) + 1;
    (added_since && next <= max_rounds).then_some(next)
}

/// Whether no work remains, apart from questions to oracles: some card is done, none needs attention, no plan awaits approval, no round is due, and the only open cards
/// are those that the human holds.
pub fn is_complete(cards: &[&Card], round_is_due: bool) -> bool {
    // A question is not work.
    let mut cards = cards.iter().filter(|card| card.phase != AgentKind::Oracle);
    !round_is_due
        && cards.clone().any(|card| card.status == Status::Done)
        && cards.all(|card| card.attention.is_none() && (!card.status.is_open() || matches!(card.held_by, Some(HeldBy::Human | HeldBy::Stop))))
}

/// Returns the name of the project branch.
pub fn project_branch(project: &ProjectId) -> String {
    format!("vibe-relay/{project}")
}

/// Returns the project whose branch this is: its name may have a number at the end, if another branch had the name before.
pub fn project_of_branch(branch: &str) -> Option<ProjectId> {
    let name = branch.strip_prefix("vibe-relay/")?;
    let id = match name.split('-').collect::<Vec<_>>()[..] {
        [prefix, number] => format!("{prefix}-{number}"),
        [prefix, number, again] if again.parse::<u32>().is_ok() => format!("{prefix}-{number}"),
        _ => return None,
    };
    id.parse().ok()
}

/// Whether `branch` is one of this program, which agents write and the runner moves.
pub fn is_managed_branch(branch: &str) -> bool {
    branch.starts_with("vibe-relay/") || branch.starts_with("vr/")
}

/// Checks that `branch` is not one of this program.
///
/// # Errors
/// When it is one.
pub fn refuse_managed_branch(field: &'static str, branch: &str) -> Result<(), Refusal> {
    if !is_managed_branch(branch) {
        return Ok(());
    }
    Err(Refusal::invalid(field, format!("{branch} is a branch of vibe-relay"), "Name a branch of your own."))
}

events! {
    /// A change of a project.
    ProjectEvent {
        Created "project_created" {}
        Edited "project_edited" {}
        /// The only open cards are those that the human holds.
        Completed "project_completed" {}
        Reopened "project_reopened" {}
        /// A person keeps new agents from starting.
        Paused "project_paused" {}
        Resumed "project_resumed" {}
        /// It leaves the lists of current projects, and no agent starts in it.
        Archived "project_archived" {}
        Restored "project_restored" {}
        /// The owner deleted it. The runner first keeps the unmerged work of its tasks.
        Deleted "project_deleted" {}
        /// Its rows were removed. The repository and its branches are as they were.
        Removed "project_removed" { project: ProjectId, by: String }
        /// An event of a project that was removed. Only its number and its time are kept.
        Erased "event_erased" {}
        /// The project branch points to another commit: one that the runner created or the human accepted.
        BranchMoved "project_branch_moved" { sha: Sha }
        /// The base branch gained commits.
        BaseMoved "project_base_moved" { sha: Sha }
        /// New commits of the base branch or its upstream were merged into the project branch.
        BaseMerged "project_base_merged" { base_branch: String, sha: Sha }
        /// The upstream of the base branch cannot be fetched, so its last known commit counts.
        BaseNotFetched "project_base_not_fetched" { base_branch: String, detail: String }
        /// The upstream of the base branch can be fetched again.
        BaseFetched "project_base_fetched" { base_branch: String }
        /// Another branch replaced the base branch.
        BaseReplaced "project_base_replaced" { branch: String, sha: Sha }
        /// The repository is in another folder.
        Relocated "project_relocated" { repo_path: String }
        /// The project branch was merged into the base branch.
        Landed "project_landed" { sha: Sha, base_branch: String, tasks: u32 }
        /// The last landing was undone: the base branch is where it was before.
        LandingUndone "project_landing_undone" { base_branch: String, sha: Sha, before: Sha, tasks: u32 }
        /// Failed checks or review comments of the pull request became a new task, or reopened the task that they concern.
        PullRequestSentBack "pull_request_sent_back" { pull_request: String, task: TaskId }
        /// A person has to look at the pull request.
        PullRequestNeedsYou "pull_request_needs_you" { pull_request: String, detail: String }
        /// The pull request was merged on its host, which lands its work there.
        PullRequestMerged "pull_request_merged" { pull_request: String, base_branch: String, sha: Sha, tasks: u32 }
        /// Someone closed the pull request without merging it.
        PullRequestClosed "pull_request_closed" { pull_request: String }
        /// A person looked at the pull request.
        PullRequestSettled "pull_request_settled" { pull_request: String }
        /// The project branch was pushed, and perhaps a pull request opened.
        Published "project_published" { remote: String, branch: String, sha: Sha, pull_request: Option<String> }
    }
}

#[cfg(test)]
pub(crate) mod tests;
