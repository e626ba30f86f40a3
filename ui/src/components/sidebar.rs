//! The sidebar with all projects and the state of the runner, and the dock that replaces it on a phone.

use domain::board::project::ProjectStatus;
use domain::board::project::summary::{ProjectSummary, TaskCounts};
use domain::id::ProjectId;
use domain::runs::usage::money;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::components::badge::Tone;
use crate::components::icon::{COLUMNS, GRID, INBOX, Icon, PLUS, SLIDERS};
use crate::components::palette::{PaletteButton, palette_keys};
use crate::components::progress::{ProgressBar, Segments};
use crate::components::theme::ThemeButton;
use crate::lazy::lazy;
use crate::overview::Overview;
use crate::parts;
use crate::reader::Reader;
use crate::route::{Navigation, Route, SettingsTab};
use crate::socket::{ConnectionState, Live};
use crate::time::Clock;

/// The content of the sidebar.
#[component]
pub(crate) fn Sidebar() -> impl IntoView {
    let projects = Overview::from_context().projects.watch().value;
    let creating = RwSignal::new(false);
    let close = Callback::new(move |()| creating.set(false));
    let all = move || projects.get().unwrap_or_default();
    view! {
        <div class="brand">
            <PageLink route=Route::Projects class="">
                <Logo />
                <span>"vibe-relay"</span>
            </PageLink>
            <ThemeButton />
        </div>
        <PageLink route=Route::NeedsYou class="side-link">
            <Icon drawing=INBOX />
            <span>"Needs you"</span>
            <NeedsYouCount />
        </PageLink>
        <PaletteButton class="side-link">
            <kbd>{palette_keys()}</kbd>
        </PaletteButton>
        <PageLink route=Route::Projects class="side-link">
            <Icon drawing=GRID />
            <span>"All projects"</span>
        </PageLink>
        <PageLink route=Route::AllTasks class="side-link">
            <Icon drawing=COLUMNS />
            <span>"All tasks"</span>
        </PageLink>
        <PageLink route=SETTINGS class="side-link">
            <Icon drawing=SLIDERS />
            <span>"Settings"</span>
        </PageLink>
        <div class="side-heading">
            <h2 id="side-projects">"Projects"</h2>
            {Reader::may_write().then(|| view! {
                <button type="button" class="button quiet icon small" aria-label="New project" on:click=move |_| creating.set(true)>
                    <Icon drawing=PLUS />
                </button>
            })}
        </div>
        <ul class="side-projects" aria-labelledby="side-projects">
            <For each=all key=|summary| summary.project.id.clone() let:summary>
                <li><SideProject id=summary.project.id projects=projects /></li>
            </For>
        </ul>
        <div class="side-foot">
            <RunnerState />
            <div><Connection /></div>
        </div>
        {move || creating.get().then(|| lazy(move || parts::new_project_dialog(close)))}
    }
}

/// The links to the pages on a phone.
#[component]
pub(crate) fn Dock() -> impl IntoView {
    view! {
        <PageLink route=Route::NeedsYou class="dock-link">
            <Icon drawing=INBOX />
            <span>"Needs you"</span>
            <NeedsYouCount />
        </PageLink>
        <PageLink route=Route::Projects class="dock-link">
            <Icon drawing=GRID />
            <span>"Projects"</span>
        </PageLink>
        <PageLink route=Route::AllTasks class="dock-link">
            <Icon drawing=COLUMNS />
            <span>"All tasks"</span>
        </PageLink>
        <PaletteButton class="dock-link">""</PaletteButton>
        <PageLink route=SETTINGS class="dock-link">
            <Icon drawing=SLIDERS />
            <span>"Settings"</span>
        </PageLink>
    }
}

const SETTINGS: Route = Route::Settings { tab: SettingsTab::Browser };

/// Whether a link to `route` is marked on `page`. All settings are one link.
fn is_open(route: &Route, page: &Route) -> bool {
    route == page || matches!((route, page), (Route::Settings { .. }, Route::Settings { .. }))
}

/// A link to a page, marked while the page is open.
#[component]
fn PageLink(route: Route, class: &'static str, children: Children) -> impl IntoView {
    let navigation = Navigation::from_context();
    let route = StoredValue::new(route);
    let current = Memo::new(move |_| route.with_value(|route| is_open(route, &navigation.get())));
    view! {
        <a
            class=class
            href=route.with_value(Route::path)
            aria-current=move || (current.get() && !class.is_empty()).then_some("page")
            on:click=move |event| navigation.follow(&event, route.get_value())
        >
            {children()}
        </a>
    }
}

#[component]
fn SideProject(id: ProjectId, projects: RwSignal<Option<Vec<ProjectSummary>>>) -> impl IntoView {
    let navigation = Navigation::from_context();
    let route = Route::Board { project: id.clone(), task: None };
    let own = id.clone();
    let current = Memo::new(move |_| navigation.get().project() == Some(&own));
    let project = Memo::new(move |_| projects.with(|all| all.as_ref()?.iter().find(|summary| summary.project.id == id).cloned()));
    view! {
        <a
            class="side-project"
            href=route.path()
            aria-current=move || current.get().then_some("page")
            on:click=move |event| navigation.follow(&event, route.clone())
        >
            <span class="name">{move || project.get().map(|summary| summary.project.title)}</span>
            {move || project.get().filter(|summary| summary.needs_you > 0).map(|summary| view! {
                <span class="count-badge">
                    {summary.needs_you}
                    <span class="visually-hidden">" need you"</span>
                </span>
            })}
            <span class="state">
                <ProgressBar segments=Signal::derive(move || project.get().map(|summary| segments(&summary.tasks)).unwrap_or_default()) />
                <span>{move || project.get().map(|summary| format!("{}/{}", summary.tasks.done, summary.tasks.total))}</span>
                <span>{move || project.get().map(|summary| state(&summary))}</span>
                <span>{move || project.get().and_then(|summary| money(summary.cost_micro_usd))}</span>
            </span>
        </a>
    }
}

/// How many decisions wait for the person.
#[component]
fn NeedsYouCount() -> impl IntoView {
    let overview = Overview::from_context();
    let _watched = overview.needs_you.watch();
    let count = Memo::new(move |_| overview.needs_you_count());
    view! {
        <Show when=move || count.get() != 0>
            <span class="count-badge">{move || count.get()}</span>
        </Show>
    }
}

/// The state of a project in a few words.
pub(crate) fn state(summary: &ProjectSummary) -> String {
    let project = &summary.project;
    match () {
        () if project.paused_at.is_some() => "paused".to_owned(),
        () if summary.planned_tasks > 0 => "plan waits".to_owned(),
        () if !summary.agents.is_empty() => format!("{} at work", summary.agents.len()),
        () if project.status == ProjectStatus::Complete && summary.ready_to_land.is_some() => "ready to land".to_owned(),
        () if project.status == ProjectStatus::Complete && project.landed.is_some() => "landed".to_owned(),
        () if project.status == ProjectStatus::Complete => "complete".to_owned(),
        () => String::new(),
    }
}

/// The parts of a progress bar.
pub(crate) fn segments(tasks: &TaskCounts) -> Segments {
    let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
    Segments {
        all: count(tasks.total),
        done: count(tasks.done),
        in_review: count(tasks.in_review),
        at_work: count(tasks.at_work),
        needs_you: count(tasks.needs_you),
    }
}

/// How many agents are at work, on all projects.
#[component]
fn RunnerState() -> impl IntoView {
    let (status, overview, clock) = (ServerStatus::from_context(), Overview::from_context(), Clock::from_context());
    let text = move || {
        let (server, live) = (status.server.get()?, overview.agents_at_work()?);
        let most = server.runner.max_agents;
        Some(match server.runner.parked.first() {
            _ if server.paused_at.is_some() => "All projects are paused".to_owned(),
            Some(parking) => format!("No agents start: {}", parking.reason.sentence()),
            None => format!("{live} of {most} agents at work"),
        })
    };
    let next_check = move || {
        let parked = status.server.with(|server| server.as_ref().and_then(|server| server.runner.parked.first().map(|parking| parking.until)));
        parked.and_then(|until| clock.until(until))
    };
    let today = move || {
        let cost = status.server.with(|server| server.as_ref().map(|server| (server.cost_today_micro_usd, server.cost_per_hour_micro_usd)));
        cost.and_then(|(today, hour)| spending(today, hour))
    };
    view! {
        <div>
            <span class="tabular">{text}</span>
            <span class="tabular faint">{next_check}</span>
            <span class="tabular faint">{today}</span>
        </div>
    }
}

/// The cost of the day, and that of an hour at the pace of the agents at work.
fn spending(today: i64, hour: i64) -> Option<String> {
    let parts = [money(today).map(|cost| format!("{cost} today")), money(hour).map(|cost| format!("{cost}/h"))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| parts.join(" · "))
}

/// Whether the page is up to date, in the bar of a phone, which has no sidebar.
#[component]
pub(crate) fn PhoneConnection() -> impl IntoView {
    view! { <span class="phone-connection small-text"><Connection /></span> }.into_any()
}

#[component]
fn Connection() -> impl IntoView {
    let state = Live::from_context().state;
    let label = move || match state.get() {
        ConnectionState::Opening => ("Connecting", Tone::Neutral),
        ConnectionState::CatchingUp => ("Catching up", Tone::Warn),
        ConnectionState::Live => ("Live", Tone::Good),
        ConnectionState::Lost => ("Reconnecting", Tone::Bad),
        ConnectionState::SignedOut => ("Not connected", Tone::Bad),
    };
    view! {
        <span class="connection" role="status" data-tone=move || label().1.as_str()>
            {move || label().0}
        </span>
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spending_names_the_day_and_the_last_hour() {
        assert_eq!(spending(18_420_000, 2_100_000).as_deref(), Some("$18.42 today · $2.10/h"));
        assert_eq!(spending(18_420_000, 0).as_deref(), Some("$18.42 today"));
        assert_eq!(spending(0, 0), None);
    }
}
