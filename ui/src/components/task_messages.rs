//! What agents and the person wrote to each other about one task.

use std::collections::HashSet;

use domain::id::TaskId;
use leptos::prelude::*;

use crate::client::{Client, Said};
use crate::components::message_thread::MessageThread;
use crate::feed::Feed;
use crate::news::Topic;
use crate::room::Room;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::thread::{Key, keys, threads};

/// The newest so many; the rest is on the page of messages.
const MOST: u32 = 50;

#[component]
pub(crate) fn TaskMessages(task: TaskId) -> impl IntoView {
    let (client, room, store, navigation) = (Client::here(), Room::here(), Store::here(), Navigation::here());
    let said = Said { task: Some(task), agent: None };
    let asked = said.clone();
    let messages = Feed::new(store.news(Topic::Messages), |_| false, move || client.messages(room.project(), asked.clone(), None, MOST));
    let shown = Memo::new(move |_| messages.value.with(|page| page.as_ref().map(|page| threads(&page.items)).unwrap_or_default()));
    let (fresh, opened) = (RwSignal::new(HashSet::new()), RwSignal::new(HashSet::new()));
    let route = Route::Messages { project: room.project(), said };
    view! {
        <Show when=move || messages.value.with(|page| page.as_ref().is_some_and(|page| page.items.is_empty()))>
            <p class="soft">"Nobody wrote about it yet."</p>
        </Show>
        <For each=move || shown.with(|shown| keys(shown)) key=Key::clone let:key>
            <MessageThread key=key threads=shown fresh=fresh opened=opened answer=None />
        </For>
        <p>
            <a class="button" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>"Write about it"</a>
        </p>
    }
}
