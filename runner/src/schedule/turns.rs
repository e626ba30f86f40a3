//! The order in which candidates get free slots: started work before new work, and projects take turns.
//!
//! It must not know how many slots are free.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use domain::board::order::start_order;
use domain::board::task::Task;
use domain::id::{ProjectId, TaskId};
use domain::time::Timestamp;

use super::{Candidate, Scheduler};

/// The claim of a project on the next free slot; the smallest one is served.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Claim<'a> {
    /// Its agents that work or come earlier in the order.
    agents: usize,
    last_start: Option<Timestamp>,
    project: &'a ProjectId,
}

impl<'a> Scheduler<'a> {
    /// Orders candidates by rank. Within a rank the project with the fewest agents is next, then the one that has waited longest for a start;
    /// within a project, the tasks of a zone that an order puts first are in front, then all are in the order of their column. Costs O(n log n).
    pub(super) fn take_turns(&self, mut candidates: Vec<Candidate<'a>>) -> Vec<Candidate<'a>> {
        let hot = self.hot_tasks();
        candidates.sort_by_key(|candidate| (candidate.rank, !hot.contains(&candidate.card.id), start_order(candidate.card)));
        let mut agents = self.agents_by_project();
        let mut ordered = Vec::with_capacity(candidates.len());
        let mut candidates = candidates.into_iter().peekable();
        while let Some(rank) = candidates.peek().map(|candidate| candidate.rank) {
            let mut queues: BTreeMap<&ProjectId, VecDeque<Candidate<'a>>> = BTreeMap::new();
            while let Some(candidate) = candidates.next_if(|candidate| candidate.rank == rank) {
                queues.entry(&candidate.card.project_id).or_default().push_back(candidate);
            }
            let claim =
                |project: &'a ProjectId, agents: usize| Reverse(Claim { agents, last_start: self.state.last_starts.get(project).copied(), project });
            let mut claims: BinaryHeap<_> = queues.keys().map(|project| claim(project, agents.get(project).copied().unwrap_or_default())).collect();
            while let Some(Reverse(next)) = claims.pop() {
                let Some(candidate) = queues.get_mut(next.project).and_then(VecDeque::pop_front) else { continue };
                ordered.push(candidate);
                agents.insert(next.project, next.agents + 1);
                claims.push(claim(next.project, next.agents + 1));
            }
        }
        ordered
    }

    /// The tasks that plan to change a file of a zone that comes first.
    fn hot_tasks(&self) -> BTreeSet<&'a TaskId> {
        let is_hot = |task: &&Task| self.state.hot_zones.get(&task.card.project_id).is_some_and(|zone| task.files.shared_with(zone).is_some());
        self.state.tasks.iter().map(|known| &known.task).filter(is_hot).map(|task| &task.card.id).collect()
    }

    fn agents_by_project(&self) -> BTreeMap<&'a ProjectId, usize> {
        let mut agents = BTreeMap::new();
        for task in self.working_tasks() {
            if let Some(card) = self.cards.get(task) {
                *agents.entry(&card.project_id).or_default() += 1;
            }
        }
        agents
    }
}
