//! A task where something else speaks of it.

use domain::id::TaskId;
use leptos::prelude::*;

use crate::room::Room;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// A task by id and title, to open its sheet.
#[component]
pub(crate) fn TaskLink(task: TaskId) -> impl IntoView {
    let (room, navigation) = (Room::here(), Navigation::here());
    let title = Store::here().card(&task).map(|card| move || card.with(|card| card.title.clone()));
    let id = task.to_string();
    let route = Route::Board { project: room.project(), task: Some(task) };
    view! {
        <a class="task-link" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            <span class="mono">{id}</span>
            " "
            {title}
        </a>
    }
}
