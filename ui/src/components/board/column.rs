//! One column of the board: its cards in order, drawn and loaded in pages, and its look as a drop target.

use domain::board::status::Status;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::{is_folded, status_label, status_tone, takes_new_tasks};
use crate::components::board::card::TaskCard;
use crate::components::icon::{CHEVRON, Icon, PLUS};
use crate::components::new_below::{NewBelow, NewItems};
use crate::drag::Drag;
use crate::filter::Filter;
use crate::folded_groups::FoldedGroups;
use crate::grouping::{PlanProgress, Row, limited, rows, unfolded};
use crate::lazy::soon;
use crate::parts;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::reveal::Reveal;
use crate::store::Store;

/// Cards drawn at first, and added by each "Show more".
pub(crate) const PAGE_SIZE: usize = 50;

#[component]
pub(crate) fn Column(
    status: Status,
    #[prop(into)] filter: Signal<Filter>,
    /// The task whose next action is the filled button of the page.
    #[prop(into)]
    loud: Signal<Option<TaskId>>,
    plans: Memo<PlanProgress>,
    /// Whether the cards are of several projects.
    across_projects: bool,
) -> impl IntoView {
    let (store, drag, folded_groups) = (Store::from_context(), Drag::from_context(), FoldedGroups::from_context());
    let loaded = store.column(status);
    let limit = RwSignal::new(PAGE_SIZE);

    let found = Memo::new(move |_| {
        let filter = filter.get();
        let ids = loaded.get();
        if filter.is_empty() {
            return ids;
        }
        ids.into_iter().filter(|id| store.card(id).is_some_and(|card| card.with(|card| filter.accepts(card)))).collect::<Vec<TaskId>>()
    });
    // Cards beyond the limit that the reader wants to see.
    let extra = RwSignal::new(Vec::<TaskId>::new());
    let grouping = Memo::new(move |_| filter.with(|filter| filter.group));
    // All rows under headings, or none without groups.
    let grouped = Memo::new(move |_| {
        let grouping = grouping.get()?;
        let group_of = |id: &TaskId| store.card(id).and_then(|card| card.with(|card| grouping.group_of(card)));
        Some(found.with(|found| rows(found, group_of, |group| folded_groups.has(grouping, group))))
    });
    let rows = Memo::new(move |_| {
        let (limit, extra) = (limit.get(), extra.get());
        if let Some(rows) = grouped.get() {
            return limited(rows, limit, &extra);
        }
        found.with(|found| {
            let further = found.iter().skip(limit).filter(|id| extra.contains(id));
            found.iter().take(limit).chain(further).cloned().map(Row::Card).collect()
        })
    });
    let hidden = Memo::new(move |_| {
        let all = grouped.with(|rows| rows.as_deref().map(unfolded)).unwrap_or_else(|| found.with(Vec::len));
        all.saturating_sub(limit.get())
    });
    let reveal = Reveal::from_context();
    Effect::new(move || {
        let Some(task) = reveal.wanted().filter(|task| found.with(|found| found.contains(task))) else { return };
        if let Some(grouping) = grouping.get_untracked() {
            let group = store.card_now(&task).and_then(|card| grouping.group_of(&card));
            if untrack(|| folded_groups.has(grouping, group.as_deref())) {
                folded_groups.toggle(grouping, group.as_deref());
            }
        }
        if !untrack(|| rows.with(|rows| rows.contains(&Row::Card(task.clone())))) {
            extra.update(|extra| extra.push(task.clone()));
        }
        reveal.settle(&task);
    });
    let names = move || Some(found.with(|found| found.iter().map(ToString::to_string).collect()));
    let new_items = takes_new_tasks(status).then(|| NewItems::follow("data-task", names));
    let show_new = Callback::new(move |task: String| task.parse().into_iter().for_each(|task| reveal.show(task, false)));
    // Of the open project: the context of a page that was open before outlives it.
    let data = (!across_projects).then(ProjectData::from_context);
    let row = move |row: Row| match row {
        Row::Card(id) => {
            view! { <li>{store.card(&id).map(|card| view! { <TaskCard id=id card=card loud=loud across_projects=across_projects /> })}</li> }
                .into_any()
        }
        Row::Heading { group, .. } => {
            let of_group = group.clone();
            let cards = Memo::new(move |_| {
                let count = |row: &Row| match row {
                    Row::Heading { group, cards, .. } if *group == of_group => Some(*cards),
                    _ => None,
                };
                rows.with(|rows| rows.iter().find_map(count).unwrap_or_default())
            });
            view! { <li>{soon(move || parts::group_heading(grouping, group.clone(), cards, plans, data))}</li> }.into_any()
        }
    };
    let total = move || loaded.with(Vec::len) + store.unloaded_count(status);
    let empty = Memo::new(move |_| found.with(Vec::is_empty));

    let (is_target, is_over) = (Memo::new(move |_| drag.accepts(&[status])), Memo::new(move |_| drag.is_over(&[status])));
    let is_origin = Memo::new(move |_| drag.dragged.with(|dragged| dragged.as_ref().is_some_and(|dragged| dragged.from == status)));
    let folded = RwSignal::new(is_folded(status));
    let count = move || {
        let (found, total) = (found.with(Vec::len), total());
        if filter.with(Filter::is_empty) || found == total { total.to_string() } else { format!("{found} of {total}") }
    };
    let heading = format!("column-{status}");
    let labelled = heading.clone();

    view! {
        <section
            class="column"
            data-status=status.as_str()
            data-tone=status_tone(status).as_str()
            data-target=move || is_target.get().then_some("")
            data-over=move || is_over.get().then_some("")
            data-origin=move || is_origin.get().then_some("")
            data-vacant=move || (total() == 0).then_some("")
            data-folded=move || folded.get().then_some("")
            aria-labelledby=labelled
        >
            <header>
                {is_folded(status).then(|| view! {
                    <button
                        type="button"
                        class="button quiet small icon fold"
                        aria-label=format!("Show {}", status_label(status))
                        aria-expanded=move || (!folded.get()).to_string()
                        on:click=move |_| folded.update(|folded| *folded = !*folded)
                    >
                        <Icon drawing=CHEVRON />
                    </button>
                })}
                <h2 id=heading.clone()>{status_label(status)}</h2>
                <span class="count">
                    {count}
                    <span class="visually-hidden">" cards"</span>
                </span>
                {data.filter(|_| takes_new_tasks(status) && Reader::may_write()).map(|data| soon(move || parts::quick_add(data)))}
                <span class="drop-hint" aria-hidden="true">"Drop here"</span>
            </header>
            <div class="cards">
                <Show when=move || empty.get() && total() != 0>
                    <p class="column-empty">"No cards match the filter."</p>
                </Show>
                <ul aria-labelledby=heading>
                    <For each=move || rows.get() key=Row::key children=row />
                </ul>
                {soon(move || parts::show_more(status, hidden, limit))}
            </div>
            {new_items.map(|items| view! { <NewBelow items=items show=show_new /> })}
        </section>
    }
}

/// The button that adds a task to the column.
#[component]
pub(crate) fn AddButton() -> impl IntoView {
    let dialog = ProjectData::from_context().dialog;
    Reader::may_write().then(|| {
        view! {
            <button
                type="button"
                class="button quiet small icon add"
                aria-label="New task"
                title="New task (n)"
                on:click=move |_| dialog.set(OpenDialog::NewTask)
            >
                <Icon drawing=PLUS />
            </button>
        }
    })
}

/// The button that draws more of the loaded cards, and requests the next page once all are drawn.
#[component]
pub(crate) fn ShowMore(
    status: Status,
    /// The loaded cards that are not drawn.
    hidden: Memo<usize>,
    limit: RwSignal<usize>,
) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let loading = RwSignal::new(false);
    let more = Memo::new(move |_| hidden.get() > 0 || store.next_page(status).is_some());
    let show_more = move |_| {
        let page = untrack(|| store.next_page(status)).filter(|_| hidden.get_untracked() == 0);
        let project = store.project.with_untracked(|project| project.as_ref().map(|project| project.id.clone()));
        let (Some(before), Some(project)) = (page, project) else {
            limit.update(|limit| *limit += PAGE_SIZE);
            return;
        };
        loading.set(true);
        client.watch(client.finished_cards(project, status, before.clone()), move |result| {
            let is_open = loading.try_set(false).is_none();
            if let Ok(page) = result
                && is_open
            {
                store.add_page(status, &before, page);
                limit.update(|limit| *limit += PAGE_SIZE);
            }
        });
    };
    view! {
        <Show when=move || more.get()>
            <button
                type="button"
                class="button quiet"
                disabled=move || loading.get()
                aria-busy=move || loading.get().to_string()
                aria-label=format!("Show more: {}", status_label(status))
                on:click=show_more
            >
                {move || format!("Show more ({})", hidden.get() + store.unloaded_count(status))}
            </button>
        </Show>
    }
}
