//! The settings: the preferences of this browser, browsers that are signed in, and the persons of the board.

use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::components::bar::Bar;
use crate::components::help::HelpDialog;
use crate::components::preferences::Preferences;
use crate::components::team::browser_session::BrowserSessions;
use crate::components::team::person::Persons;
use crate::keys::{Key, listen};
use crate::notifications::tab_title;
use crate::route::{Navigation, Route};

#[component]
pub(crate) fn SettingsPage() -> impl IntoView {
    let navigation = Navigation::from_context();
    let (helping, changed) = (RwSignal::new(false), Trigger::new());
    // No event reaches this page.
    ServerStatus::from_context().refresh();
    listen(move |key| match key {
        Key::Help => helping.set(true),
        Key::Close => navigation.go(Route::Projects),
        _ => {}
    });
    tab_title(|| "Settings".to_owned());
    view! {
        <Bar title="Settings" />
        <main class="scroll">
            <div class="page">
                <Preferences />
                <BrowserSessions changed=changed />
                <Persons changed=changed />
            </div>
        </main>
        <Show when=move || helping.get()>
            <HelpDialog close=Callback::new(move |()| helping.set(false)) />
        </Show>
    }
}
