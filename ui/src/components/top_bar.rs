//! The bar at the top of every page: home link, connection state, settings and theme, with the banners for the demonstration, for a pause and for parked agents.

use domain::runs::parking::Parking;
use domain::wire::DemoInfo;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::badge::Tone;
use crate::components::icon::{ALERT, Icon, PLUG, SLIDERS, SUN};
use crate::components::inline_code::InlineCode;
use crate::components::runs::pause::PausedBanner;
use crate::components::toast::Toasts;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::socket::ConnectionState;
use crate::time::Clock;

#[component]
pub(crate) fn TopBar(
    /// The title of the project.
    #[prop(optional, into)]
    crumb: Option<Signal<String>>,
    #[prop(optional)] link: Option<RwSignal<ConnectionState>>,
) -> impl IntoView {
    let navigation = Navigation::from_context();
    let status = ServerStatus::from_context();
    view! {
        {move || status.server.get().and_then(|server| server.demo).map(|demo| view! { <DemoBanner demo=demo /> })}
        <header class="topbar">
            <a class="brand" href="/" on:click=move |event| navigation.follow(&event, Route::Projects)>
                <Logo />
                "vibe-relay"
            </a>
            {crumb.map(|crumb| view! { <span class="crumb">{crumb}</span> })}
            <span class="spacer"></span>
            {link.map(|link| view! { <Connection link=link /> })}
            <a
                class="button quiet icon"
                href=Route::Settings.path()
                aria-label="Settings"
                title="Settings"
                on:click=move |event| navigation.follow(&event, Route::Settings)
            >
                <Icon drawing=SLIDERS />
            </a>
            <button type="button" class="button quiet icon" aria-label="Switch between light and dark" on:click=|_| switch_theme()>
                <Icon drawing=SUN />
            </button>
        </header>
        <PausedBanner />
        <Parked />
        <ConfigNotice />
    }
}

#[component]
fn Logo() -> impl IntoView {
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
fn Connection(link: RwSignal<ConnectionState>) -> impl IntoView {
    let label = move || match link.get() {
        ConnectionState::Opening => ("Connecting", Tone::Neutral),
        ConnectionState::CatchingUp => ("Catching up", Tone::Warn),
        ConnectionState::Live => ("Live", Tone::Good),
        ConnectionState::Lost => ("Connection lost, reconnecting", Tone::Bad),
        ConnectionState::Refused => ("Not connected", Tone::Bad),
    };
    view! {
        <span class="connection" role="status" data-tone=move || label().1.as_str()>
            {move || label().0}
        </span>
    }
}

/// A banner for each reason that suspends all agent starts.
#[component]
fn Parked() -> impl IntoView {
    let (status, clock) = (ServerStatus::from_context(), Clock::from_context());
    let parked = move || status.server.get().map(|server| server.runner.parked).unwrap_or_default();
    view! {
        <For each=parked key=|parking| (parking.reason, parking.until, parking.failed_probes) let:parking>
            <div class="banner" data-tone="warn" role="status">
                <Icon drawing=ALERT />
                <strong>{parked_title(&parking)}</strong>
                <span><InlineCode text=parking.reason.remedy() /></span>
                <span class="soft"><InlineCode text=parking.detail.clone() /></span>
                <span class="faint tabular">{move || clock.until(parking.until)}</span>
            </div>
        </For>
    }
}

fn parked_title(parking: &Parking) -> String {
    let reason = parking.reason.sentence();
    if parking.needs_attention() {
        format!("Needs you: {} agents in a row could not work ({reason})", parking.failed_probes)
    } else {
        format!("Agents are parked: {reason}")
    }
}

/// Why the configuration file is not in use as it is.
#[component]
fn ConfigNotice() -> impl IntoView {
    let status = ServerStatus::from_context();
    let notice = move || {
        let text = status.server.get()?.config_notice?;
        Some(view! {
            <div class="banner" data-tone="warn" role="status">
                <Icon drawing=ALERT />
                <strong>"Configuration"</strong>
                <span>{text}</span>
            </div>
        })
    };
    view! { {notice} }
}

#[component]
fn DemoBanner(demo: DemoInfo) -> impl IntoView {
    let (client, toasts) = (Client::from_context(), Toasts::from_context());
    let pulling = RwSignal::new(false);
    let pull = move |_| {
        pulling.set(true);
        client.watch(client.pull_the_plug(), move |result| {
            pulling.set(false);
            if result.is_ok() {
                toasts.success("The server was killed with SIGKILL. Agents keep working, and the restarted server reconnects to them.");
            }
        });
    };
    view! {
        <div class="banner" data-tone="info" role="note">
            <strong>"Demonstration"</strong>
            <span>{if demo.scripted {
                "The agents are scripted: no model, no account. Git, worktrees, reviews and merges are real."
            } else {
                "Claude Code works with your account, which costs money."
            }}</span>
            <span class="row spacer">
                <a class="button small" href=demo.page_url target="_blank" rel="noopener">"See the page they build"</a>
                {Reader::may_write().then(|| view! {
                    <button type="button" class="button small danger" disabled=move || pulling.get() on:click=pull>
                        <Icon drawing=PLUG />
                        "Pull the plug"
                    </button>
                })}
            </span>
        </div>
    }
}

/// Switches the theme of this page and of pages opened later.
fn switch_theme() {
    let Some(root) = document().document_element().and_then(|root| root.dyn_into::<HtmlElement>().ok()) else { return };
    let chosen = root.dataset().get("theme");
    let system_is_dark = || window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches());
    let dark = chosen.map_or_else(system_is_dark, |theme| theme == "dark");
    let theme = if dark { "light" } else { "dark" };
    let _shown = root.dataset().set("theme", theme);
    if let Ok(Some(storage)) = window().local_storage() {
        // Without storage, the choice lasts until the next reload.
        let _stored = storage.set_item("theme", theme);
    }
}
