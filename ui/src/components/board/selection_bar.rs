//! The bar below the board with the actions that all selected cards offer.
//!
//! Must not know a legal move: the transition table offers moves, a card offers the rest, and the server decides.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use leptos::prelude::*;

use crate::change::{Change, PRIORITIES};
use crate::components::badge::status_label;
use crate::components::icon::{CHEVRON, CLOSE, Icon};
use crate::components::menu::{MenuButton, MenuItem};
use crate::lazy::lazy;
use crate::moves::{Moves, is_for_several};
use crate::parts;
use crate::selection::Selection;
use crate::socket::Live;
use crate::store::Store;

/// The actions that all of some cards offer.
#[derive(Debug, Clone, Default, PartialEq)]
struct Offer {
    tasks: Vec<TaskId>,
    can_start: bool,
    can_hold: bool,
    can_order: bool,
    /// The columns that all of them can move to.
    targets: Vec<(Status, Requirement)>,
    /// The move that gives all of them up.
    cancel: Option<(Status, Requirement)>,
}

impl Offer {
    fn of(cards: &[Card]) -> Self {
        let all = |change: &Change| !cards.is_empty() && cards.iter().all(|card| change.is_offered(card));
        let common = common_targets(cards);
        Self {
            tasks: cards.iter().map(|card| card.id.clone()).collect(),
            can_start: all(&Change::Start),
            can_hold: all(&Change::Hold),
            can_order: all(&Change::priority(0)),
            cancel: common.iter().copied().find(|(to, needs)| !to.is_open() && *needs == Requirement::Reason),
            targets: common.into_iter().filter(|(to, needs)| is_for_several(*to, *needs)).collect(),
        }
    }
}

/// The targets that every card has with the same requirement.
fn common_targets(cards: &[Card]) -> Vec<(Status, Requirement)> {
    let mut targets = cards.iter().map(|card| target_columns(card.phase, card.status, Mover::Human));
    let first = targets.next().unwrap_or_default();
    targets.fold(first, |common, other| common.into_iter().filter(|target| other.contains(target)).collect())
}

/// The place of the bar in a page, and what it says to a screen reader.
#[component]
pub(crate) fn SelectionBar() -> impl IntoView {
    let (selection, store) = (Selection::from_context(), Store::from_context());
    let count = Memo::new(move |_| selection.tasks().iter().filter(|task| store.card(task).is_some()).count());
    let is_open = Memo::new(move |_| count.get() > 0);
    view! {
        <p class="visually-hidden" role="status">{move || is_open.get().then(|| selected(count.get()))}</p>
        {move || is_open.get().then(|| lazy(parts::selection_toolbar))}
    }
}

fn selected(count: usize) -> String {
    match count {
        1 => "1 task selected".to_owned(),
        count => format!("{count} tasks selected"),
    }
}

#[component]
pub(crate) fn SelectionToolbar() -> impl IntoView {
    let (selection, store, moves, live) = (Selection::from_context(), Store::from_context(), Moves::from_context(), Live::from_context());
    let offer = Memo::new(move |_| {
        let cards: Vec<Card> = selection.tasks().iter().filter_map(|task| store.card(task)).map(|card| card.get()).collect();
        Offer::of(&cards)
    });
    let apply = move |change: Change| {
        moves.apply(offer.with_untracked(|offer| offer.tasks.iter().map(|task| (task.clone(), change.clone())).collect()));
    };
    let cancel = move |()| {
        if let Some((to, needs)) = offer.with_untracked(|offer| offer.cancel) {
            moves.request(offer.with_untracked(|offer| offer.tasks.clone()), to, needs);
        }
    };
    let is_lost = Signal::derive(move || live.is_lost());
    let button = move |label: &'static str, is_offered: fn(&Offer) -> bool, act: Callback<()>| {
        view! {
            <Show when=move || offer.with(is_offered)>
                <button type="button" class="button" disabled=is_lost on:click=move |_| act.run(())>{label}</button>
            </Show>
        }
        .into_any()
    };
    let menu = move |label: &'static str, text: &'static str, is_offered: fn(&Offer) -> bool, items: ViewFn| {
        let items = StoredValue::new(items);
        view! {
            <Show when=move || offer.with(is_offered)>
                <MenuButton label=label text=text drawing=CHEVRON class="button" disabled=is_lost items=items.get_value() />
            </Show>
        }
        .into_any()
    };
    let priorities = move || {
        let item = |(priority, name)| view! { <MenuItem label=title_case(name) act=move |()| apply(Change::priority(priority)) /> };
        PRIORITIES.into_iter().map(item).collect_view()
    };
    let targets = move || {
        let Offer { tasks, targets, .. } = offer.get_untracked();
        let item = |(to, needs)| {
            let tasks = tasks.clone();
            view! { <MenuItem label=status_label(to) act=move |()| moves.request(tasks.clone(), to, needs) /> }
        };
        targets.into_iter().map(item).collect_view()
    };
    view! {
        <div class="selection-bar" role="toolbar" aria-label="Selected tasks">
            <strong class="tabular">{move || selected(offer.with(|offer| offer.tasks.len()))}</strong>
            {button("Start", |offer| offer.can_start, Callback::new(move |()| apply(Change::Start)))}
            {button("Hold", |offer| offer.can_hold, Callback::new(move |()| apply(Change::Hold)))}
            {menu("Priority", "Priority", |offer| offer.can_order, priorities.into())}
            {menu("Move to", "Move", |offer| !offer.targets.is_empty(), targets.into())}
            {button("Cancel tasks", |offer| offer.cancel.is_some(), Callback::new(cancel))}
            <button type="button" class="button quiet icon" aria-label="Clear the selection" title="Clear the selection (Esc)" on:click=move |_| selection.clear()>
                <Icon drawing=CLOSE />
            </button>
        </div>
    }
}

fn title_case(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use domain::board::status::HeldBy;

    use super::*;
    use crate::testing;

    #[test]
    fn bar_offers_only_what_all_selected_cards_can() {
        let held = Card { held_by: Some(HeldBy::Human), ..testing::card(1, Status::Backlog) };
        let (free, working) = (testing::card(2, Status::Backlog), testing::card(3, Status::InProgress));
        let one = Offer::of(std::slice::from_ref(&held));
        assert!(one.can_start && !one.can_hold && one.can_order && one.cancel.is_some());
        assert_eq!(one.targets.iter().map(|(to, _)| *to).collect::<Vec<_>>(), [Status::InProgress]);
        let both = Offer::of(&[held, free.clone()]);
        assert!(!both.can_start && !both.can_hold, "one is held, the other is not");
        let mixed = Offer::of(&[free, working]);
        assert!(mixed.can_hold && mixed.targets.is_empty() && mixed.cancel.is_some());
        let finished = Offer::of(&[testing::card(4, Status::Done)]);
        assert!(!finished.can_hold && !finished.can_order && finished.cancel.is_none());
        assert_eq!(Offer::of(&[]), Offer::default());
    }
}
