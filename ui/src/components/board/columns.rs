//! The columns of a board, or one of them on a phone.

use domain::board::card::Card;
use domain::board::status::Status;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::status_label;
use crate::components::board::card_actions::{CardAction, card_action};
use crate::components::board::column::{AddButton, Column};
use crate::drag::Drag;
use crate::filter::Filter;
use crate::folded_groups::FoldedGroups;
use crate::grouping::{Grouping, PlanProgress, plan_progress};
use crate::project_data::ProjectData;
use crate::reveal::Reveal;
use crate::route::Navigation;
use crate::store::Store;

/// The columns, or one of them on a phone.
#[component]
pub(crate) fn BoardColumns(
    filter: RwSignal<Filter>,
    columns: &'static [&'static [Status]],
    /// Whether the cards are of several projects.
    #[prop(optional)]
    across_projects: bool,
) -> impl IntoView {
    let store = Store::from_context();
    // The column that a phone shows.
    let shown = RwSignal::new(1_usize);
    let (drag, loud) = (Drag::from_context(), loud_task(store));
    let reveal = Reveal::from_context();
    FoldedGroups::provide(match across_projects {
        true => "all".to_owned(),
        false => ProjectData::from_context().project().to_string(),
    });
    // Only of cards that are all loaded.
    let plans = Memo::new(move |_| {
        let is_counted = filter.with(|filter| filter.group == Some(Grouping::Plan)) && store.unloaded_count(Status::Done) == 0;
        if is_counted { store.follow_cards(plan_progress) } else { PlanProgress::new() }
    });
    Effect::new(move || {
        let status = reveal.marked().and_then(|task| store.card_now(&task)).map(|card| card.status);
        if let Some(index) = status.and_then(|status| columns.iter().position(|statuses| statuses.contains(&status))) {
            shown.set(index);
        }
    });
    let count =
        move |statuses: &[Status]| statuses.iter().map(|status| store.column(*status).with(Vec::len) + store.unloaded_count(*status)).sum::<usize>();
    let tabs = columns.iter().copied().enumerate().map(|(index, statuses)| {
        view! {
            <button
                type="button"
                class="chip"
                data-drop=statuses.first().map(|status| status.as_str())
                data-target=move || drag.accepts(statuses).then_some("")
                data-over=move || drag.is_over(statuses).then_some("")
                aria-pressed=move || (shown.get() == index).to_string()
                on:click=move |_| shown.set(index)
            >
                {statuses.first().map(|status| status_label(*status))}
                <b>{move || count(statuses)}</b>
            </button>
        }
    });
    let stacks = columns.iter().copied().enumerate().map(|(index, statuses)| {
        let stack = statuses
            .iter()
            .map(|status| view! { <Column status=*status filter=filter loud=loud plans=plans across_projects=across_projects /> })
            .collect_view();
        view! { <div class="column-stack" data-shown=move || (shown.get() == index).then_some("")>{stack}</div> }
    });
    view! {
        <div class="column-tabs" role="group" aria-label="Columns">
            {tabs.collect_view()}
            {(!across_projects).then(|| view! { <AddButton /> })}
        </div>
        <div class="columns" data-columns=columns.len().to_string()>{stacks.collect_view()}</div>
    }
}

/// The task whose next action is the filled button of the board: the first one that needs the person, in the order of the columns. With
/// the panel or a plan open, none is.
fn loud_task(store: Store) -> Memo<Option<TaskId>> {
    let navigation = Navigation::from_context();
    Memo::new(move |_| {
        if navigation.get().task().is_some() || store.plan.with(|plan| !plan.is_empty()) {
            return None;
        }
        store.follow_cards(|cards| {
            let settles = |card: &&Card| matches!(card_action(card), Some(CardAction::Settle(_) | CardAction::Review));
            cards.iter().find(settles).map(|card| card.id.clone())
        })
    })
}
