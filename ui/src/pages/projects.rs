//! The list of projects, and the way to a new one.

use domain::board::project::Project;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::badge::{Badge, project_look};
use crate::components::icon::{Icon, PLUS};
use crate::components::new_project::NewProjectDialog;
use crate::components::top_bar::TopBar;
use crate::keys::{Key, listen};
use crate::route::{Navigation, Route};
use crate::time::Clock;

/// What is known of the list.
#[derive(Clone)]
enum Listing {
    Reading,
    Known(Vec<Project>),
    Failed(String),
}

#[component]
pub(crate) fn ProjectsPage(
    /// Whether the address meant no page.
    unknown: bool,
) -> impl IntoView {
    let client = Client::here();
    let listing = RwSignal::new(Listing::Reading);
    let creating = RwSignal::new(false);
    let read = move || {
        spawn_local(async move {
            let answer = match client.projects().await {
                Ok(list) => Listing::Known(list.items),
                Err(Failure::Unreachable(what)) => Listing::Failed(what),
                Err(Failure::Refused(problem)) => Listing::Failed(problem.detail),
                Err(Failure::SignedOut) => return,
            };
            let _page_was_left = listing.try_set(answer);
        });
    };
    read();
    listen(move |key| {
        if key == Key::New {
            creating.set(true);
        }
    });
    Effect::new(|| document().set_title("vibe-relay"));

    let list = move || match listing.get() {
        Listing::Reading => view! { <p class="soft" role="status">"Reading…"</p> }.into_any(),
        Listing::Failed(what) => view! {
            <div class="empty" role="alert">
                <h2>"The projects could not be read"</h2>
                <p>{what}</p>
                <button type="button" class="button" on:click=move |_| read()>"Try again"</button>
            </div>
        }
        .into_any(),
        Listing::Known(projects) if projects.is_empty() => view! { <Welcome creating=creating /> }.into_any(),
        Listing::Known(projects) => {
            let rows = projects.into_iter().map(|project| view! { <li><ProjectRow project=project /></li> }).collect_view();
            view! { <ul class="projects">{rows}</ul> }.into_any()
        }
    };
    view! {
        <TopBar />
        <main class="page">
            {unknown.then(|| view! {
                <div class="notice" data-tone="warn" role="status">"There is nothing at this address. These are your projects."</div>
            })}
            <div class="page-head">
                <h1>"Projects"</h1>
                <Show when=move || listing.with(|listing| matches!(listing, Listing::Known(projects) if !projects.is_empty()))>
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
    let (navigation, clock) = (Navigation::here(), Clock::here());
    let route = Route::Board { project: project.id.clone(), task: None };
    let (word, tone) = project_look(project.status);
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
                <Badge word=word tone=tone />
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

/// The first thing a new person sees.
#[component]
fn Welcome(creating: RwSignal<bool>) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>"Name a repository and a goal"</h2>
            <p>
                "A planner breaks the goal into tasks. Coders work on them at the same time, each in a worktree of its own. "
                "A reviewer judges every change, and what it approves is merged into a branch of its own: your checkout stays as it is."
            </p>
            <NewProjectButton creating=creating />
            <p class="small-text keys">"Or press " <kbd>"n"</kbd></p>
        </div>
    }
}
