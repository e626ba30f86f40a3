//! The theme, the density and the words of the pages, which the browser remembers. `boot.js` applies them before the first paint.

use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::components::icon::{Icon, ROWS, SUN};
use crate::storage::storage;

/// Switches between light and dark.
#[component]
pub(crate) fn ThemeButton() -> impl IntoView {
    view! {
        <button type="button" class="button quiet icon small" aria-label="Switch between light and dark" on:click=|_| switch_theme()>
            <Icon drawing=SUN />
        </button>
    }
}

/// Whether cards are comfortable instead of compact.
#[derive(Clone, Copy)]
pub(crate) struct Density(RwSignal<bool>);

impl Density {
    /// Makes the density available below the current owner.
    pub(crate) fn provide() {
        provide_context(Self(RwSignal::new(root().is_some_and(|root| root.dataset().get("density").is_some()))));
    }

    pub(crate) fn from_context() -> Self {
        expect_context()
    }

    pub(crate) fn is_comfortable(self) -> bool {
        self.0.get()
    }

    pub(crate) fn switch(self) {
        let comfortable = !self.0.get_untracked();
        set("density", if comfortable { "comfortable" } else { "" });
        self.0.set(comfortable);
    }
}

/// Switches between compact and comfortable cards.
#[component]
pub(crate) fn DensityButton() -> impl IntoView {
    let density = Density::from_context();
    view! {
        <button
            type="button"
            class="button quiet icon density"
            aria-label="Comfortable cards"
            title="Comfortable cards"
            aria-pressed=move || density.is_comfortable().to_string()
            on:click=move |_| density.switch()
        >
            <Icon drawing=ROWS />
        </button>
    }
}

/// A stored choice; empty for the default.
pub(crate) type Choice = String;

pub(crate) fn theme() -> Choice {
    root().and_then(|root| root.dataset().get("theme")).unwrap_or_default()
}

/// Follows the system for an empty theme.
pub(crate) fn set_theme(theme: &str) {
    set("theme", theme);
}

/// The words of the war room: plain if it is empty, or those of a raid.
pub(crate) fn chosen_words() -> Choice {
    root().and_then(|root| root.dataset().get("words")).unwrap_or_default()
}

/// Pages that are drawn from now on use these words.
pub(crate) fn set_words(words: &str) {
    set("words", words);
}

pub(crate) fn switch_theme() {
    let Some(root) = root() else { return };
    let system_is_dark = || window().match_media("(prefers-color-scheme: dark)").ok().flatten().is_some_and(|query| query.matches());
    let dark = root.dataset().get("theme").map_or_else(system_is_dark, |theme| theme == "dark");
    set("theme", if dark { "light" } else { "dark" });
}

fn root() -> Option<HtmlElement> {
    document().document_element().and_then(|root| root.dyn_into().ok())
}

/// Applies a choice to this page, and to pages that are opened later. Without storage, it lasts until the next reload.
fn set(name: &str, value: &str) {
    let Some(root) = root() else { return };
    let storage = storage();
    if value.is_empty() {
        root.dataset().delete(name);
        let _forgotten = storage.map(|storage| storage.remove_item(name));
    } else {
        let _shown = root.dataset().set(name, value);
        let _stored = storage.map(|storage| storage.set_item(name, value));
    }
}
