//! The bar at the top of every page: its title, what belongs to the page, and the notices below.

use leptos::prelude::*;

use crate::components::notices::Notices;
use crate::components::sidebar::PhoneConnection;

#[component]
pub(crate) fn Bar(#[prop(into)] title: Signal<String>, #[prop(optional)] children: Option<Children>) -> impl IntoView {
    view! {
        <header class="bar">
            <h1>{title}</h1>
            <PhoneConnection />
            {children.map(|children| children())}
        </header>
        <Notices />
    }
}
