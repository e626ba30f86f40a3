//! Moves tasks behind all others whose planned files some task at work changes, too.
//!
//! It must not leave a slot empty: where nothing else can start, such a task starts, and claims keep its agent from the files of the other.

use std::collections::BTreeMap;

use domain::board::planned_files::PlannedFiles;
use domain::board::status::Status;
use domain::board::wait_reason::WaitReason;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::warroom::claim::ClaimMode;

use super::{Candidate, Scheduler};

/// A task at work, or one that starts before the current candidate.
struct AtWork<'a> {
    project: &'a ProjectId,
    task: &'a TaskId,
    files: &'a PlannedFiles,
}

impl<'a> Scheduler<'a> {
    /// Returns the candidates in the order in which they start, those that wait for a task with the same files last. At most `free` others
    /// start before them, so at most that many are compared with those at work.
    pub(super) fn overlapping_last(&self, candidates: Vec<Candidate<'a>>, free: usize) -> Vec<(Candidate<'a>, Option<WaitReason>)> {
        let tasks = self.state.tasks.iter().map(|known| &known.task).filter(|task| !task.files.is_empty());
        let planned: BTreeMap<&TaskId, &PlannedFiles> = tasks.map(|task| (&task.card.id, &task.files)).collect();
        let is_at_work = |task: &'a TaskId| Some(AtWork { project: &self.cards.get(task)?.project_id, task, files: planned.get(task)? });
        let mut at_work: Vec<AtWork<'a>> = self.working_tasks().into_iter().filter_map(is_at_work).collect();
        let mut first = Vec::with_capacity(candidates.len());
        let mut last = Vec::new();
        for candidate in candidates {
            let card = candidate.card;
            let is_compared = candidate.phase == AgentKind::Coder && first.len() < free;
            let Some(planned) = planned.get(&card.id).copied().filter(|_| is_compared) else {
                first.push((candidate, None));
                continue;
            };
            let shared = at_work.iter().filter(|other| other.project == &card.project_id && other.task != &card.id).find_map(|other| {
                Some(WaitReason::SameFiles { task: other.task.clone(), path: planned.shared_with(other.files.paths())?.to_string() })
            });
            // Work that has begun goes on: its files are changed already.
            if shared.is_some() && card.status == Status::Backlog && self.enforces_claims(&card.project_id) {
                last.push((candidate, shared));
            } else {
                at_work.push(AtWork { project: &card.project_id, task: &card.id, files: planned });
                first.push((candidate, None));
            }
        }
        first.extend(last);
        first
    }

    /// Where claims only warn, a person accepts that changes conflict.
    fn enforces_claims(&self, project: &ProjectId) -> bool {
        self.state.projects.get(project).is_none_or(|project| project.claim_mode == ClaimMode::Enforced)
    }
}
