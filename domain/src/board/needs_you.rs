//! Everything that needs the human: one list over all projects, with what each decision needs to be made where it is read.
//!
//! Must not know how the decisions are stored.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::board::attention::{Attention, AttentionAction, AttentionKind};
use crate::board::question::Question;
use crate::board::status::Status;
use crate::id::{ProjectId, TaskId};
use crate::runs::evidence::Sha;
use crate::runs::limit::{LimitScope, LimitUse};
use crate::runs::permission::{PermissionAnswer, PermissionRequest};
use crate::time::Timestamp;

/// `GET /api/needs-you`: first what an agent waits for, then what can wait; the oldest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NeedsYouList {
    pub items: Vec<NeedsYouItem>,
    /// How many of the items an agent waits for.
    pub agents_wait: u32,
}

impl NeedsYouList {
    /// Sorts the items of a list.
    pub fn of(mut items: Vec<NeedsYouItem>) -> Self {
        items.sort_by_key(|item| (!item.agent_waits, item.since));
        let agents_wait = u32::try_from(items.iter().filter(|item| item.agent_waits).count()).unwrap_or(u32::MAX);
        Self { items, agents_wait }
    }

    /// Counts the items about a project.
    pub fn count(&self, project: &ProjectId) -> u32 {
        let of_project = self.items.iter().filter(|item| item.project_id.as_ref() == Some(project));
        u32::try_from(of_project.count()).unwrap_or(u32::MAX)
    }
}

/// Something that only the human can settle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct NeedsYouItem {
    /// Missing for the budget of a day, which is about all projects.
    pub project_id: Option<ProjectId>,
    pub project_title: Option<String>,
    pub task_id: Option<TaskId>,
    pub task_title: Option<String>,
    pub since: Timestamp,
    /// Whether an agent or its task cannot go on without it. Otherwise it can wait.
    pub agent_waits: bool,
    pub decision: Decision,
}

/// A decision with its choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// An agent asked: `POST /api/tasks/{id}/answer`.
    Question { question: Question },
    /// An agent asks for the use of a tool: `POST /api/runs/{id}/permission`.
    Permission { request: PermissionRequest, choices: Vec<PermissionAnswer> },
    /// An approved commit needs the approval of a person too: `PATCH /api/tasks/{id}` to done.
    Review { sha: Option<Sha>, detail: String },
    /// A task does not go on, for another reason of attention: `action` settles it.
    /// Where the human has more than one choice, `choices` has all of them.
    Attention {
        attention: AttentionKind,
        detail: String,
        action: AttentionAction,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<AttentionAction>,
        /// The agent that was removed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A limit is reached: `POST /api/tasks/{id}/raise` or `POST /api/projects/{id}/raise`.
    Budget { scope: LimitScope, limit: Option<LimitUse>, detail: String },
    /// A plan awaits approval: `POST /api/projects/{id}/plan/approve`.
    Plan { tasks: u32 },
    /// The project is complete: `POST /api/projects/{id}/land`.
    Land { base_branch: String, tasks: u32 },
    /// The pull request of a project was closed, or its findings came back too often: `POST /api/projects/{id}/publication/settle`.
    PullRequest { address: String, detail: String },
    /// The upstream of the base branch cannot be fetched. The decision ends when it can be again.
    BaseNotFetched { base_branch: String, detail: String },
    /// A message to the person who asks that they have not read: `POST /api/messages/{id}/read`.
    Message { message: i64, from: String, excerpt: String },
}

impl Decision {
    /// The decision that the attention of a task asks for, and whether an agent waits for it.
    pub fn of_attention(attention: &Attention, status: Status, approved: Option<&Sha>) -> (Self, bool) {
        let detail = attention.detail.clone();
        if let Some(scope) = attention.limit {
            return (Self::Budget { scope, limit: None, detail }, false);
        }
        if attention.kind.is_review() {
            return (Self::Review { sha: approved.cloned(), detail }, true);
        }
        let decision = Self::Attention {
            attention: attention.kind,
            detail,
            action: attention.action(status),
            choices: attention.choices(status).to_vec(),
            agent: attention.agent.clone(),
        };
        (decision, status.is_open())
    }

    /// The decision about a permission request.
    pub fn of_permission(request: PermissionRequest) -> Self {
        let choices = PermissionAnswer::ALL.iter().copied();
        // A request that is too long to be allowed for the task has no rule.
        let choices = choices.filter(|answer| *answer != PermissionAnswer::Always || request.rule.is_some()).collect();
        Self::Permission { request, choices }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(project: u64, since: i64, agent_waits: bool) -> NeedsYouItem {
        NeedsYouItem {
            project_id: Some(ProjectId::new(project)),
            project_title: None,
            task_id: None,
            task_title: None,
            since: Timestamp::from_milliseconds(since),
            agent_waits,
            decision: Decision::Plan { tasks: 3 },
        }
    }

    #[test]
    fn what_agents_wait_for_comes_first_and_the_oldest_before_the_newer() {
        let list = NeedsYouList::of(vec![item(1, 1, false), item(2, 9, true), item(1, 7, true), item(1, 0, false)]);
        let order: Vec<(i64, bool)> = list.items.iter().map(|item| (item.since.milliseconds(), item.agent_waits)).collect();
        assert_eq!(order, [(7, true), (9, true), (0, false), (1, false)]);
        assert_eq!((list.agents_wait, list.count(&ProjectId::new(1)), list.count(&ProjectId::new(3))), (2, 3, 0));
    }

    #[test]
    fn every_attention_has_a_decision() {
        let of = |kind, status| Decision::of_attention(&Attention::new(kind, "why"), status, Some(&"a1".to_owned()));
        for kind in AttentionKind::ALL.iter().copied() {
            let (decision, waits) = of(kind, Status::InProgress);
            assert!(waits, "{kind}: an open task does not go on");
            let is_review = matches!(decision, Decision::Review { .. });
            assert_eq!(is_review, kind.is_review());
            assert_eq!(of(kind, Status::Done).1, is_review, "{kind}: nothing waits for a finished task");
        }
        let limited = Attention { limit: Some(LimitScope::Task), ..Attention::new(AttentionKind::Budget, "why") };
        let (decision, waits) = Decision::of_attention(&limited, Status::InProgress, None);
        assert_eq!((decision, waits), (Decision::Budget { scope: LimitScope::Task, limit: None, detail: "why".to_owned() }, false));
    }
}
