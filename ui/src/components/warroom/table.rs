//! A table of facts with a heading for screen readers in each row and column. Must not know what it lists.

use leptos::prelude::*;

/// A table whose rows are its children.
#[component]
pub(super) fn FactTable(#[prop(optional)] caption: Option<&'static str>, columns: [&'static str; 3], children: Children) -> impl IntoView {
    view! {
        <table class="heat-table">
            {caption.map(|caption| view! { <caption class="visually-hidden">{caption}</caption> })}
            <thead class="visually-hidden">
                <tr>{columns.map(|column| view! { <th scope="col">{column}</th> }).collect_view()}</tr>
            </thead>
            <tbody>{children()}</tbody>
        </table>
    }
    .into_any()
}
