//! The frame around every page: what all of them share, and which one is shown.

use domain::wire::ServerInfo;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::toast::{ToastStack, Toasts};
use crate::pages::project::ProjectPage;
use crate::pages::projects::ProjectsPage;
use crate::pages::sign_in::SignInPage;
use crate::route::{Navigation, Route};
use crate::time::Clock;

/// What the server says about itself; asked again when something about it changed.
#[derive(Clone, Copy)]
pub(crate) struct About {
    client: Client,
    pub(crate) server: RwSignal<Option<ServerInfo>>,
}

impl About {
    fn provide(client: Client) -> Self {
        let about = Self { client, server: RwSignal::new(None) };
        provide_context(about);
        about
    }

    pub(crate) fn here() -> Self {
        expect_context()
    }

    /// Asks again. A failure keeps the old answer: whoever needs the server says that it is gone.
    pub(crate) fn ask(self) {
        leptos::task::spawn_local(async move {
            if let Ok(server) = self.client.server().await {
                let _page_was_left = self.server.try_set(Some(server));
            }
        });
    }
}

#[component]
pub(crate) fn App() -> impl IntoView {
    Clock::provide();
    let navigation = Navigation::provide();
    let client = Client::provide(Toasts::provide());
    About::provide(client).ask();

    // A page stays while only the task within it changes.
    let project = Memo::new(move |_| navigation.get().project().cloned());
    let page = move || match project.get() {
        Some(project) => view! { <ProjectPage project=project /> }.into_any(),
        None => view! { <ProjectsPage unknown=navigation.get() == Route::Unknown /> }.into_any(),
    };
    view! {
        {move || if client.signed_out() { view! { <SignInPage /> }.into_any() } else { page().into_any() }}
        <ToastStack />
    }
}
