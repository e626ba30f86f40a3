//! Which tasks wait for checks. Each project has one check at a time, because checks use the whole machine.
//!
//! It must not know how checks run.

use std::collections::BTreeSet;

use db::Snapshot;
use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::{ProjectId, TaskId};
use domain::runs::check::{CheckState, await_quick};

use super::Scheduler;

/// The submitted tasks whose quick checks have not passed.
pub(super) fn awaiting(state: &Snapshot) -> BTreeSet<&TaskId> {
    let waits = |known: &&db::TaskSnapshot| {
        let card = &known.task.card;
        let is_submitted = card.status == Status::InReview && card.approved_sha.is_none();
        let project = state.projects.get(&card.project_id).filter(|_| is_submitted);
        project.is_some_and(|project| await_quick(&card.checks, known.submitted_sha.as_ref(), &project.profile.checks, project.profile_version))
    };
    state.tasks.iter().filter(waits).map(|known| &known.task.card.id).collect()
}

impl<'a> Scheduler<'a> {
    /// The projects in which checks run.
    pub(super) fn checking_projects(&self) -> BTreeSet<&'a ProjectId> {
        let busy = self.busy.iter().filter_map(|id| self.cards.get(id));
        busy.filter(|card| card.run.is_none() && self.has_checks(card)).map(|card| &card.project_id).collect()
    }

    /// Whether the next step of a task includes checks.
    pub(super) fn has_checks(&self, card: &Card) -> bool {
        let project = self.state.projects.get(&card.project_id);
        let merges_with_checks = card.is_approved() && project.is_some_and(|project| !project.profile.checks.full.commands.is_empty());
        merges_with_checks || self.awaiting_checks.contains(&card.id)
    }
}

/// Whether checks of a card run, or are about to.
pub(super) fn are_running(card: &Card) -> bool {
    card.checks.iter().any(|checks| checks.state == CheckState::Running)
}
