//! The preview of a landing, like a pull request: what lands, how, what stays open, and what it means for the person's checkout.
//!
//! Must not read a repository or the store.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::card::{Card, Contributors};
use crate::board::status::Status;
use crate::id::TaskId;
use crate::runs::agent_kind::AgentKind;
use crate::runs::diff::{DiffSize, FileDiff};
use crate::runs::evidence::Sha;
use crate::runs::land::blocking::BlockingFiles;
use crate::runs::land::{Landing, ReturningCommits};
use crate::text::excerpt;
use crate::time::Timestamp;

/// Characters of the reason why a task stays open.
const REASON_CHARACTERS: usize = 200;

/// `GET /api/projects/{id}/landing`: what would land, or what a landing brought.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct LandingPreview {
    /// The project branch.
    pub from_branch: String,
    /// The base branch.
    pub to_branch: String,
    /// The work between these commits, as it is in the repository.
    #[serde(flatten)]
    pub change: LandingChange,
    /// The cost of the tasks that land, in millionths of a US dollar.
    pub cost_micro_usd: i64,
    /// The tasks that land, by id.
    pub tasks: Vec<LandingTask>,
    /// The number of open tasks, which go on and can land later.
    pub open_total: u32,
    /// The first of them, by id.
    pub open: Vec<OpenTask>,
    /// The landings so far, newest first.
    pub landings: Vec<Landing>,
    /// The earlier landing that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub landing: Option<Landing>,
}

impl LandingPreview {
    /// Whether there is work that no landing brought.
    pub fn has_work(&self) -> bool {
        self.change.commits_total > 0 || !self.tasks.is_empty()
    }

    /// Whether landing would be refused as it is now.
    pub fn is_blocked(&self) -> bool {
        let way = matches!(self.change.way, LandingWay::Conflict { .. } | LandingWay::Unapproved { .. });
        way || matches!(self.change.checkout, CheckoutEffect::Blocked { .. } | CheckoutEffect::Elsewhere { .. })
    }
}

/// The change of the base branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingChange {
    /// The tip of the base branch, before the landing.
    pub base: Sha,
    /// The tip of the project branch; for an earlier landing, that of the base branch afterwards.
    pub tip: Sha,
    pub way: LandingWay,
    pub checkout: CheckoutEffect,
    pub commits_total: u32,
    /// The newest commits, at most 200.
    pub commits: Vec<LandingCommit>,
    pub size: DiffSize,
    /// The changed files without their lines, at most 300.
    pub files: Vec<FileDiff>,
}

/// How the base branch gets the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum LandingWay {
    /// The base branch has not moved: it is set to the tip.
    FastForward {},
    /// The base branch has moved: a merge commit joins both.
    Merge {},
    /// Both branches changed these paths, and nothing lands.
    Conflict { paths: Vec<String> },
    /// Landing would bring back commits that were removed from the base branch, unless `bring_back` confirms them.
    Returns { returning: ReturningCommits },
    /// The project branch has commits that nobody approved, and nothing lands.
    Unapproved { commits: Vec<LandingCommit> },
    /// The base branch already has it.
    Landed {},
}

/// The effect of the landing on the person's checkout of the base branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum CheckoutEffect {
    /// No checkout has the base branch, so no file is written.
    Untouched {},
    /// The checkout has no changes in files that landing changes, and gets the new files. All other files stay as they are.
    Updated {},
    /// The checkout has changes in files that landing would overwrite, and nothing lands before they are elsewhere.
    Blocked { files: BlockingFiles },
    /// The base branch is checked out in another folder, and nothing lands before that folder has another branch.
    Elsewhere { path: String },
}

/// One commit that lands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingCommit {
    pub sha: Sha,
    /// The first line of the message.
    pub subject: String,
    pub author: String,
    pub at: Timestamp,
}

/// A task whose work lands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LandingTask {
    pub id: TaskId,
    pub title: String,
    pub phase: AgentKind,
    #[serde(flatten)]
    pub contributors: Contributors,
    /// The number of its commits; missing if the project branch does not show it.
    pub commits: Option<u32>,
    pub cost_micro_usd: i64,
}

impl LandingTask {
    pub fn of(card: &Card, commits: Option<u32>) -> Self {
        Self {
            id: card.id.clone(),
            title: card.title.clone(),
            phase: card.phase,
            contributors: card.contributors.clone(),
            commits,
            cost_micro_usd: card.cost_micro_usd,
        }
    }
}

/// A task that does not land.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OpenTask {
    pub id: TaskId,
    pub title: String,
    pub status: Status,
    /// Why it is not finished, as a clause.
    pub why: String,
}

impl OpenTask {
    pub fn of(card: &Card) -> Self {
        let why = match (&card.attention, &card.run, &card.wait_reason) {
            (Some(attention), _, _) => excerpt(&attention.detail, REASON_CHARACTERS),
            (None, Some(run), _) => format!("{} is working", run.phase.with_article()),
            (None, None, Some(reason)) => reason.sentence(),
            (None, None, None) if card.status == Status::InReview => "waits for its review".to_owned(),
            (None, None, None) => "starts next".to_owned(),
        };
        Self { id: card.id.clone(), title: card.title.clone(), status: card.status, why }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::attention::{Attention, AttentionKind};
    use crate::board::card::CurrentRun;
    use crate::board::project::tests::card;
    use crate::board::wait_reason::WaitReason;
    use crate::id::RunId;

    #[test]
    fn open_task_says_why_it_does_not_land() {
        let task = |status| card(1, AgentKind::Coder, status);
        let run = CurrentRun {
            id: RunId::new(1),
            phase: AgentKind::Reviewer,
            attempt: 1,
            started_at: Timestamp::from_milliseconds(0),
            stopping: false,
            port: None,
            low_context: None,
        };
        let failed =
            Card { attention: Some(Attention::new(AttentionKind::Failed, "3 attempts failed")), run: Some(run.clone()), ..task(Status::InProgress) };
        let at_work = Card { run: Some(run), wait_reason: Some(WaitReason::Stopping), ..task(Status::InReview) };
        let blocked = Card { wait_reason: Some(WaitReason::BlockedBy { tasks: vec![TaskId::new(2)] }), ..task(Status::Backlog) };
        let whys = [failed, at_work, blocked, task(Status::InReview), task(Status::Backlog)].map(|card| OpenTask::of(&card).why);
        assert_eq!(whys, ["3 attempts failed", "a reviewer is working", "blocked by TASK-002", "waits for its review", "starts next"]);
    }
}
