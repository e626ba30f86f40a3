//! The frame around every page: shared context, and the choice of the page to show.

use std::time::Duration;

use domain::id::TaskId;
use domain::runs::sandbox::SandboxStatus;
use domain::team::person::PersonRole;
use domain::wire::ServerInfo;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;

use crate::client::Client;
use crate::components::board::report::Absence;
use crate::components::palette::{Palette, PaletteOutlet};
use crate::components::theme::Density;
use crate::components::toast::{ToastStack, Toasts};
use crate::draft;
use crate::keys::early::EarlyKeys;
use crate::keys::{listen_for_needs_you, listen_for_palette};
use crate::lazy::{FirstPage, lazy, soon};
use crate::markdown::Markdown;
use crate::overview::Overview;
use crate::pages::board::project::ProjectPage;
use crate::pages::sign_in::SignInPage;
use crate::parts;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::session_key::SessionKey;
use crate::socket::Live;
use crate::time::Clock;

/// Time for the first page, before the code of the others is loaded, also if its cards do not arrive.
const PRELOAD_DELAY: Duration = Duration::from_secs(1);

/// The status that the server reports about itself.
#[derive(Clone, Copy)]
pub(crate) struct ServerStatus {
    client: Client,
    first_page: FirstPage,
    pub(crate) server: RwSignal<Option<ServerInfo>>,
    reader: RwSignal<Reader>,
}

impl ServerStatus {
    fn provide(client: Client, first_page: FirstPage) -> Self {
        let status = Self { client, first_page, server: RwSignal::new(None), reader: Reader::provide() };
        provide_context(status);
        status
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    /// Requests the status again. A failure keeps the last answer, because the connection mark reports a lost server.
    pub(crate) fn refresh(self) {
        leptos::task::spawn_local(async move {
            self.first_page.wait().await;
            drop(parts::read_server(self).await);
        });
    }

    /// Requests the status, and who reads this page.
    pub(crate) async fn read(self) {
        let Ok(server) = self.client.server().await else { return };
        self.identify_reader(&server).await;
        let _page_closed = self.server.try_set(Some(server));
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

/// Opens the tasks that texts mention without a reload.
fn follow_task_links(client: Client, navigation: Navigation) {
    let listener = window_event_listener(leptos::ev::click, move |event| {
        let is_plain = event.button() == 0 && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        let element = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
        let link = element.filter(|_| is_plain).and_then(|element| element.closest(".prose a[href^='/tasks/']").ok().flatten());
        let Some(Route::Task { task }) = link.and_then(|link| link.get_attribute("href")).map(|path| Route::parse(&path, |_| None)) else { return };
        event.prevent_default();
        open_task(client, navigation, task);
    });
    on_cleanup(move || listener.remove());
}

/// Opens a task on the board of its project.
fn open_task(client: Client, navigation: Navigation, task: TaskId) {
    leptos::task::spawn_local(async move {
        match parts::project_of(client, task.clone()).await {
            Ok(project) => client.act(project, move |project| navigation.go(Route::Board { project, task: Some(task) })),
            Err(failure) => client.show(&failure),
        }
    });
}

#[component]
pub(crate) fn App() -> impl IntoView {
    // First, because the address may show it.
    let session_key = SessionKey::take();
    Clock::provide();
    let navigation = Navigation::provide();
    let toasts = Toasts::provide();
    let client = Client::provide(toasts, session_key);
    let first_page = FirstPage::provide();
    let status = ServerStatus::provide(client, first_page);
    Markdown::provide(client);
    follow_task_links(client, navigation);
    draft::remove_expired();
    leptos::task::spawn_local(async move {
        sleep(PRELOAD_DELAY).await;
        first_page.set_drawn();
        parts::preload().await;
    });
    let live = Live::provide(client, status);
    let overview = Overview::provide(live);
    let at_work = Memo::new(move |_| overview.agents_at_work());
    // An agent that starts or ends also changes the cost and the limits.
    Effect::new(move |_| {
        // A memo follows its sources only once it is read.
        let _count = at_work.get();
        status.refresh();
    });
    Absence::provide();
    Density::provide();
    // Before the pages, which leave alone the keys that it takes.
    listen_for_palette(Palette::provide());
    listen_for_needs_you(navigation);
    EarlyKeys::provide();
    Effect::new(move |_| {
        let _page = navigation.get();
        toasts.leave_page();
    });
    // The page stays mounted while only the task within it changes.
    let project = Memo::new(move |_| navigation.get().project().cloned());
    // Nor do filters of a page draw it again.
    let outside = Memo::new(move |_| navigation.get().unfiltered());
    let page = move || {
        status.reader.track();
        if project.with(Option::is_none) {
            first_page.set_drawn();
        }
        match project.get() {
            Some(project) => view! { <ProjectPage project=project /> }.into_any(),
            None if outside.get() == Route::NeedsYou => lazy(parts::needs_you_page),
            None if outside.get() == Route::AllTasks => lazy(parts::all_tasks_page),
            None if let Route::Settings { tab } = outside.get() => lazy(move || parts::settings_page(Some(tab))),
            None if let Route::Audit { .. } = outside.get() => lazy(|| parts::settings_page(None)),
            None if let Route::Task { task } = outside.get() => {
                open_task(client, navigation, task);
                view! { <p class="empty soft" role="status">"Opening the task…"</p> }.into_any()
            }
            None => {
                let unknown = outside.get() == Route::Unknown;
                lazy(move || parts::projects_page(unknown))
            }
        }
    };
    let frame = move || {
        view! {
            <div class="app">
                {move || {
                    status.reader.track();
                    view! { <nav class="side" aria-label="Main">{soon(parts::sidebar)}</nav> }
                }}
                <div class="main">{page}</div>
                <nav class="dock" aria-label="Pages">{soon(parts::dock)}</nav>
            </div>
            {move || project.with(Option::is_none).then(|| view! { <PaletteOutlet /> })}
        }
    };
    view! {
        {move || if client.signed_out() { view! { <SignInPage /> }.into_any() } else { frame().into_any() }}
        <ToastStack />
    }
}
