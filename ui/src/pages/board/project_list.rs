//! The list of projects.

use domain::board::project::Project;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::badge::{Badge, project_badge};
use crate::components::board::new_project::NewProjectDialog;
use crate::components::board::report::AbsenceReport;
use crate::components::icon::{Icon, PLUS};
use crate::components::runs::pause::{PauseAll, PausedBadge};
use crate::components::top_bar::TopBar;
use crate::keys::{Key, listen};
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::time::Clock;

/// The state of the list.
#[derive(Clone)]
enum Listing {
    Loading,
    Loaded(Vec<Project>),
    Failed(String),
}

#[component]
pub(crate) fn ProjectsPage(
    /// Whether the address belongs to no page.
    unknown: bool,
) -> impl IntoView {
    let client = Client::from_context();
    let listing = RwSignal::new(Listing::Loading);
    let creating = RwSignal::new(false);
    let load = move || {
        spawn_local(async move {
            let answer = match client.projects().await {
                Ok(list) => Listing::Loaded(list.items),
                Err(Failure::Unreachable(what)) => Listing::Failed(what),
                Err(Failure::Refused(problem)) => Listing::Failed(problem.detail),
                Err(Failure::SignedOut) => return,
            };
            let _page_closed = listing.try_set(answer);
        });
    };
    load();
    let (navigation, may_write) = (Navigation::from_context(), Reader::may_write());
    listen(move |key| match key {
        Key::New if may_write => creating.set(true),
        Key::Settings => navigation.go(Route::Settings),
        _ => {}
    });
    Effect::new(|| document().set_title("vibe-relay"));

    let list = move || match listing.get() {
        Listing::Loading => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Listing::Failed(what) => view! {
            <div class="empty" role="alert">
                <h2>"Could not load the projects"</h2>
                <p>{what}</p>
                <button type="button" class="button" on:click=move |_| load()>"Try again"</button>
            </div>
        }
        .into_any(),
        Listing::Loaded(projects) if projects.is_empty() && !may_write => view! {
            <div class="empty">
                <h2>"No projects yet"</h2>
                <p>{READ_ONLY}</p>
            </div>
        }
        .into_any(),
        Listing::Loaded(projects) if projects.is_empty() => view! { <Welcome creating=creating /> }.into_any(),
        Listing::Loaded(projects) => {
            let rows = projects.into_iter().map(|project| view! { <li><ProjectRow project=project /></li> }).collect_view();
            view! { <ul class="projects">{rows}</ul> }.into_any()
        }
    };
    view! {
        <TopBar />
        <main class="page">
            {unknown.then(|| view! {
                <div class="notice" data-tone="warn" role="status">"This page does not exist. Here are your projects."</div>
            })}
            <AbsenceReport />
            <div class="page-head">
                <h1>"Projects"</h1>
                <Show when=move || may_write && listing.with(|listing| matches!(listing, Listing::Loaded(projects) if !projects.is_empty()))>
                    <PauseAll />
                    <NewProjectButton creating=creating />
                </Show>
            </div>
            {list}
        </main>
        <Show when=move || creating.get()>
            <NewProjectDialog close=Callback::new(move |()| creating.set(false)) />
        </Show>
    }
}

#[component]
fn ProjectRow(project: Project) -> impl IntoView {
    let (navigation, clock) = (Navigation::from_context(), Clock::from_context());
    let route = Route::Board { project: project.id.clone(), task: None };
    let (label, tone) = project_badge(project.status);
    let goal = project.description.as_deref().map(|goal| domain::text::excerpt(goal, 120));
    let updated = project.updated_at;
    view! {
        <a class="project-row" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            <h2>{project.title}</h2>
            <p class="meta">
                <span class="mono">{project.repo_path}</span>
                {goal.map(|goal| format!(" · {goal}"))}
            </p>
            <div class="state">
                <Badge label=label tone=tone />
                {project.paused_at.map(|_| view! { <PausedBadge /> })}
                <span class="faint small-text">{move || clock.ago(updated)}</span>
            </div>
        </a>
    }
}

#[component]
fn NewProjectButton(creating: RwSignal<bool>) -> impl IntoView {
    view! {
        <button type="button" class="button primary" on:click=move |_| creating.set(true)>
            <Icon drawing=PLUS />
            "New project"
        </button>
    }
}

/// The page before the first project.
#[component]
fn Welcome(creating: RwSignal<bool>) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>"Create your first project"</h2>
            <p>
                "Name a repository and a goal. A planner breaks the goal into tasks, and coders work on them in parallel, each in its own worktree. "
                "A reviewer checks every change, and approved work is merged into a project branch. Your checkout stays unchanged."
            </p>
            <NewProjectButton creating=creating />
            <p class="small-text keys">"Or press " <kbd>"n"</kbd></p>
        </div>
    }
}
