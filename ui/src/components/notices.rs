//! The notices below the bar of every page: a lost connection, the demonstration, a pause, parked agents, and a faulty configuration.

use domain::runs::parking::Parking;
use domain::wire::DemoInfo;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::icon::{ALERT, Icon, PLUG};
use crate::components::inline_code::InlineCode;
use crate::components::runs::pause::PausedBanner;
use crate::components::toast::Toasts;
use crate::reader::Reader;
use crate::socket::Live;
use crate::time::{Clock, local_time};

#[component]
pub(crate) fn Notices() -> impl IntoView {
    let status = ServerStatus::from_context();
    let demo = Memo::new(move |_| status.server.with(|server| server.as_ref().and_then(|server| server.demo.clone())));
    view! {
        <LostConnection />
        {move || demo.get().map(|demo| view! { <DemoBanner demo=demo /> })}
        <PausedBanner />
        <Parked />
        <ConfigNotice />
    }
}

/// Says since when the server does not answer. It precedes everything else, and stands in an open panel where that covers the page.
#[component]
pub(crate) fn LostConnection() -> impl IntoView {
    let live = Live::from_context();
    move || {
        let since = live.lost_since.get()?;
        Some(view! {
            <div class="banner" data-tone="bad" role="alert">
                <Icon drawing=ALERT />
                <strong>{format!("The server has not answered since {}", local_time(since))}</strong>
                <span>"Agents continue without it. The page reconnects automatically and keeps what you type."</span>
            </div>
        })
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
            let _page_closed = pulling.try_set(false);
            if result.is_ok() {
                toasts.success("The server was killed with SIGKILL. Agents keep working, and the restarted server reattaches to them.");
            }
        });
    };
    view! {
        <div class="banner" data-tone="info" role="note">
            <strong>"Demonstration"</strong>
            <span>{if demo.scripted {
                "The agents are scripted: no model, no account. Git, worktrees, reviews and merges are real."
            } else {
                "Claude Code uses your account, which costs money."
            }}</span>
            <span class="row spacer">
                <a class="button small quiet" href=demo.page_url target="_blank" rel="noopener">"See the page they build"</a>
                {Reader::may_write().then(|| view! {
                    <button type="button" class="button small quiet" disabled=move || pulling.get() on:click=pull>
                        <Icon drawing=PLUG />
                        "Pull the plug"
                    </button>
                })}
            </span>
        </div>
    }
}
