//! The heading of cards that belong together: a button that hides and shows them, with their count and the progress of the whole group.

use leptos::prelude::*;

use crate::components::icon::{CHEVRON, Icon};
use crate::components::progress::{ProgressBar, Segments};
use crate::folded_groups::FoldedGroups;
use crate::grouping::{Grouping, PlanProgress};
use crate::overview::Overview;
use crate::project_data::ProjectData;
use crate::store::Store;

/// Cards of a group that are done, of those that count as work.
type Done = (usize, usize);

#[component]
pub(crate) fn GroupHeading(
    grouping: Memo<Option<Grouping>>,
    group: Option<String>,
    /// The cards of the group in this column.
    #[prop(into)]
    cards: Signal<usize>,
    plans: Memo<PlanProgress>,
    data: Option<ProjectData>,
) -> impl IntoView {
    let (store, projects, folded) = (Store::from_context(), Overview::from_context().projects.value, FoldedGroups::from_context());
    let (group, goals) = (StoredValue::new(group), data.map(|data| data.goals.value));
    let title = move || {
        let grouping = grouping.get()?;
        let Some(group) = group.get_value() else { return Some(grouping.none_label().to_owned()) };
        let title = match grouping {
            Grouping::Goal => goals?.with(|goals| goals.as_ref()?.iter().find(|goal| goal.id.as_str() == group).map(|goal| goal.title.clone())),
            Grouping::Plan => group.parse().ok().and_then(|task| store.card(&task)).map(|card| card.with(|card| card.title.clone())),
            Grouping::Project => projects.with(|projects| {
                let summary = projects.as_ref()?.iter().find(|summary| summary.project.id.as_str() == group)?;
                Some(summary.project.title.clone())
            }),
        };
        Some(title.unwrap_or(group))
    };
    let progress = Memo::new(move |_| -> Option<Done> {
        let (grouping, group) = (grouping.get()?, group.get_value()?);
        let numbers = |done: u32, all: u32| Some((usize::try_from(done).ok()?, usize::try_from(all).ok()?));
        match grouping {
            Grouping::Goal => goals?.with(|goals| {
                let progress = goals.as_ref()?.iter().find(|goal| goal.id.as_str() == group)?.progress;
                numbers(progress.completed, progress.linked)
            }),
            Grouping::Plan => plans.with(|plans| plans.get(&group).copied()),
            Grouping::Project => projects.with(|projects| {
                let tasks = &projects.as_ref()?.iter().find(|summary| summary.project.id.as_str() == group)?.tasks;
                numbers(tasks.done, tasks.total)
            }),
        }
    });
    let is_folded = move || grouping.get().is_some_and(|grouping| group.with_value(|group| folded.has(grouping, group.as_deref())));
    let toggle = move |_| {
        if let Some(grouping) = grouping.get_untracked() {
            group.with_value(|group| folded.toggle(grouping, group.as_deref()));
        }
    };
    let bar = move || {
        let (done, all) = progress.get().filter(|(_, all)| *all > 0)?;
        Some(view! {
            <span class="group-progress" title=format!("{done} of {all} done")>
                <ProgressBar segments=Segments { all, done, ..Segments::default() } />
                <span class="visually-hidden">{format!("{done} of {all} done")}</span>
            </span>
        })
    };
    view! {
        <p class="group-heading">
            <button type="button" aria-expanded=move || (!is_folded()).to_string() on:click=toggle>
                <Icon drawing=CHEVRON />
                <span class="group-title">{title}</span>
                <span class="count">{cards}<span class="visually-hidden">" cards"</span></span>
                {bar}
            </button>
        </p>
    }
}
