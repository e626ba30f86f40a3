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
        let width = move || segments.with(|segments| format!("{:.2}%", percent(part(segments), segments.all)));
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

#[expect(clippy::cast_precision_loss, reason = "numbers of tasks fit into f64")]
fn percent(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { 100.0 * part as f64 / all as f64 }
}

#[cfg(test)]
mod tests {
    #[test]
    fn empty_whole_has_no_parts() {
        assert!(super::percent(3, 0).abs() < f64::EPSILON);
        assert!((super::percent(1, 4) - 25.0).abs() < f64::EPSILON);
    }
}
