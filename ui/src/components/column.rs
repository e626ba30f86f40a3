//! One column: its cards in order, at most so many at a time, and what it looks like as a place to drop a card.

use domain::board::status::Status;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::{status_empty, status_folds, status_tone, status_word};
use crate::components::card::TaskCard;
use crate::drag::Drag;
use crate::filter::matches;
use crate::store::Store;

/// How many cards are drawn at first, and added by each "show more".
const PAGE: usize = 50;

#[component]
pub(crate) fn Column(status: Status, #[prop(into)] query: Signal<String>) -> impl IntoView {
    let (store, drag) = (Store::here(), Drag::here());
    let all = store.column(status);
    let limit = RwSignal::new(PAGE);

    let found = Memo::new(move |_| {
        let query = query.get();
        let ids = all.get();
        if query.trim().is_empty() {
            return ids;
        }
        ids.into_iter().filter(|id| store.card(id).is_some_and(|card| card.with(|card| matches(card, &query)))).collect::<Vec<TaskId>>()
    });
    let shown = move || found.with(|found| found.iter().take(limit.get()).cloned().collect::<Vec<_>>());
    let more = move || found.with(Vec::len).saturating_sub(limit.get());
    let empty = Memo::new(move |_| found.with(Vec::is_empty));

    let target =
        Memo::new(move |_| drag.carried.with(|carried| carried.as_ref().is_some_and(|carried| carried.targets.iter().any(|(to, _)| *to == status))));
    let over = Memo::new(move |_| drag.carried.with(|carried| carried.as_ref().is_some_and(|carried| carried.over == Some(status))));
    let origin = Memo::new(move |_| drag.carried.with(|carried| carried.as_ref().is_some_and(|carried| carried.from == status)));
    let collapsed = move || status_folds(status) && empty.get();
    let count = move || {
        let (found, all) = (found.with(Vec::len), all.with(Vec::len));
        if found == all { all.to_string() } else { format!("{found} of {all}") }
    };
    let heading = format!("column-{status}");
    let labelled = heading.clone();

    view! {
        <section
            class="column"
            data-status=status.as_str()
            data-tone=status_tone(status).as_str()
            data-target=move || target.get().then_some("")
            data-over=move || over.get().then_some("")
            data-origin=move || origin.get().then_some("")
            data-empty=move || empty.get().then_some("")
            data-collapsed=move || collapsed().then_some("")
            aria-labelledby=labelled
        >
            <header>
                <h2 id=heading.clone()>{status_word(status)}</h2>
                <span class="count">
                    {count}
                    <span class="visually-hidden">" cards"</span>
                </span>
                <span class="drop-hint" aria-hidden="true">"Drop here"</span>
            </header>
            <div class="cards">
                <Show when=move || empty.get()>
                    <p class="nothing">
                        {move || if all.with(Vec::is_empty) { status_empty(status) } else { "No card matches the filter." }}
                    </p>
                </Show>
                <ul aria-labelledby=heading>
                    <For each=shown key=TaskId::clone let:id>
                        <li>{store.card(&id).map(|card| view! { <TaskCard id=id card=card /> })}</li>
                    </For>
                </ul>
                <Show when=move || more() != 0>
                    <button type="button" class="button quiet" on:click=move |_| limit.update(|limit| *limit += PAGE)>
                        {move || format!("Show {} more of {}", more().min(PAGE), more())}
                    </button>
                </Show>
            </div>
        </section>
    }
}
