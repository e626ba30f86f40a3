//! The editable fields of a task: title, description and dependencies. Used for new tasks, for edits and in a plan.

use domain::id::TaskId;
use domain::task::Card;
use leptos::prelude::*;

use crate::components::badge::status_label;
use crate::components::form::{TextArea, TextField, has_text};
use crate::store::Store;

/// The fields while they are being edited.
#[derive(Clone, Copy)]
pub(crate) struct TaskDraft {
    pub(crate) title: RwSignal<String>,
    pub(crate) description: RwSignal<String>,
    pub(crate) depends_on: RwSignal<Vec<TaskId>>,
}

impl TaskDraft {
    pub(crate) fn new(title: String, description: String, depends_on: Vec<TaskId>) -> Self {
        Self { title: RwSignal::new(title), description: RwSignal::new(description), depends_on: RwSignal::new(depends_on) }
    }

    /// Whether the required fields are filled.
    pub(crate) fn is_ready(self) -> bool {
        has_text(self.title)
    }
}

/// `task` is the edited task, which cannot depend on itself.
#[component]
pub(crate) fn TaskFields(
    draft: TaskDraft,
    #[prop(optional_no_strip)] task: Option<TaskId>,
    /// Whether the fields are part of a page rather than of a dialog.
    #[prop(optional)]
    inline: bool,
) -> impl IntoView {
    let others: Vec<Card> = Store::from_context()
        .cards_now()
        .into_iter()
        .filter(|card| Some(&card.id) != task.as_ref())
        .filter(|card| card.status.is_open() || draft.depends_on.with_untracked(|chosen| chosen.contains(&card.id)))
        .collect();
    let waits = draft.depends_on;
    let summary = move || match waits.with(Vec::len) {
        0 => "No dependencies".to_owned(),
        _ => format!("Depends on {}", waits.with(|waits| waits.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))),
    };
    let choices = others
        .into_iter()
        .map(|card| {
            let (picked, toggled) = (card.id.clone(), card.id.clone());
            let toggle = move |on: bool| {
                waits.update(|waits| {
                    waits.retain(|known| *known != toggled);
                    if on {
                        waits.push(toggled.clone());
                    }
                });
            };
            view! {
                <label class="check">
                    <input
                        type="checkbox"
                        prop:checked=move || waits.with(|waits| waits.contains(&picked))
                        on:change:target=move |event| toggle(event.target().checked())
                    />
                    <span class="mono">{card.id.to_string()}</span>
                    <span class="check-title">{card.title}</span>
                    <span class="faint">{status_label(card.status)}</span>
                </label>
            }
        })
        .collect_view();
    view! {
        <TextField id="task-title" label="Title" value=draft.title max_length=500 autofocus=!inline />
        <TextArea
            id="task-description"
            label="Description"
            value=draft.description
            placeholder="What to do, and how to tell that it is done"
        />
        <details class="fold">
            <summary>{summary}</summary>
            <div class="checks" role="group" aria-label="Dependencies">{choices}</div>
        </details>
    }
}
