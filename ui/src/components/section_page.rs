//! The frame of a page that lists something among agents: its name, the way to a new one, and what is shown while there is nothing to list.

use leptos::prelude::*;

use crate::components::coded::sentence;
use crate::components::icon::{Icon, PLUS};
use crate::feed::Feed;
use crate::room::{Open, Room};

#[component]
pub(crate) fn SectionPage<T: Send + Sync + 'static>(
    title: &'static str,
    /// What makes a new one, and the dialog for it.
    verb: &'static str,
    opens: Open,
    feed: Feed<Vec<T>>,
    /// Whether the list, once it is known, has nothing to show; then these words stand there.
    #[prop(into)]
    empty: Signal<bool>,
    heading: &'static str,
    words: &'static str,
    children: Children,
) -> impl IntoView {
    let room = Room::here();
    let known = Memo::new(move |_| feed.value.with(Option::is_some));
    // What is known stays on the page while the server is away.
    let unknown = move || match feed.failure.get() {
        _ if known.get() => None,
        Some(why) => Some(view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> }.into_any()),
        None => Some(view! { <p class="soft" role="status">"Reading…"</p> }.into_any()),
    };
    view! {
        <div class="page">
            <div class="page-head">
                <h1>{title}</h1>
                <button type="button" class="button primary" on:click=move |_| room.open.set(opens.clone())>
                    <Icon drawing=PLUS />
                    {verb}
                </button>
            </div>
            {unknown}
            <Show when=move || known.get() && empty.get()>
                <div class="empty">
                    <h2>{heading}</h2>
                    <p>{words}</p>
                </div>
            </Show>
            {children()}
        </div>
    }
}
