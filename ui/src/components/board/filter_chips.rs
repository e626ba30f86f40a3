//! The parts of the filter of a board as chips, each of which can be removed alone.

use leptos::prelude::*;

use crate::components::icon::{CLOSE, Icon};
use crate::filter::{Filter, Part};
use crate::project_data::ProjectData;

#[component]
pub(crate) fn FilterChips(
    filter: RwSignal<Filter>,
    /// The project of the board, if it has one.
    data: Option<ProjectData>,
) -> impl IntoView {
    let goals = data.map(|data| data.goals.value);
    // A goal is filtered by its id, which says little.
    let label = move |part: &Part| match part {
        Part::Word(word) => {
            let is_named = |goal: &domain::board::goal::Goal| goal.id.as_str() == word;
            let goal = goals.and_then(|goals| goals.with(|goals| goals.as_ref()?.iter().find(|goal| is_named(goal)).map(|goal| goal.title.clone())));
            goal.unwrap_or_else(|| word.clone())
        }
        Part::Facet(facet) => facet.label().to_owned(),
        Part::Group(grouping) => grouping.label().to_owned(),
    };
    let chip = move |part: Part| {
        let text = label(&part);
        let name = format!("Remove {text}");
        view! {
            <button
                type="button"
                class="chip"
                aria-label=name
                title="Remove"
                on:click=move |_| filter.update(|filter| *filter = filter.without(&part))
            >
                {text}
                <Icon drawing=CLOSE />
            </button>
        }
    };
    view! {
        <div class="filter-chips" role="group" aria-label="Filters">
            {move || filter.with(Filter::parts).into_iter().map(chip).collect_view()}
            <button type="button" class="button quiet small" on:click=move |_| filter.set(Filter::default())>"Clear"</button>
        </div>
    }
}
