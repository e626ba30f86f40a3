//! A progress bar with a segment for each state, in the order in which work passes them backwards: done, in review, at work, needs you.

use leptos::prelude::*;

use crate::components::badge::Tone;

/// The parts of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Segments {
    pub(crate) all: usize,
    pub(crate) done: usize,
    pub(crate) in_review: usize,
    pub(crate) at_work: usize,
    pub(crate) needs_you: usize,
}

#[component]
pub(crate) fn ProgressBar(#[prop(into)] segments: Signal<Segments>, #[prop(optional)] wide: bool) -> impl IntoView {
    let part = move |tone: Tone, part: fn(&Segments) -> usize| {
        let width = move || segments.with(|segments| percent(part(segments), segments.all));
        view! { <i data-tone=tone.as_str() style:width=width></i> }
    };
    view! {
        <span class="progress" class:wide=wide aria-hidden="true">
            {part(Tone::Good, |segments| segments.done)}
            {part(Tone::Info, |segments| segments.in_review)}
            {part(Tone::Live, |segments| segments.at_work)}
            {part(Tone::Warn, |segments| segments.needs_you)}
        </span>
    }
}

/// The share of a part, with two decimals. Whole numbers, because the code that writes others is large and nothing else of the board needs it.
fn percent(part: usize, all: usize) -> String {
    let hundredths = (10_000 * part).checked_div(all).unwrap_or_default();
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn empty_whole_has_no_parts() {
        assert_eq!(
            [(3, 0), (1, 4), (1, 3), (4, 4), (1, 300)].map(|(part, all)| percent(part, all)),
            ["0.00%", "25.00%", "33.33%", "100.00%", "0.33%"]
        );
    }
}
