//! What a project's pages share beside the board: who is there, goals, contracts, handshakes, what waits to be read, and which of these
//! parts were ever used.
//!
//! Must not draw anything.

use domain::board::goal::Goal;
use domain::id::ProjectId;
use domain::team::agent::Agent;
use domain::team::contract::Contract;
use domain::team::handshake::Handshake;
use domain::team::message::Unread;
use leptos::prelude::*;

use crate::client::{Client, Said};
use crate::feed::Feed;
use crate::news::Topic;
use crate::route::{Navigation, Section};
use crate::store::Store;

/// What is open above the page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Open {
    Nothing,
    Help,
    NewTask,
    NewAgent,
    NewGoal,
    NewContract,
    NewHandshake,
}

#[derive(Clone, Copy)]
pub(crate) struct Room {
    project: StoredValue<ProjectId>,
    pub(crate) agents: Feed<Vec<Agent>>,
    pub(crate) goals: Feed<Vec<Goal>>,
    pub(crate) contracts: Feed<Vec<Contract>>,
    pub(crate) handshakes: Feed<Vec<Handshake>>,
    pub(crate) unread: Feed<Unread>,
    /// Whether anything was ever said.
    spoken: Feed<bool>,
    pub(crate) open: RwSignal<Open>,
    /// What the page of messages shows, as its address says.
    pub(crate) said: Memo<Said>,
}

impl Room {
    /// Reads the lists of `project` and makes them available below the current owner.
    pub(crate) fn provide(store: Store, project: ProjectId) -> Self {
        let (client, navigation) = (Client::here(), Navigation::here());
        let own = StoredValue::new(project);
        let of = move || own.get_value();
        let room = Self {
            project: own,
            agents: Feed::new(store.news(Topic::Team), |agents| !agents.is_empty(), move || items(client.agents(of()))),
            goals: Feed::new(store.news(Topic::Goals), |_| false, move || items(client.goals(of()))),
            contracts: Feed::new(store.news(Topic::Contracts), |contracts| !contracts.is_empty(), move || items(client.contracts(of()))),
            handshakes: Feed::new(store.news(Topic::Handshakes), |_| false, move || items(client.handshakes(of()))),
            unread: Feed::new(store.news(Topic::Messages), |_| false, move || client.unread(of())),
            spoken: Feed::new(
                store.news(Topic::Messages),
                |spoken| *spoken,
                move || {
                    let newest = client.messages(of(), Said::default(), None, 1);
                    async move { Ok(!newest.await?.items.is_empty()) }
                },
            ),
            open: RwSignal::new(Open::Nothing),
            said: Memo::new(move |_| navigation.get().said()),
        };
        provide_context(room);
        room
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    pub(crate) fn project(self) -> ProjectId {
        self.project.get_value()
    }

    /// Whether anybody ever used this part of the project. Until then no tab leads there.
    pub(crate) fn is_used(self, section: Section) -> bool {
        fn any<T: Send + Sync>(feed: Feed<Vec<T>>) -> bool {
            feed.value.with(|items| items.as_ref().is_some_and(|items| !items.is_empty()))
        }
        match section {
            Section::Board => true,
            Section::Team => any(self.agents),
            Section::Messages => self.spoken.value.with(|spoken| *spoken == Some(true)),
            Section::Goals => any(self.goals),
            Section::Contracts => any(self.contracts),
            Section::Handshakes => any(self.handshakes),
        }
    }

    /// What in a part of the project waits for the person.
    pub(crate) fn waiting(self, section: Section) -> u32 {
        match section {
            Section::Messages => self.unread.value.with(|unread| unread.as_ref().map_or(0, |unread| unread.count)),
            _ => 0,
        }
    }

    /// Who is there now, by name, kept up to date until the current owner goes.
    pub(crate) fn present(self) -> Memo<Vec<Agent>> {
        let agents = self.agents.watch().value;
        Memo::new(move |_| agents.get().unwrap_or_default().into_iter().filter(|agent| agent.left_at.is_none()).collect())
    }
}

async fn items<T>(list: impl Future<Output = Result<domain::wire::List<T>, crate::client::Failure>>) -> Result<Vec<T>, crate::client::Failure> {
    Ok(list.await?.items)
}
