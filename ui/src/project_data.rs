//! Data that the pages of a project share beside the board: agents, goals, contracts, handshakes, unread messages and usage, and which sections
//! of the project are in use.
//!
//! Must not draw anything.

use domain::board::goal::Goal;
use domain::id::ProjectId;
use domain::team::agent::Agent;
use domain::team::contract::Contract;
use domain::team::handshake::Handshake;
use domain::team::message::Unread;
use domain::team::person::Right;
use domain::wire::{List, ProjectUsage};
use leptos::prelude::*;

use crate::client::{Client, Failure, MessageFilter};
use crate::invalidation::ListKind;
use crate::lazy::start;
use crate::live_list::LiveList;
use crate::parts;
use crate::route::{Navigation, Section};
use crate::store::Store;

/// The dialog that is open above the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum OpenDialog {
    None,
    Help,
    NewTask,
    NewAgent,
    NewGoal,
    NewContract,
    NewHandshake,
}

impl OpenDialog {
    /// The right that its request requires.
    pub(crate) const fn right(&self) -> Right {
        match self {
            Self::None | Self::Help => Right::Read,
            Self::NewTask | Self::NewGoal | Self::NewContract | Self::NewHandshake => Right::Work,
            // It shows a token.
            Self::NewAgent => Right::Administer,
        }
    }
}

#[derive(Clone, Copy)]
pub(crate) struct ProjectData {
    project: StoredValue<ProjectId>,
    pub(crate) agents: LiveList<Vec<Agent>>,
    pub(crate) goals: LiveList<Vec<Goal>>,
    pub(crate) contracts: LiveList<Vec<Contract>>,
    pub(crate) handshakes: LiveList<Vec<Handshake>>,
    pub(crate) unread: LiveList<Unread>,
    /// Whether the project has any message.
    has_messages: LiveList<bool>,
    /// Whether agents of the project use shared context.
    context: LiveList<bool>,
    /// Whether someone logged something, wrote a plan, set a zone or wrote something down.
    war_room: LiveList<bool>,
    pub(crate) usage: LiveList<ProjectUsage>,
    pub(crate) dialog: RwSignal<OpenDialog>,
    /// The filter of the page of messages, from its address.
    pub(crate) message_filter: Memo<MessageFilter>,
}

impl ProjectData {
    /// Makes the lists of `project` available below the current owner. [`Self::follow`] fills them, after the first cards are drawn.
    pub(crate) fn provide(store: Store, project: ProjectId) -> Self {
        let navigation = Navigation::from_context();
        let data = Self {
            project: StoredValue::new(project),
            agents: LiveList::idle(),
            goals: LiveList::idle(),
            contracts: LiveList::idle(),
            handshakes: LiveList::idle(),
            unread: LiveList::idle(),
            has_messages: LiveList::idle(),
            context: LiveList::idle(),
            war_room: LiveList::idle(),
            usage: LiveList::idle(),
            dialog: RwSignal::new(OpenDialog::None),
            message_filter: Memo::new(move |_| navigation.get().message_filter()),
        };
        provide_context(data);
        start(move || parts::follow_project(data, store));
        data
    }

    /// Requests the lists, and again when they become stale.
    pub(crate) fn follow(self, store: Store) {
        let client = Client::from_context();
        let project = move || self.project.get_value();
        let revision = |kind| store.revision_of(kind);
        self.agents.follow(revision(ListKind::Team), |agents| !agents.is_empty(), move || items(client.agents(project())));
        self.goals.follow(revision(ListKind::Goals), |_| false, move || items(client.goals(project())));
        self.contracts.follow(revision(ListKind::Contracts), |contracts| !contracts.is_empty(), move || items(client.contracts(project())));
        self.handshakes.follow(revision(ListKind::Handshakes), |_| false, move || items(client.handshakes(project())));
        self.unread.follow(revision(ListKind::Messages), |_| false, move || client.unread(project()));
        self.has_messages.follow(
            revision(ListKind::Messages),
            |has_messages| *has_messages,
            move || {
                let newest = client.messages(project(), MessageFilter::default(), None, 1);
                async move { Ok(!newest.await?.items.is_empty()) }
            },
        );
        let context = store.revision_of_any(&[ListKind::Sessions, ListKind::Memory]);
        self.context.follow(context, |is_used| *is_used, move || client.uses_context(project()));
        let war_room = store.revision_of_any(&[ListKind::BattlePlans, ListKind::RaidLog, ListKind::Zones, ListKind::Knowledge]);
        self.war_room.follow(war_room, |is_used| *is_used, move || client.uses_war_room(project()));
        self.usage.follow(revision(ListKind::Usage), |_| false, move || client.usage(project()));
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    pub(crate) fn project(self) -> ProjectId {
        self.project.get_value()
    }

    /// Whether the section has any content. An unused section has no tab.
    pub(crate) fn is_used(self, section: Section) -> bool {
        fn has_items<T: Send + Sync>(list: LiveList<Vec<T>>) -> bool {
            list.value.with(|items| items.as_ref().is_some_and(|items| !items.is_empty()))
        }
        match section {
            Section::Board => true,
            Section::Team => has_items(self.agents),
            Section::Messages => self.has_messages.value.with(|has_messages| *has_messages == Some(true)),
            Section::Goals => has_items(self.goals),
            Section::Contracts => has_items(self.contracts),
            Section::Handshakes => has_items(self.handshakes),
            Section::Context => self.context.value.get() == Some(true),
            Section::WarRoom => self.war_room.value.get() == Some(true),
            // Read now and then.
            Section::Activity | Section::Charts | Section::Replay => false,
        }
    }

    /// The number on the tab of a section: unread messages.
    pub(crate) fn badge_count(self, section: Section) -> u32 {
        match section {
            Section::Messages => self.unread.value.with(|unread| unread.as_ref().map_or(0, |unread| unread.count)),
            _ => 0,
        }
    }

    /// Agents that have not left, by name, kept up to date for as long as the current owner lives.
    pub(crate) fn active_agents(self) -> Memo<Vec<Agent>> {
        let agents = self.agents.watch().value;
        Memo::new(move |_| agents.get().unwrap_or_default().into_iter().filter(|agent| agent.left_at.is_none()).collect())
    }
}

/// The items of a list that comes on one page.
pub(crate) async fn items<T>(list: impl Future<Output = Result<List<T>, Failure>>) -> Result<Vec<T>, Failure> {
    Ok(list.await?.items)
}
