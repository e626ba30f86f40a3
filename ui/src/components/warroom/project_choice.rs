//! A choice about a project with a few options: what is chosen and what it means, and buttons for those who may choose. Must not know which choice.

use domain::wire::ProjectPatch;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::form::Sending;
use crate::project_data::ProjectData;

/// One option: its name, its meaning, and the change that chooses it.
#[derive(Debug, Clone)]
pub(super) struct ProjectOption<T> {
    pub(super) value: T,
    pub(super) label: &'static str,
    pub(super) meaning: &'static str,
    pub(super) patch: ProjectPatch,
}

#[component]
pub(super) fn ProjectChoice<T: Copy + PartialEq + Send + Sync + 'static>(
    id: &'static str,
    label: &'static str,
    options: Vec<ProjectOption<T>>,
    chosen: Memo<Option<T>>,
    may_choose: bool,
) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let meaning_id = format!("{id}-meaning");
    let meanings: Vec<(T, &str)> = options.iter().map(|option| (option.value, option.meaning)).collect();
    let meaning = move || chosen.get().and_then(|chosen| meanings.iter().find(|(value, _)| *value == chosen)).map(|(_, meaning)| *meaning);
    let button = move |ProjectOption { value, label, patch, .. }: ProjectOption<T>| {
        let choose = move |_| {
            if chosen.get_untracked() != Some(value) && !untrack(|| sending.is_busy()) {
                sending.run(client.edit_project(data.project(), patch.clone()), |_| {});
            }
        };
        view! { <button type="button" aria-pressed=move || (chosen.get() == Some(value)).to_string() on:click=choose>{label}</button> }
    };
    let buttons = may_choose.then(|| {
        view! {
            <div class="segment" role="group" aria-labelledby=id aria-describedby=meaning_id.clone()>
                {options.into_iter().map(button).collect_view()}
            </div>
        }
    });
    view! {
        <div class="project-choice">
            <span id=id class="small-text">{label}</span>
            {buttons}
            <p id=meaning_id class="faint small-text">{meaning}</p>
        </div>
    }
    .into_any()
}
