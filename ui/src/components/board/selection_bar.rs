//! The bar below the board with the actions that all selected cards offer.
//!
//! Must not know a legal move: the transition table offers moves, a card offers the rest, and the server decides.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::board::transition::{Mover, Requirement, target_columns};
use domain::id::TaskId;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, MouseEvent};

use crate::change::{Change, PRIORITIES};
use crate::components::badge::status_label;
use crate::components::icon::{CHEVRON, CLOSE, Icon};
use crate::components::menu::Menu;
use crate::moves::{Moves, is_for_several};
use crate::selection::Selection;
use crate::socket::Live;
use crate::store::Store;

/// A menu of the bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Choices {
    Priority,
    Move,
}

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

#[component]
pub(crate) fn SelectionBar() -> impl IntoView {
    let (selection, store, moves, live) = (Selection::from_context(), Store::from_context(), Moves::from_context(), Live::from_context());
    let offer = Memo::new(move |_| {
        let cards: Vec<Card> = selection.tasks().iter().filter_map(|task| store.card(task)).map(|card| card.get()).collect();
        Offer::of(&cards)
    });
    let menu = RwSignal::new_local(None::<(Choices, HtmlElement)>);
    let close = Callback::new(move |()| menu.set(None));
    let apply = move |change: Change| {
        moves.apply(offer.with_untracked(|offer| offer.tasks.iter().map(|task| (task.clone(), change.clone())).collect()));
    };
    let cancel = move |_| {
        if let Some((to, needs)) = offer.with_untracked(|offer| offer.cancel) {
            moves.request(offer.with_untracked(|offer| offer.tasks.clone()), to, needs);
        }
    };
    let open = move |choices: Choices| {
        move |event: MouseEvent| {
            let button = event.current_target().and_then(|button| button.dyn_into::<HtmlElement>().ok());
            menu.set(button.map(|button| (choices, button)));
        }
    };
    let button = move |label: &'static str, is_offered: fn(&Offer) -> bool, act: Callback<MouseEvent>, has_menu: bool| {
        view! {
            <Show when=move || offer.with(is_offered)>
                <button
                    type="button"
                    class="button"
                    aria-haspopup=has_menu.then_some("menu")
                    disabled=move || live.is_lost()
                    on:click=move |event| act.run(event)
                >
                    {label}
                    {has_menu.then(|| view! { <Icon drawing=CHEVRON /> })}
                </button>
            </Show>
        }
        .into_any()
    };
    let item = move |label: String, act: Callback<()>| {
        let pick = move |_| {
            close.run(());
            act.run(());
        };
        view! { <button type="button" role="menuitem" tabindex="-1" on:click=pick>{label}</button> }
    };
    let items = move |choices: Choices| match choices {
        Choices::Priority => PRIORITIES
            .into_iter()
            .map(|(priority, name)| item(title_case(name), Callback::new(move |()| apply(Change::priority(priority)))))
            .collect_view(),
        Choices::Move => {
            let targets = offer.with_untracked(|offer| offer.targets.clone());
            let request = move |to, needs| Callback::new(move |()| moves.request(offer.with_untracked(|offer| offer.tasks.clone()), to, needs));
            targets.into_iter().map(|(to, needs)| item(status_label(to).to_owned(), request(to, needs))).collect_view()
        }
    };
    let count = move || match offer.with(|offer| offer.tasks.len()) {
        1 => "1 task selected".to_owned(),
        count => format!("{count} tasks selected"),
    };
    let is_open = Memo::new(move |_| offer.with(|offer| !offer.tasks.is_empty()));
    view! {
        <p class="visually-hidden" role="status">{move || is_open.get().then(count)}</p>
        <Show when=move || is_open.get()>
            <div class="selection-bar" role="toolbar" aria-label="Selected tasks">
                <strong class="tabular">{count}</strong>
                {button("Start", |offer| offer.can_start, Callback::new(move |_| apply(Change::Start)), false)}
                {button("Hold", |offer| offer.can_hold, Callback::new(move |_| apply(Change::Hold)), false)}
                {button("Priority", |offer| offer.can_order, Callback::new(open(Choices::Priority)), true)}
                {button("Move", |offer| !offer.targets.is_empty(), Callback::new(open(Choices::Move)), true)}
                {button("Cancel tasks", |offer| offer.cancel.is_some(), Callback::new(cancel), false)}
                <button type="button" class="button quiet icon" aria-label="Clear the selection" title="Clear the selection (Esc)" on:click=move |_| selection.clear()>
                    <Icon drawing=CLOSE />
                </button>
            </div>
        </Show>
        {move || menu.get().map(|(choices, anchor)| view! {
            <Menu label=if choices == Choices::Move { "Move to" } else { "Priority" } anchor=anchor close=close>{items(choices)}</Menu>
        })}
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
