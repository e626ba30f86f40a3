//! All projects at a glance, and what needs the person in any of them: requested again while events arrive.
//!
//! Must not draw anything.

use std::time::Duration;

use domain::board::card::Card;
use domain::board::needs_you::NeedsYouList;
use domain::board::project::summary::ProjectSummary;
use domain::board::wait_reason::WaitReason;
use domain::id::ProjectId;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::card_state::busy_elsewhere;
use crate::lazy::start;
use crate::live_list::LiveList;
use crate::notifications;
use crate::parts;
use crate::project_data::items;
use crate::socket::{Live, Notice};

/// How often the projects are requested while events arrive.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Clone, Copy)]
pub(crate) struct Overview {
    pub(crate) projects: LiveList<Vec<ProjectSummary>>,
    pub(crate) needs_you: LiveList<NeedsYouList>,
}

impl Overview {
    /// Makes the lists available below the current owner. [`Self::follow`] fills them.
    pub(crate) fn provide(live: Live) -> Self {
        let revision = RwSignal::new(0_u32);
        live.follow(move |notice| {
            if !matches!(notice, Notice::Activity(..)) {
                revision.update(|revision| *revision = revision.wrapping_add(1));
            }
        });
        let overview = Self { projects: LiveList::idle(), needs_you: LiveList::idle() };
        provide_context(overview);
        start(move || parts::follow_overview(overview, revision));
        overview
    }

    /// Requests all projects, and what needs the person, after each change of `revision`.
    pub(crate) fn follow(self, revision: RwSignal<u32>) {
        let client = Client::from_context();
        self.projects.every(INTERVAL).follow(revision, |_| false, move || items(client.projects()));
        self.needs_you.every(INTERVAL).follow(revision, |_| false, move || client.needs_you());
        notifications::follow(self);
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// How many managed agents are at work, on all projects. None before the first answer.
    pub(crate) fn agents_at_work(self) -> Option<usize> {
        self.projects.value.with(|projects| projects.as_ref().map(|projects| projects.iter().map(|project| project.agents.len()).sum()))
    }

    /// The title of a project, or its id before it is known.
    pub(crate) fn title_of(self, project: ProjectId) -> Memo<String> {
        Memo::new(move |_| {
            let title = |all: &Vec<ProjectSummary>| all.iter().find(|known| known.project.id == project).map(|known| known.project.title.clone());
            self.projects.value.with(|all| all.as_ref().and_then(title)).unwrap_or_else(|| project.to_string())
        })
    }

    /// The agent of another project that a card waits for, in words. Follows the projects only while the card waits for one.
    pub(crate) fn busy_elsewhere(self, card: &Card) -> Option<String> {
        let waits = matches!(card.wait_reason, Some(WaitReason::KindLimitReached { .. }));
        if waits { self.projects.value.with(|all| busy_elsewhere(card, all.as_deref().unwrap_or_default())) } else { None }
    }

    /// How many decisions wait for the person.
    pub(crate) fn needs_you_count(self) -> usize {
        self.needs_you.value.with(|list| list.as_ref().map_or(0, |list| list.items.len()))
    }
}
