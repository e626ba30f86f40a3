//! The board as a graph: the tasks in layers, each after the ones that it waits for.

use std::collections::BTreeSet;

use domain::board::card::Card;
use domain::board::order::start_order;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::MouseEvent;

use crate::components::badge::card_state::CardState;
use crate::components::board::graph::{DependencyGraph, GraphTask};
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// More tasks would make a graph that nobody can read.
const MAX_TASKS: usize = 300;

#[component]
pub(crate) fn GraphPage() -> impl IntoView {
    let (store, navigation, data) = (Store::from_context(), Navigation::from_context(), ProjectData::from_context());
    let all = Memo::new(move |_| store.follow_cards(shown));
    let tasks = Memo::new(move |_| all.with(|all| all.iter().take(MAX_TASKS).cloned().collect::<Vec<_>>()));
    let hidden = Memo::new(move |_| all.with(Vec::len).saturating_sub(MAX_TASKS));
    let pointed = RwSignal::new(None::<TaskId>);
    let route = move |task| Route::Board { project: data.project(), task: Some(task) };
    let href = Callback::new(move |task| route(task).path());
    let open = Callback::new(move |(task, event): (TaskId, MouseEvent)| navigation.follow(&event, route(task)));
    let empty = Memo::new(move |_| tasks.with(Vec::is_empty));
    let board = Route::Board { project: data.project(), task: None };
    view! {
        <div class="graph-page">
            <div class="row">
                <h2>"Dependencies"</h2>
                <span class="faint small-text">"Open tasks and what they wait for, from left to right."</span>
                <a class="button quiet small spacer" href=board.path() on:click=move |event| navigation.follow(&event, board.clone())>"Back to the board"</a>
            </div>
            <Show when=move || empty.get()>
                <p class="empty soft">"No open task. Add one on the board."</p>
            </Show>
            <Show when=move || hidden.get() != 0>
                <p class="notice" data-tone="warn">{move || format!("{} more tasks are not drawn.", hidden.get())}</p>
            </Show>
            <div class="graph-scroll" tabindex="0" role="region" aria-label="Graph of the tasks">
                <DependencyGraph tasks=tasks pointed=pointed href=href open=open />
            </div>
        </div>
    }
}

/// The open tasks in the order in which they start, and the finished ones that they wait for.
fn shown(cards: &[Card]) -> Vec<GraphTask> {
    let mut open: Vec<&Card> = cards.iter().filter(|card| card.status.is_open()).collect();
    open.sort_by_key(|card| start_order(card));
    let needed: BTreeSet<&TaskId> = open.iter().flat_map(|card| &card.depends_on).collect();
    let is_needed = |card: &&Card| !card.status.is_open() && needed.contains(&card.id);
    let finished: Vec<&Card> = cards.iter().filter(is_needed).collect();
    let task =
        |card: &Card| GraphTask { id: card.id.clone(), title: card.title.clone(), state: CardState::of(card), depends_on: card.depends_on.clone() };
    finished.into_iter().chain(open.iter().copied()).map(task).collect()
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;

    use super::*;
    use crate::testing::card;

    #[test]
    fn graph_has_open_tasks_and_what_they_wait_for() {
        let [open, done, other] = [Status::ALL[0], Status::ALL[3], Status::ALL[3]];
        let waiting = Card { depends_on: vec![TaskId::new(1)], ..card(4, open) };
        let urgent = Card { priority: 1, ..card(5, open) };
        let cards = [card(1, done), card(2, other), waiting, urgent];
        assert_eq!(shown(&cards).iter().map(|task| task.id.number()).collect::<Vec<_>>(), [1, 5, 4]);
    }
}
