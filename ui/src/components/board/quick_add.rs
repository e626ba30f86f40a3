//! The field at the top of a column that adds a task with one line. No agent starts by Enter alone, because it costs money: *Start* and Ctrl+Enter
//! add the task and send it straight to a coder.

use domain::board::task::NewTask;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, SubmitEvent};

use crate::client::Client;
use crate::components::board::column::AddButton;
use crate::components::form::has_text;
use crate::draft::{discard, draft, store_draft};
use crate::project_data::{OpenDialog, ProjectData};
use crate::reveal::Reveal;

#[component]
pub(crate) fn QuickAdd(data: ProjectData) -> impl IntoView {
    let (client, reveal) = (Client::from_context(), Reveal::from_context());
    let project = data.project();
    let (key, in_dialog) = (StoredValue::new(format!("quick/{project}")), StoredValue::new(format!("task/{project}/title")));
    let title = key.with_value(|key| draft(key));
    let sending = RwSignal::new(false);
    let has_title = Memo::new(move |_| has_text(title));
    let add = move |start: bool| {
        if sending.get_untracked() || !has_title.get_untracked() {
            return;
        }
        sending.set(true);
        let new = NewTask { title: title.get_untracked(), start, ..NewTask::default() };
        client.watch(client.create_task(data.project(), new), move |result| {
            let _page_closed = sending.try_set(false);
            if let Ok(task) = result {
                key.try_with_value(|key| discard(key));
                let _page_closed = title.try_set(String::new());
                // The focus stays in the field, for the next task.
                reveal.show(task.id, false);
            }
        });
    };
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        add(false);
    };
    let pressed = move |event: KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            add(true);
        }
    };
    let more = move |_| {
        in_dialog.with_value(|key| store_draft(key, &title.get_untracked()));
        key.with_value(|key| discard(key));
        title.set(String::new());
        data.dialog.set(OpenDialog::NewTask);
    };
    view! {
        <form class="quick-add" on:submit=submit>
            <input
                class="input"
                aria-label="Add a task, held until you start it"
                placeholder="Add a task"
                title="Enter adds a held task, Ctrl+Enter adds and starts it"
                aria-keyshortcuts="Control+Enter"
                maxlength="500"
                enterkeyhint="done"
                autocomplete="off"
                aria-busy=move || sending.get().to_string()
                bind:value=title
                on:keydown=pressed
            />
        </form>
        {move || match has_title.get() {
            true => view! {
                <button
                    type="button"
                    class="button small"
                    title="Ctrl+Enter"
                    aria-label="Add the task and start it"
                    disabled=move || sending.get()
                    on:click=move |_| add(true)
                >
                    "Start"
                </button>
                <button type="button" class="button quiet small" on:click=more>"More fields"</button>
            }
            .into_any(),
            false => view! { <AddButton /> }.into_any(),
        }}
    }
}
