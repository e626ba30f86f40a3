//! The tasks that wait for a task.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::status_label;
use crate::components::board::task_link::TaskLink;
use crate::store::Store;

/// More would hide the rest of the page.
const MAX_SHOWN: usize = 50;

#[component]
pub(crate) fn Dependents(task: TaskId) -> impl IntoView {
    let store = Store::from_context();
    let waiting = Memo::new(move |_| {
        store.follow_cards(|cards| {
            let waits = |card: &&Card| card.depends_on.contains(&task);
            cards.iter().filter(waits).take(MAX_SHOWN).map(|card| (card.id.clone(), status_label(card.status))).collect::<Vec<_>>()
        })
    });
    move || {
        let waiting = waiting.get();
        (!waiting.is_empty()).then(|| {
            let links = waiting.into_iter().map(|(id, status)| {
                view! {
                    <li>
                        <TaskLink task=id />
                        <span class="faint">{format!(" · {status}")}</span>
                    </li>
                }
            });
            view! {
                <section class="section" aria-label="Tasks that wait for this one">
                    <h2>"Waits for this"</h2>
                    <ul class="linked">{links.collect_view()}</ul>
                </section>
            }
        })
    }
}
