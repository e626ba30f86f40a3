//! The data of one task for its panel and its page: the card from the store, and the rest, requested again when the card changes.
//!
//! Must not draw anything.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::wire::TaskView;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::runs::attempt::RunState;
use crate::project_data::ProjectData;
use crate::store::Store;

#[derive(Clone, Copy)]
pub(crate) struct TaskData {
    pub(crate) card: Signal<Card>,
    pub(crate) view: RwSignal<Option<TaskView>>,
    /// Why the rest cannot be read.
    pub(crate) missing: RwSignal<Option<String>>,
}

impl TaskData {
    /// Follows a task for as long as the current owner lives.
    pub(crate) fn follow(task: TaskId, card: ArcRwSignal<Card>) -> Self {
        let client = Client::from_context();
        let card: Signal<Card> = RwSignal::from(card).into();
        let data = Self { card, view: RwSignal::new(None), missing: RwSignal::new(None) };
        let changed = Memo::new(move |_| {
            card.with(|card| (card.updated_at, card.comments, card.runs, card.run.is_some(), card.held_by, card.attention.clone()))
        });
        Effect::new(move || {
            // Read, not only tracked: a memo tracks nothing before its first read.
            changed.with(|_| ());
            let request = client.task(task.clone());
            spawn_local(async move {
                match request.await {
                    Ok(found) => {
                        let _page_closed = data.view.try_set(Some(found));
                    }
                    Err(Failure::Refused(problem)) => {
                        let _page_closed = data.missing.try_set(Some(problem.detail));
                    }
                    // The connection mark reports it, and the next change of the card repeats the request.
                    Err(Failure::Unreachable(_) | Failure::SignedOut) => {}
                }
            });
        });
        data
    }

    pub(crate) fn comments(self) -> Memo<u32> {
        Memo::new(move |_| self.card.with(|card| card.comments))
    }

    pub(crate) fn runs(self) -> Memo<RunState> {
        Memo::new(move |_| self.card.with(|card| (card.runs, card.run.as_ref().map(|run| (run.id.clone(), run.stopping)))))
    }

    /// Differs after each start and end of a run.
    pub(crate) fn version(self) -> Memo<u64> {
        Memo::new(move |_| self.card.with(|card| u64::from(card.runs) * 2 + u64::from(card.run.is_some())))
    }
}

/// The card of a task: from the store, or requested if the board has not loaded it, such as that of an older finished task. The second
/// signal says why there is none.
pub(crate) fn load_card(task: &TaskId) -> (RwSignal<Option<ArcRwSignal<Card>>>, RwSignal<Option<String>>) {
    let (client, store, project) = (Client::from_context(), Store::from_context(), ProjectData::from_context().project());
    let card = RwSignal::new(store.card(task));
    let failure = RwSignal::new(None);
    if card.with_untracked(Option::is_some) {
        return (card, failure);
    }
    let (task, request) = (task.clone(), client.task(task.clone()));
    spawn_local(async move {
        let result = request.await;
        // A closed page needs no card.
        if card.is_disposed() {
            return;
        }
        match result {
            Ok(view) if view.task.card.project_id == project => {
                store.add_cards(vec![view.task.card]);
                card.set(store.card(&task));
            }
            Ok(_) => failure.set(Some(format!("{task} belongs to another project"))),
            Err(Failure::Refused(problem)) => failure.set(Some(problem.detail)),
            Err(Failure::Unreachable(reason)) => failure.set(Some(reason)),
            Err(Failure::SignedOut) => {}
        }
    });
    (card, failure)
}
