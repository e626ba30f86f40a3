//! The bar at the top of every page: the way home, how the connection is, the theme, and the demonstration's banner.

use domain::wire::Demo;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::app::About;
use crate::client::Client;
use crate::components::badge::Tone;
use crate::components::coded::Coded;
use crate::components::icon::{ALERT, Icon, PLUG, SUN};
use crate::components::toast::Toasts;
use crate::route::{Navigation, Route};
use crate::socket::Link;
use crate::time::Clock;

#[component]
pub(crate) fn TopBar(
    /// The project's title, below the way home.
    #[prop(optional, into)]
    crumb: Option<Signal<String>>,
    #[prop(optional)] link: Option<RwSignal<Link>>,
) -> impl IntoView {
    let navigation = Navigation::here();
    let about = About::here();
    view! {
        {move || about.server.get().and_then(|server| server.demo).map(|demo| view! { <DemoBanner demo=demo /> })}
        <header class="topbar">
            <a class="brand" href="/" on:click=move |event| navigation.follow(&event, Route::Projects)>
                <Mark />
                "vibe-relay"
            </a>
            {crumb.map(|crumb| view! { <span class="crumb">{crumb}</span> })}
            <span class="push"></span>
            {link.map(|link| view! { <Connection link=link /> })}
            <button type="button" class="button quiet icon" aria-label="Switch between light and dark" on:click=|_| switch_theme()>
                <Icon drawing=SUN />
            </button>
        </header>
        <Parked />
    }
}

#[component]
fn Mark() -> impl IntoView {
    view! {
        <svg class="mark" width="20" height="20" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="8"></rect>
            <g fill="none" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">
                <path d="M7 9l5 14 5-14"></path>
                <path d="M20 23V13a4 4 0 0 1 5-3.6"></path>
            </g>
        </svg>
    }
}

#[component]
fn Connection(link: RwSignal<Link>) -> impl IntoView {
    let look = move || match link.get() {
        Link::Opening => ("Connecting", Tone::Neutral),
        Link::CatchingUp => ("Catching up", Tone::Warn),
        Link::Live => ("Live", Tone::Good),
        Link::Lost => ("Connection lost: trying again", Tone::Bad),
        Link::Refused => ("Not connected", Tone::Bad),
    };
    view! {
        <span class="connection" role="status" data-tone=move || look().1.as_str()>
            {move || look().0}
        </span>
    }
}

/// Why no agent is started at all, with the remedy.
#[component]
fn Parked() -> impl IntoView {
    let (about, clock) = (About::here(), Clock::here());
    let parked = move || about.server.get().map(|server| server.parked).unwrap_or_default();
    view! {
        <For each=parked key=|parking| (parking.reason, parking.until) let:parking>
            <div class="banner" data-tone="warn" role="status">
                <Icon drawing=ALERT />
                <strong>{format!("Agents wait: {}", parking.reason.sentence())}</strong>
                <span><Coded text=parking.reason.remedy() /></span>
                <span class="soft"><Coded text=parking.detail.clone() /></span>
                <span class="faint tabular">{move || clock.until(parking.until)}</span>
            </div>
        </For>
    }
}

#[component]
fn DemoBanner(demo: Demo) -> impl IntoView {
    let (client, toasts) = (Client::here(), Toasts::here());
    let pulling = RwSignal::new(false);
    let pull = move |_| {
        pulling.set(true);
        client.watch(client.pull_the_plug(), move |result| {
            pulling.set(false);
            if result.is_ok() {
                toasts.news("The server was killed with -9. Agents work on; it starts again and picks them up.");
            }
        });
    };
    view! {
        <div class="banner" data-tone="info" role="note">
            <strong>"Demonstration"</strong>
            <span>{if demo.scripted {
                "Scripted agents, no model, no account; git, worktrees, reviews and merges are real."
            } else {
                "Claude Code works here with your account, which costs money."
            }}</span>
            <span class="row push">
                <a class="button small" href=demo.page_url target="_blank" rel="noopener">"See the page they build"</a>
                <button type="button" class="button small danger" disabled=move || pulling.get() on:click=pull>
                    <Icon drawing=PLUG />
                    "Pull the plug"
                </button>
            </span>
        </div>
    }
}

/// Shows the other theme, here and in every tab that is opened later.
fn switch_theme() {
    let Some(root) = document().document_element().and_then(|root| root.dyn_into::<HtmlElement>().ok()) else { return };
    let chosen = root.dataset().get("theme");
    let system_is_dark = || window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches());
    let dark = chosen.map_or_else(system_is_dark, |theme| theme == "dark");
    let theme = if dark { "light" } else { "dark" };
    let _shown = root.dataset().set("theme", theme);
    if let Ok(Some(storage)) = window().local_storage() {
        // A full or blocked storage costs the memory of the choice, not the choice.
        let _kept = storage.set_item("theme", theme);
    }
}
