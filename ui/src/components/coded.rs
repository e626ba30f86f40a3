//! A sentence of the server with its `commands` set as code.

use leptos::prelude::*;

#[component]
pub(crate) fn Coded(#[prop(into)] text: String) -> impl IntoView {
    // Every second part stood between backquotes.
    text.split('`')
        .enumerate()
        .map(|(place, part)| match place % 2 {
            0 => part.to_owned().into_any(),
            _ => view! { <code>{part.to_owned()}</code> }.into_any(),
        })
        .collect_view()
}
