//! The tasks that a select field offers: the newest ones, because thousands of options would block the page.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::With;

use crate::store::Store;

const MAX_OPTIONS: usize = 200;

/// The newest loaded tasks that `is_offered` accepts, each with its label. Tracks all cards.
pub(crate) fn task_options(store: Store, is_offered: impl Fn(&Card) -> bool) -> Vec<(TaskId, String)> {
    let option = |card: &Card| (card.id.clone(), label(card));
    store.follow_cards(|cards| cards.iter().rev().filter(|card| is_offered(card)).take(MAX_OPTIONS).map(option).collect())
}

/// The label of one task: its id alone if it is not loaded.
pub(crate) fn task_label(store: Store, task: &TaskId) -> String {
    store.card(task).map_or_else(|| task.to_string(), |card| card.with(label))
}

fn label(card: &Card) -> String {
    format!("{} {}", card.id, domain::text::excerpt(&card.title, 60))
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;
    use leptos::prelude::Owner;

    use super::*;
    use crate::testing::{board, card};

    #[test]
    fn newest_tasks_are_offered_first_up_to_a_limit() {
        let owner = Owner::new();
        owner.set();
        let store = Store::provide();
        store.load(board((1..=300).map(|number| card(number, Status::Backlog)).collect()));
        let options = task_options(store, |card| card.id.number() % 2 == 0);
        assert_eq!(options[0], (TaskId::new(300), "TASK-300 Task 300".to_owned()));
        assert_eq!(options.len(), 150);
        assert_eq!([7, 999].map(|number| task_label(store, &TaskId::new(number))), ["TASK-007 Task 7", "TASK-999"]);
        assert_eq!(task_options(store, |_| true).len(), MAX_OPTIONS);
    }
}
