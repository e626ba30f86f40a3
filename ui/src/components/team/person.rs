//! The list of the persons of the board. The command line adds and removes them.

use domain::team::person::Person;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::{Badge, Tone};
use crate::components::inline_code::InlineCode;

#[component]
pub(crate) fn Persons() -> impl IntoView {
    let client = Client::from_context();
    let persons = RwSignal::new(Vec::<Person>::new());
    spawn_local(async move {
        if let Ok(list) = client.persons().await {
            let _page_closed = persons.try_set(list.items);
        }
    });
    view! {
        <section class="section" aria-label="People">
            <h2>"People"</h2>
            <ul class="rows">
                <For each=move || persons.get() key=|person| person.id let:person>
                    <li class="entry">
                        <header class="row">
                            <strong>{person.name}</strong>
                            <Badge label=person.role.as_str() tone=Tone::Neutral />
                        </header>
                    </li>
                </For>
            </ul>
            <p class="faint small-text">
                <InlineCode text="The owner adds people with `vibe-relay person add NAME`, gives them access with `vibe-relay token new --person NAME`, and removes them with `vibe-relay person remove NAME`." />
            </p>
        </section>
    }
}
