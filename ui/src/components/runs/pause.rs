//! Pausing: the button in a project's header, the one for all projects, and the banner while all are paused.

use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::badge::{Badge, Tone};
use crate::components::icon::{BARS, Icon, TRIANGLE};
use crate::reader::Reader;
use crate::store::Store;
use crate::time::local_time;

const EFFECT: &str = "No new agents start. Running agents continue.";

/// Pauses the open project, or ends its pause.
#[component]
pub(crate) fn PauseProject() -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let paused = Memo::new(move |_| store.project.with(|project| project.as_ref().is_some_and(|project| project.paused_at.is_some())));
    let toggle = move |_| {
        if let Some(project) = store.project.with_untracked(|project| project.as_ref().map(|project| project.id.clone())) {
            client.act(client.set_paused(project, !paused.get_untracked()), |_| {});
        }
    };
    view! {
        {move || {
            let (drawing, verb) = if paused.get() { (TRIANGLE, "Resume") } else { (BARS, "Pause") };
            let title = format!("{verb}. {EFFECT}");
            view! {
                <button type="button" class="button quiet icon" aria-label=verb title=title on:click=toggle>
                    <Icon drawing=drawing />
                </button>
            }
        }}
    }
}

/// Marks the title of a project that is paused on its own.
#[component]
pub(crate) fn PausedBadge() -> impl IntoView {
    view! { <Badge label="Paused" tone=Tone::Warn /> }
}

/// Pauses all projects. While they are paused, the banner has the button to resume.
#[component]
pub(crate) fn PauseAll() -> impl IntoView {
    let (client, status) = (Client::from_context(), ServerStatus::from_context());
    let can_pause = move || status.server.with(|server| server.as_ref().is_some_and(|server| server.paused_at.is_none()));
    view! {
        <Show when=can_pause>
            <button type="button" class="button" title=EFFECT on:click=move |_| client.act(client.set_all_paused(true), move |_| status.refresh())>
                <Icon drawing=BARS />
                "Pause all"
            </button>
        </Show>
    }
}

/// The banner on every page while all projects are paused.
#[component]
pub(crate) fn PausedBanner() -> impl IntoView {
    let (client, status) = (Client::from_context(), ServerStatus::from_context());
    let paused = Memo::new(move |_| status.server.with(|server| server.as_ref().and_then(|server| server.paused_at)));
    let resume = move |_| client.act(client.set_all_paused(false), move |_| status.refresh());
    move || {
        let since = paused.get()?;
        Some(view! {
            <div class="banner" data-tone="warn" role="status">
                <Icon drawing=BARS />
                <strong>{format!("All projects are paused since {}", local_time(since))}</strong>
                <span>{EFFECT}</span>
                {Reader::may_write().then(|| view! {
                    <button type="button" class="button small spacer" on:click=resume>"Resume"</button>
                })}
            </div>
        })
    }
}
