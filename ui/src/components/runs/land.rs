//! Links to the landing page: the button of a project with work to land, and the badge of its last landing.
//!
//! Must not know what a landing consists of: the page does.

pub(crate) mod check;
pub(crate) mod contents;

use domain::board::project::ProjectStatus;
use domain::id::ProjectId;
use domain::runs::evidence::short;
use domain::runs::land::Landing;
use leptos::prelude::*;

use crate::components::icon::{BRANCH, Icon};
use crate::overview::Overview;
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// Whether the project branch has merged work that the base branch lacks.
pub(crate) fn can_land(store: Store) -> Memo<bool> {
    Memo::new(move |_| {
        let has_merged_work = store.totals.with(|totals| totals.merged > 0);
        store.project.with(|project| project.as_ref().is_some_and(|project| project.has_unlanded_work(has_merged_work)))
    })
}

/// The button that opens the landing page. It is the loudest thing on the board once nothing else is left to do.
#[component]
pub(crate) fn LandLink() -> impl IntoView {
    let (store, navigation, data) = (Store::from_context(), Navigation::from_context(), ProjectData::from_context());
    let can_land = can_land(store);
    let is_next = Memo::new(move |_| {
        let complete = store.project.with(|project| project.as_ref().is_some_and(|project| project.status == ProjectStatus::Complete));
        complete && navigation.get().task().is_none()
    });
    let projects = Overview::from_context().projects.watch().value;
    let tasks = Memo::new(move |_| {
        let project = data.project();
        projects.with(|projects| projects.iter().flatten().find(|summary| summary.project.id == project).and_then(|summary| summary.ready_to_land))
    });
    let route = Route::Land { project: data.project(), landing: None };
    view! {
        <Show when=move || can_land.get()>
            <a
                class="button"
                class:primary=move || is_next.get()
                href=route.path()
                on:click={
                    let route = route.clone();
                    move |event| navigation.follow(&event, route.clone())
                }
            >
                <Icon drawing=BRANCH />
                {move || land_label(tasks.get())}
            </a>
        </Show>
    }
}

/// The text of the button, with the number of tasks that no landing brought yet.
fn land_label(tasks: Option<u32>) -> String {
    tasks.map_or_else(|| "Land".to_owned(), |tasks| format!("Land {tasks}"))
}

/// The short name of a landing.
pub(crate) fn landed_label(landing: &Landing) -> String {
    let way = if landing.pull_request.is_some() { "Merged by pull request into" } else { "Landed on" };
    let landed = format!("{way} {} at {}", landing.base_branch, short(&landing.sha));
    if landing.undone_at.is_some() { format!("{landed}, undone") } else { landed }
}

/// A badge that opens the page of a landing.
#[component]
pub(crate) fn LandedBadge(project: ProjectId, landing: Landing) -> impl IntoView {
    let navigation = Navigation::from_context();
    let route = Route::Land { project, landing: Some(landing.id) };
    view! {
        <a class="badge" data-tone="good" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            {landed_label(&landing)}
        </a>
    }
}
