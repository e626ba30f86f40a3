//! The text of a person or an agent: as Markdown, and as written until the server has rendered it.

use leptos::prelude::*;

use crate::markdown::{Markdown, is_plain};

#[component]
pub(crate) fn Prose(#[prop(into)] text: String) -> impl IntoView {
    let written = |text: String| view! { <div class="prose"><p class="as-written" dir="auto">{text}</p></div> };
    if is_plain(&text) {
        return written(text).into_any();
    }
    let html = Markdown::from_context().html(&text);
    (move || match html.get() {
        Some(html) => view! { <div class="prose" inner_html=html></div> }.into_any(),
        None => written(text.clone()).into_any(),
    })
    .into_any()
}

/// A button that shows a text as others will read it, instead of the field.
#[component]
pub(crate) fn PreviewButton(text: RwSignal<String>, previewing: RwSignal<bool>) -> impl IntoView {
    // A sent or discarded text has no preview.
    Effect::new(move || {
        if text.with(String::is_empty) && previewing.get_untracked() {
            previewing.set(false);
        }
    });
    view! {
        <button
            type="button"
            class="button quiet small"
            aria-pressed=move || previewing.get().to_string()
            disabled=move || text.with(|text| text.trim().is_empty())
            on:click=move |_| previewing.update(|previewing| *previewing = !*previewing)
        >
            "Preview"
        </button>
    }
}

/// The rendered text of a field, while `previewing`.
#[component]
pub(crate) fn Preview(text: RwSignal<String>, previewing: RwSignal<bool>) -> impl IntoView {
    move || previewing.get().then(|| view! { <div class="preview" tabindex="0" role="region" aria-label="Preview"><Prose text=text.get() /></div> })
}
