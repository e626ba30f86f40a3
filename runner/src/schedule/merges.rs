//! The merge queue: one merge at a time in a repository. Tasks of a project with checks that wait together are merged together.
//!
//! It must not know how work is merged, nor which task at fault is found.

use std::collections::{BTreeMap, BTreeSet};

use domain::board::card::Card;
use domain::id::ProjectId;
use domain::runs::check::MAX_MERGE_BATCH;
use domain::runs::profile::PullRequests;

use super::{Action, Scheduler};

/// The merges of one schedule.
pub(super) struct MergeQueue<'a> {
    /// The repositories with a merge.
    merging: BTreeSet<&'a str>,
    /// For each project with checks, its merge among the actions.
    batches: BTreeMap<&'a ProjectId, usize>,
}

impl<'a> Scheduler<'a> {
    /// The queue with the merges in progress.
    pub(super) fn merge_queue(&self) -> MergeQueue<'a> {
        let cards = self.state.tasks.iter().map(|known| &known.task.card);
        let merging = cards.filter(|card| card.is_approved() && self.busy.contains(&card.id)).map(|card| self.repository(card)).collect();
        MergeQueue { merging, batches: BTreeMap::new() }
    }

    /// Merges an approved task now if its repository is free, or together with the one of its project that is merged now.
    pub(super) fn queue_merge(&mut self, card: &'a Card, queue: &mut MergeQueue<'a>, checking: &mut BTreeSet<&'a ProjectId>) {
        let has_checks = self.has_checks(card);
        // Each is checked and published alone.
        let is_alone = self.state.projects.get(&card.project_id).is_some_and(|project| project.profile.pull_requests == PullRequests::Task);
        if let Some(index) = queue.batches.get(&card.project_id) {
            if let Some(Action::Merge { others, .. }) = self.schedule.actions.get_mut(*index)
                && others.len() + 1 < MAX_MERGE_BATCH
            {
                others.push(card.id.clone());
            }
            return;
        }
        if (has_checks && checking.contains(&card.project_id)) || !queue.merging.insert(self.repository(card)) {
            return;
        }
        if has_checks {
            checking.insert(&card.project_id);
        }
        if has_checks && !is_alone {
            queue.batches.insert(&card.project_id, self.schedule.actions.len());
        }
        self.schedule.actions.push(Action::Merge { task: card.id.clone(), others: Vec::new() });
    }

    fn repository(&self, card: &Card) -> &'a str {
        self.state.projects.get(&card.project_id).map_or("", |project| project.git_dir.as_str())
    }
}
