//! The editable fields of a task: title, description and dependencies. Used for new tasks, for edits and in a plan.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::status_label;
use crate::components::form::{TextArea, TextField, has_text};
use crate::draft::{discard, draft_from};
use crate::filter::matches;
use crate::store::Store;

/// More choices would make the dialog slow. The filter finds the others.
const MAX_CHOICES: usize = 100;

/// The fields while they are being edited.
#[derive(Clone, Copy)]
pub(crate) struct TaskDraft {
    pub(crate) title: RwSignal<String>,
    pub(crate) description: RwSignal<String>,
    pub(crate) depends_on: RwSignal<Vec<TaskId>>,
}

impl TaskDraft {
    /// The texts are drafts below `key`.
    pub(crate) fn new(key: &str, title: String, description: String, depends_on: Vec<TaskId>) -> Self {
        Self {
            title: draft_from(&format!("{key}/title"), title),
            description: draft_from(&format!("{key}/description"), description),
            depends_on: RwSignal::new(depends_on),
        }
    }

    /// Removes the drafts, after the task was saved.
    pub(crate) fn discard(key: &str) {
        ["title", "description"].iter().for_each(|field| discard(&format!("{key}/{field}")));
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
    let store = Store::from_context();
    let query = RwSignal::new(String::new());
    let open = RwSignal::new(false);
    let depends_on = draft.depends_on;
    let summary = move || match depends_on.with(Vec::len) {
        0 => "No dependencies".to_owned(),
        _ => format!("Depends on {}", depends_on.with(|depends_on| depends_on.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", "))),
    };
    // The list is drawn only while it is open.
    let choices = move || {
        let query = query.get();
        let is_offered = |card: &&Card| {
            Some(&card.id) != task.as_ref()
                && (card.status.is_open() || depends_on.with_untracked(|depends_on| depends_on.contains(&card.id)))
                && matches(card, &query)
        };
        let cards = if open.get() { store.cards_where(is_offered, MAX_CHOICES) } else { Vec::new() };
        cards.into_iter().map(|card| view! { <DependencyChoice card=card chosen=depends_on /> }).collect_view()
    };
    view! {
        <TextField id="task-title" label="Title" value=draft.title max_length=500 autofocus=!inline />
        <TextArea
            id="task-description"
            label="Description"
            value=draft.description
            placeholder="What to do, and how to tell that it is done"
        />
        <details class="fold" on:toggle:target=move |event| open.set(event.target().open())>
            <summary>{summary}</summary>
            <input
                class="input"
                type="search"
                placeholder="Filter tasks"
                aria-label="Filter tasks"
                on:keydown=move |event| {
                    // Enter would submit the form.
                    if event.key() == "Enter" {
                        event.prevent_default();
                    }
                }
                bind:value=query
            />
            <div class="checks" role="group" aria-label="Dependencies">{choices}</div>
        </details>
    }
}

#[component]
fn DependencyChoice(card: Card, chosen: RwSignal<Vec<TaskId>>) -> impl IntoView {
    let (own, toggled) = (card.id.clone(), card.id.clone());
    let toggle = move |on: bool| {
        chosen.update(|chosen| {
            chosen.retain(|known| *known != toggled);
            if on {
                chosen.push(toggled.clone());
            }
        });
    };
    view! {
        <label class="check">
            <input
                type="checkbox"
                prop:checked=move || chosen.with(|chosen| chosen.contains(&own))
                on:change:target=move |event| toggle(event.target().checked())
            />
            <span class="mono">{card.id.to_string()}</span>
            <span class="check-title">{card.title}</span>
            <span class="faint">{status_label(card.status)}</span>
        </label>
    }
}
