//! The fields of a task that a person writes: title, description, and what it waits for. Used for a new task, for editing one, and
//! within a plan.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::status_word;
use crate::components::form::{LineField, WordsField, written};
use crate::store::Store;

/// The fields while they are edited.
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

    /// Whether there is enough to send.
    pub(crate) fn is_ready(self) -> bool {
        written(self.title)
    }
}

/// `task` is the one that is edited, which cannot wait for itself.
#[component]
pub(crate) fn TaskFields(
    draft: TaskDraft,
    #[prop(optional_no_strip)] task: Option<TaskId>,
    /// Whether they stand in a page rather than in a dialog of their own.
    #[prop(optional)]
    inline: bool,
) -> impl IntoView {
    let others: Vec<Card> = Store::here()
        .cards_now()
        .into_iter()
        .filter(|card| Some(&card.id) != task.as_ref())
        .filter(|card| card.status.is_open() || draft.depends_on.with_untracked(|chosen| chosen.contains(&card.id)))
        .collect();
    let waits = draft.depends_on;
    let summary = move || match waits.with(Vec::len) {
        0 => "Waits for nothing".to_owned(),
        _ => format!("Waits for {}", waits.with(|waits| waits.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))),
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
                    <span class="faint">{status_word(card.status)}</span>
                </label>
            }
        })
        .collect_view();
    view! {
        <LineField id="task-title" label="Title" value=draft.title longest=500 autofocus=!inline />
        <WordsField
            id="task-description"
            label="Description"
            value=draft.description
            placeholder="What is to be done, and how one can tell that it is done"
        />
        <details class="fold">
            <summary>{summary}</summary>
            <div class="checks" role="group" aria-label="Waits for">{choices}</div>
        </details>
    }
}
