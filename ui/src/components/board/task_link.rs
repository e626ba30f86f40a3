//! A link to a task.

use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;

use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// The id and title of a task. A click opens its panel.
#[component]
pub(crate) fn TaskLink(
    task: TaskId,
    /// Its project, if it is not the one of the page.
    #[prop(optional_no_strip)]
    project: Option<ProjectId>,
) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let title = Store::from_context().card(&task).map(|card| move || card.with(|card| card.title.clone()));
    let id = task.to_string();
    let route = Route::Board { project: project.unwrap_or_else(|| data.project()), task: Some(task) };
    view! {
        <a class="task-link" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            <span class="mono">{id}</span>
            " "
            {title}
        </a>
    }
}
