//! Reports: what happened on all projects since a time, and what the human should do next.
//!
//! Must not read a clock, the store or a repository: a report is composed from what they return.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::board::attention::{AttentionAction, AttentionKind};
use crate::board::card::Card;
use crate::board::project::{Project, ProjectEvent};
use crate::board::status::{HeldBy, Status};
use crate::board::task::event::TaskEvent;
use crate::board::wait_reason::{Wait, WaitReason};
use crate::event::{Envelope, Event};
use crate::id::{ProjectId, TaskId};
use crate::runs::diff::DiffSize;
use crate::runs::parking::Parking;
use crate::runs::usage::UsageSums;
use crate::text::excerpt;
use crate::time::Timestamp;

/// Characters of a reason that a report shows. The whole text is in the task's thread.
const REASON_CHARACTERS: usize = 300;

/// The events of one period and the decisions that are pending at its end.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Report {
    /// The start of the period: the requested time, or that of the oldest event that is kept.
    pub since: Timestamp,
    pub until: Timestamp,
    /// The projects with something to report, by id.
    pub projects: Vec<ProjectReport>,
    /// Why no agents start at the moment.
    pub parked: Vec<Parking>,
    /// The sums over the projects.
    pub usage: UsageSums,
}

/// The part of a report that is about one project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProjectReport {
    pub project_id: ProjectId,
    pub title: String,
    /// Whether no work remains, since a time within the period.
    pub completed: bool,
    pub ready_to_land: Option<ReadyToLand>,
    /// The number of tasks in a plan that awaits approval.
    pub planned_tasks: u32,
    pub needs_you: Vec<NeedsYou>,
    /// The tasks that were finished within the period and still are.
    pub finished: Vec<TaskTitle>,
    pub sent_back: Vec<SentBack>,
    pub waits: Vec<Wait>,
    /// The consumption of the runs that ended within the period or are live, since their start.
    pub usage: UsageSums,
}

impl ProjectReport {
    fn of(project: &Project) -> Self {
        Self {
            project_id: project.id.clone(),
            title: project.title.clone(),
            completed: false,
            ready_to_land: None,
            planned_tasks: 0,
            needs_you: Vec::new(),
            finished: Vec::new(),
            sent_back: Vec::new(),
            waits: Vec::new(),
            usage: UsageSums::default(),
        }
    }

    fn is_empty(&self) -> bool {
        let is_listed = self.completed || self.ready_to_land.is_some() || self.planned_tasks > 0;
        let has_tasks = !(self.needs_you.is_empty() && self.finished.is_empty() && self.sent_back.is_empty() && self.waits.is_empty());
        !is_listed && !has_tasks && self.usage == UsageSums::default()
    }
}

/// Merged work that the base branch lacks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReadyToLand {
    pub base_branch: String,
    /// The size of the change, or none if the repository cannot be read.
    pub diff: Option<DiffSize>,
}

/// A task by its title.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TaskTitle {
    pub task_id: TaskId,
    pub title: String,
}

/// A decision that only the human can make, with the action that settles it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct NeedsYou {
    #[serde(flatten)]
    pub task: TaskTitle,
    pub kind: AttentionKind,
    pub reason: String,
    pub action: AttentionAction,
}

impl NeedsYou {
    /// Returns the decision that a card waits for, if it waits for one.
    pub fn of(card: &Card) -> Option<Self> {
        card.attention.as_ref().map(|attention| Self {
            task: TaskTitle { task_id: card.id.clone(), title: card.title.clone() },
            kind: attention.kind,
            reason: excerpt(&attention.detail, REASON_CHARACTERS),
            action: attention.action(card.status),
        })
    }
}

/// A task that was sent back within the period.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SentBack {
    #[serde(flatten)]
    pub task: TaskTitle,
    /// How often within the period.
    pub times: u32,
    /// The participant that sent it back last, with time and reason.
    pub by: Actor,
    pub at: Timestamp,
    pub reason: Option<String>,
}

/// The facts that a report is composed from.
#[derive(Debug, Clone, Default)]
pub struct ReportFacts {
    pub projects: Vec<Project>,
    /// The projects that have merged work.
    pub merged: BTreeSet<ProjectId>,
    /// The cards that need attention, by id.
    pub needing_attention: Vec<Card>,
    /// The open tasks that wait, by id.
    pub waiting: Vec<WaitingTask>,
    /// The events of the period, oldest first. Only moves of tasks count.
    pub events: Vec<Envelope>,
    /// The titles and the current statuses of the tasks in `events`.
    pub tasks: BTreeMap<TaskId, (String, Status)>,
    pub parked: Vec<Parking>,
    pub usage: BTreeMap<ProjectId, UsageSums>,
}

/// An open task without an agent.
#[derive(Debug, Clone)]
pub struct WaitingTask {
    pub id: TaskId,
    pub project_id: ProjectId,
    pub reason: WaitReason,
}

impl Report {
    /// Whether nothing happened and nothing waits.
    pub fn is_empty(&self) -> bool {
        self.projects.is_empty() && self.parked.is_empty()
    }

    /// Composes the report of a period. The sizes of changes are unknown.
    pub fn compose(since: Timestamp, until: Timestamp, facts: &ReportFacts) -> Self {
        let mut projects: BTreeMap<u64, ProjectReport> =
            facts.projects.iter().map(|project| (project.id.number(), ProjectReport::of(project))).collect();
        for project in &facts.projects {
            let Some(report) = projects.get_mut(&project.id.number()) else { continue };
            if project.has_unlanded_work(facts.merged.contains(&project.id)) {
                report.ready_to_land = Some(ReadyToLand { base_branch: project.base_branch.clone(), diff: None });
            }
            report.usage = facts.usage.get(&project.id).copied().unwrap_or_default();
        }
        for card in &facts.needing_attention {
            if let (Some(report), Some(needs_you)) = (projects.get_mut(&card.project_id.number()), NeedsYou::of(card)) {
                report.needs_you.push(needs_you);
            }
        }
        for task in &facts.waiting {
            if let Some(report) = projects.get_mut(&task.project_id.number()) {
                add_wait(report, task);
            }
        }
        for envelope in &facts.events {
            if let Some(report) = envelope.project_id.as_ref().and_then(|id| projects.get_mut(&id.number())) {
                add_event(report, envelope, facts);
            }
        }
        let projects: Vec<ProjectReport> = projects.into_values().filter(|project| !project.is_empty()).collect();
        let usage = projects.iter().fold(UsageSums::default(), |sum, project| sum.plus(project.usage));
        Self { since, until, projects, parked: facts.parked.clone(), usage }
    }
}

fn add_wait(report: &mut ProjectReport, task: &WaitingTask) {
    match &task.reason {
        // Listed with its action.
        WaitReason::NeedsAttention => {}
        WaitReason::Held { by: HeldBy::Plan } => report.planned_tasks += 1,
        reason => Wait::add(&mut report.waits, reason, &task.id),
    }
}

fn add_event(report: &mut ProjectReport, envelope: &Envelope, facts: &ReportFacts) {
    match &envelope.event {
        Event::Project(ProjectEvent::Completed {}) => report.completed = true,
        Event::Project(ProjectEvent::Reopened {}) => report.completed = false,
        Event::Task(TaskEvent::Moved { from, to, reason }) => {
            let Some((task_id, (title, status))) = envelope.task_id.as_ref().and_then(|id| facts.tasks.get_key_value(id)) else { return };
            let task = TaskTitle { task_id: task_id.clone(), title: title.clone() };
            if *to == Status::Done && *status == Status::Done && !report.finished.contains(&task) {
                report.finished.push(task);
            } else if *to == Status::InProgress && matches!(from, Status::InReview | Status::Done) {
                // The last one replaces the earlier ones.
                let earlier = report.sent_back.iter().position(|sent_back| sent_back.task == task).map(|index| report.sent_back.remove(index));
                report.sent_back.push(SentBack {
                    task,
                    times: earlier.map_or(0, |earlier| earlier.times) + 1,
                    by: envelope.actor.clone(),
                    at: envelope.at,
                    reason: reason.as_ref().map(|reason| excerpt(reason, REASON_CHARACTERS)),
                });
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
