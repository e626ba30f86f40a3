//! The parts of a filter as chips, each of which can be removed alone, and the field that adds one of several offered parts.
//!
//! Must not know what is filtered.

use leptos::prelude::*;

use crate::components::icon::{CLOSE, Icon};

/// A part of a filter.
#[derive(Clone)]
pub(crate) struct Chip {
    pub(crate) label: String,
    pub(crate) remove: Callback<()>,
}

#[component]
pub(crate) fn FilterChips(#[prop(into)] chips: Signal<Vec<Chip>>, #[prop(into)] clear: Callback<()>) -> impl IntoView {
    let chip = move |chip: Chip| {
        let name = format!("Remove {}", chip.label);
        view! {
            <button type="button" class="chip" aria-label=name title="Remove" on:click=move |_| chip.remove.run(())>
                {chip.label}
                <Icon drawing=CLOSE />
            </button>
        }
    };
    view! {
        <div class="filter-chips" role="group" aria-label="Filters">
            {move || chips.get().into_iter().map(chip).collect_view()}
            <button type="button" class="button quiet small" on:click=move |_| clear.run(())>"Clear"</button>
        </div>
    }
    .into_any()
}

/// Something that a filter can be narrowed to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer<T> {
    pub(crate) label: String,
    pub(crate) part: T,
}

/// A field that offers parts of a filter while the reader types. It is empty again once one is chosen.
#[component]
pub(crate) fn FilterOffers<T: Clone + PartialEq + Send + Sync + 'static>(
    id: &'static str,
    label: &'static str,
    #[prop(into)] offers: Signal<Vec<Offer<T>>>,
    choose: Callback<T>,
) -> impl IntoView {
    let typed = RwSignal::new(String::new());
    let take = move |found: Option<T>| {
        if let Some(part) = found {
            typed.set(String::new());
            choose.run(part);
        }
    };
    let options = move || offers.get().into_iter().map(|offer| view! { <option value=offer.label></option> }).collect_view();
    view! {
        <input
            class="input filter"
            type="search"
            placeholder=label
            aria-label=label
            list=id
            autocomplete="off"
            prop:value=typed
            on:input:target=move |event| {
                typed.set(event.target().value());
                take(offers.with_untracked(|offers| typed.with_untracked(|typed| chosen(offers, typed))));
            }
            // Enter, or the field loses the focus.
            on:change=move |_| take(offers.with_untracked(|offers| typed.with_untracked(|typed| meant(offers, typed))))
        />
        <datalist id=id>{options}</datalist>
    }
    .into_any()
}

/// The offer that the browser entered in full.
fn chosen<T: Clone>(offers: &[Offer<T>], typed: &str) -> Option<T> {
    offers.iter().find(|offer| offer.label == typed).map(|offer| offer.part.clone())
}

/// The offer that the reader means: the one with this label, or else the first that contains the words.
fn meant<T: Clone>(offers: &[Offer<T>], typed: &str) -> Option<T> {
    let typed = typed.trim().to_lowercase();
    if typed.is_empty() {
        return None;
    }
    let labels = || offers.iter().map(|offer| (offer.label.to_lowercase(), offer));
    let found = labels().find(|(label, _)| *label == typed).or_else(|| labels().find(|(label, _)| label.contains(&typed)));
    found.map(|(_, offer)| offer.part.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_words_choose_an_offer() {
        let offers = [("TASK-012 Write beta", 12), ("TASK-001 Write alpha", 1), ("beta", 2)];
        let offers = offers.map(|(label, part)| Offer { label: label.to_owned(), part });
        assert_eq!([chosen(&offers, "beta"), chosen(&offers, "Beta"), chosen(&offers, "")], [Some(2), None, None]);
        assert_eq!(["Beta", "task-001", "write", " ", "gamma"].map(|typed| meant(&offers, typed)), [Some(2), Some(1), Some(12), None, None]);
    }
}
