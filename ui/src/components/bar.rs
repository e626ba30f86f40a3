//! The bar at the top of every page: its title, what belongs to the page, and the notices below.

use leptos::prelude::*;

use crate::components::sidebar::PhoneConnection;
use crate::lazy::{FirstPage, lazy};
use crate::parts;

#[component]
pub(crate) fn Bar(#[prop(into)] title: Signal<String>, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    let first_page = FirstPage::from_context();
    let notices = lazy(move || async move {
        first_page.wait().await;
        parts::notices().await
    });
    view! {
        <header class="bar">
            <h1>{title}</h1>
            <PhoneConnection />
            {children.map(|children| children())}
        </header>
        {notices}
    }
}
