//! A field that filters a page by one of several values.

use leptos::prelude::*;

/// A value and its label.
pub(crate) type Choice = (String, String);

#[component]
pub(crate) fn FilterSelect(
    label: &'static str,
    /// The label of the choice that filters nothing.
    all: &'static str,
    #[prop(into)] offered: Signal<Vec<Choice>>,
    #[prop(into)] chosen: Signal<Option<String>>,
    choose: Callback<Option<String>>,
) -> impl IntoView {
    let options = move || {
        let chosen = chosen.get();
        let offered = with_chosen(offered.get(), chosen.as_deref());
        let option = |(value, label): Choice| {
            let is_chosen = chosen.as_ref() == Some(&value);
            view! { <option value=value selected=is_chosen>{label}</option> }
        };
        offered.into_iter().map(option).collect_view()
    };
    view! {
        <select
            class="input narrow"
            aria-label=label
            prop:value=move || chosen.get().unwrap_or_default()
            on:change:target=move |event| choose.run(Some(event.target().value()).filter(|value| !value.is_empty()))
        >
            <option value="">{all}</option>
            {options}
        </select>
    }
    .into_any()
}

/// Adds the chosen value if the list lacks it, because an address may name an unknown one.
fn with_chosen(mut offered: Vec<Choice>, chosen: Option<&str>) -> Vec<Choice> {
    if let Some(chosen) = chosen.filter(|chosen| offered.iter().all(|(known, _)| known != chosen)) {
        offered.push((chosen.to_owned(), chosen.to_owned()));
    }
    offered
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_chosen_value_is_offered_too() {
        let offered = vec![("ben".to_owned(), "Ben".to_owned())];
        assert_eq!(with_chosen(offered.clone(), None), offered);
        assert_eq!(with_chosen(offered.clone(), Some("ben")), offered);
        assert_eq!(with_chosen(offered, Some("eve"))[1], ("eve".to_owned(), "eve".to_owned()));
    }
}
