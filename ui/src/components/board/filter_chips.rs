//! The parts of the filter of a board as chips.

use leptos::prelude::*;

use crate::components::filter_chips::{Chip, FilterChips};
use crate::filter::{Filter, Part};
use crate::project_data::ProjectData;

#[component]
pub(crate) fn BoardFilterChips(
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
    let chip =
        move |part: Part| Chip { label: label(&part), remove: Callback::new(move |()| filter.update(|filter| *filter = filter.without(&part))) };
    let chips = Signal::derive(move || filter.with(Filter::parts).into_iter().map(chip).collect::<Vec<_>>());
    view! { <FilterChips chips=chips clear=move |()| filter.set(Filter::default()) /> }
}
