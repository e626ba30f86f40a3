//! The frame around every page: shared context, and the choice of the page to show.

use domain::runs::sandbox::SandboxStatus;
use domain::team::person::PersonRole;
use domain::wire::ServerInfo;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::board::report::Absence;
use crate::components::sidebar::{Dock, Sidebar};
use crate::components::toast::{ToastStack, Toasts};
use crate::draft;
use crate::overview::Overview;
use crate::pages::board::needs_you::NeedsYouPage;
use crate::pages::board::project::ProjectPage;
use crate::pages::board::project_list::ProjectsPage;
use crate::pages::settings::SettingsPage;
use crate::pages::sign_in::SignInPage;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::socket::Live;
use crate::time::Clock;

/// The status that the server reports about itself.
#[derive(Clone, Copy)]
pub(crate) struct ServerStatus {
    client: Client,
    pub(crate) server: RwSignal<Option<ServerInfo>>,
    reader: RwSignal<Reader>,
}

impl ServerStatus {
    fn provide(client: Client) -> Self {
        let status = Self { client, server: RwSignal::new(None), reader: Reader::provide() };
        provide_context(status);
        status
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Requests the status again. A failure keeps the last answer, because the connection mark reports a lost server.
    pub(crate) fn refresh(self) {
        leptos::task::spawn_local(async move {
            let Ok(server) = self.client.server().await else { return };
            self.identify_reader(&server).await;
            let _page_closed = self.server.try_set(Some(server));
        });
    }

    /// Takes over an answer about the sandbox, before the next request for the status.
    pub(crate) fn settle_sandbox(self, sandbox: SandboxStatus) {
        let _page_closed = self.server.try_update(|server| {
            if let Some(server) = server {
                server.sandbox = Some(sandbox);
            }
        });
    }

    async fn identify_reader(self, server: &ServerInfo) {
        // The owner reads about themself, so only others need the owner's name.
        if server.person.role == PersonRole::Owner {
            return;
        }
        // The role counts even if the names cannot be read.
        let persons = self.client.persons().await.map_or_else(|_| Vec::new(), |list| list.items);
        let reader = Reader::new(&server.person, &persons);
        if self.reader.try_with_untracked(|known| *known != reader) == Some(true) {
            self.reader.set(reader);
        }
    }
}

#[component]
pub(crate) fn App() -> impl IntoView {
    Clock::provide();
    let navigation = Navigation::provide();
    let client = Client::provide(Toasts::provide());
    let status = ServerStatus::provide(client);
    draft::remove_expired();
    let live = Live::provide(client, status);
    Overview::provide(client, live);
    status.refresh();
    Absence::provide(client);

    // The page stays mounted while only the task within it changes.
    let project = Memo::new(move |_| navigation.get().project().cloned());
    let page = move || {
        status.reader.track();
        match project.get() {
            Some(project) => view! { <ProjectPage project=project /> }.into_any(),
            None if navigation.get() == Route::NeedsYou => view! { <NeedsYouPage /> }.into_any(),
            None if navigation.get() == Route::Settings => view! { <SettingsPage /> }.into_any(),
            None => view! { <ProjectsPage unknown=navigation.get() == Route::Unknown /> }.into_any(),
        }
    };
    let frame = move || {
        view! {
            <div class="app">
                {move || {
                    status.reader.track();
                    view! { <Sidebar /> }
                }}
                <div class="main">{page}</div>
                <Dock />
            </div>
        }
    };
    view! {
        {move || if client.signed_out() { view! { <SignInPage /> }.into_any() } else { frame().into_any() }}
        <ToastStack />
    }
}
