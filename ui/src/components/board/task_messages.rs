//! The messages about one task.

use std::collections::HashSet;

use domain::id::TaskId;
use leptos::prelude::*;

use crate::client::{Client, MessageFilter};
use crate::components::team::message_thread::MessageThread;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::thread::{ThreadKey, keys, threads};

/// Older messages are on the page of messages.
const MAX_MESSAGES: u32 = 50;

#[component]
pub(crate) fn TaskMessages(task: TaskId) -> impl IntoView {
    let (client, data, store, navigation) = (Client::from_context(), ProjectData::from_context(), Store::from_context(), Navigation::from_context());
    let filter = MessageFilter { task: Some(task), agent: None };
    let requested = filter.clone();
    let messages = LiveList::new(
        store.revision_of(ListKind::Messages),
        |_| false,
        move || client.messages(data.project(), requested.clone(), None, MAX_MESSAGES),
    );
    let shown = Memo::new(move |_| messages.value.with(|page| page.as_ref().map(|page| threads(&page.items)).unwrap_or_default()));
    let expanded = RwSignal::new(HashSet::new());
    let route = Route::Messages { project: data.project(), filter };
    view! {
        <Show when=move || messages.value.with(|page| page.as_ref().is_some_and(|page| page.items.is_empty()))>
            <p class="soft">"No messages about this task yet."</p>
        </Show>
        <For each=move || shown.with(|shown| keys(shown)) key=ThreadKey::clone let:key>
            <MessageThread key=key threads=shown expanded=expanded reply=None />
        </For>
        <p>
            <a class="button" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
                {if Reader::may_write() { "Write a message" } else { "Show all messages" }}
            </a>
        </p>
    }
}
