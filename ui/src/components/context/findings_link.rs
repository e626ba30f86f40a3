//! The link from a task, or from one of its runs, to the session in which its agents share what they found.

use domain::id::TaskId;
use leptos::prelude::*;

use crate::project_data::ProjectData;
use crate::route::{ContextPlace, Navigation, Route, Section};

/// Hidden until agents of the project share something.
#[component]
pub(crate) fn FindingsLink(task: TaskId, #[prop(into)] label: String) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let place = ContextPlace { task: Some(task), ..ContextPlace::default() };
    let (route, label) = (StoredValue::new(Route::Context { project: data.project(), place }), StoredValue::new(label));
    move || {
        data.is_used(Section::Context).then(|| {
            view! {
                <a href=route.with_value(Route::path) aria-label=label.get_value() on:click=move |event| navigation.follow(&event, route.get_value())>
                    "Findings"
                </a>
            }
        })
    }
}
