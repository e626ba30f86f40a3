//! What agents and the person write to each other: threads with the newest below, and where the person writes. Who looks at
//! all of it has read what waited.

use std::collections::HashSet;

use domain::board::card::Card;
use domain::id::TaskId;
use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::{Inbox, Message};
use domain::wire::MessageView;
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Said};
use crate::components::badge::among::name_word;
use crate::components::coded::sentence;
use crate::components::message_composer::MessageComposer;
use crate::components::message_thread::MessageThread;
use crate::feed::Feed;
use crate::news::Topic;
use crate::room::Room;
use crate::route::{Navigation, Route, Section};
use crate::store::Store;
use crate::thread::{Key, Mark, keys, mark, merged, threads};

/// So many messages are asked for at a time.
const PAGE: u32 = 50;
/// How near to its end, in pixels, the list counts as being read at the end.
const NEAR: i32 = 80;

/// What of the messages is known.
#[derive(Clone, Copy)]
struct Talk {
    client: Client,
    room: Room,
    known: RwSignal<Vec<MessageView>>,
    /// Before which message there is more.
    earlier: RwSignal<Option<i64>>,
    /// Messages that the person was given since the page was opened.
    fresh: RwSignal<HashSet<Mark>>,
    reading: StoredValue<bool>,
    list: NodeRef<Div>,
}

impl Talk {
    /// Takes in a page of the newest messages; the list stays at its end where it was read there.
    fn take(self, page: Vec<MessageView>, next: Option<i64>) {
        let id = |view: &MessageView| view.message.id;
        let first = self.known.with_untracked(Vec::is_empty);
        let follows = first || self.is_at_end();
        let all = self.known.with_untracked(|known| merged(known, page.clone(), next.is_some()));
        // What is known from earlier pages stays; a gap made the page the beginning.
        if first || all.first().map(id) == page.first().map(id) {
            self.earlier.set(next);
        }
        if self.known.with_untracked(|known| *known != all) {
            self.known.set(all);
        }
        if follows {
            self.scroll_to(0);
        }
    }

    /// Reads the page before what is known, and leaves in place what is looked at.
    fn read_earlier(self) {
        let Some(before) = self.earlier.get_untracked() else { return };
        let request = self.client.messages(self.room.project(), self.room.said.get_untracked(), Some(before), PAGE);
        let (list, said) = (self.list, self.room.said.get_untracked());
        self.client.act(request, move |page| {
            // The page was left, or shows something else now.
            if self.room.said.try_get_untracked() != Some(said) {
                return;
            }
            let below = list.get_untracked().map_or(0, |list| list.scroll_height() - list.scroll_top());
            self.known.update(|known| *known = merged(&page.items, std::mem::take(known), false));
            self.earlier.set(page.next);
            self.scroll_to(below);
        });
    }

    fn is_at_end(self) -> bool {
        self.list.get_untracked().is_none_or(|list| list.scroll_height() - list.scroll_top() - list.client_height() < NEAR)
    }

    /// Scrolls, after the next drawing, to so many pixels above the end.
    fn scroll_to(self, above_end: i32) {
        request_animation_frame(move || {
            if let Some(list) = self.list.try_get_untracked().flatten() {
                list.set_scroll_top(list.scroll_height() - above_end);
            }
        });
    }

    /// Takes everything that waits for the person, and confirms that it arrived.
    fn read_inbox(self) {
        if self.reading.get_value() {
            return;
        }
        self.reading.set_value(true);
        let project = self.room.project();
        spawn_local(async move {
            let mut ack = None;
            while let Ok(inbox) = self.client.read_inbox(project.clone(), ack).await {
                let Some(newest) = inbox.messages.last().map(|received| received.message.id) else { break };
                ack = Some(newest);
                if self.note(&inbox).is_none() {
                    return;
                }
            }
            let _page_was_left = self.reading.try_set_value(false);
        });
    }

    /// None when the page was left.
    fn note(self, inbox: &Inbox) -> Option<()> {
        let new = inbox.messages.iter().filter(|received| !received.redelivered).map(|received| mark(&received.message));
        self.fresh.try_update(|fresh| fresh.extend(new))
    }
}

#[component]
pub(crate) fn MessagesPage() -> impl IntoView {
    let (client, room, store) = (Client::here(), Room::here(), Store::here());
    let _kept_up_to_date = room.agents.watch();
    let talk = Talk {
        client,
        room,
        known: RwSignal::new(Vec::new()),
        earlier: RwSignal::new(None),
        fresh: RwSignal::new(HashSet::new()),
        reading: StoredValue::new(false),
        list: NodeRef::new(),
    };
    let newest = Feed::new(store.news(Topic::Messages), |_| false, move || client.messages(room.project(), room.said.get_untracked(), None, PAGE));
    Effect::new(move || {
        if let Some(page) = newest.value.get() {
            talk.take(page.items, page.next);
        }
    });
    Effect::new(move |before: Option<Said>| {
        let said = room.said.get();
        if before.is_some_and(|before| before != said) {
            talk.known.set(Vec::new());
            talk.earlier.set(None);
            newest.value.set(None);
            newest.ask();
        }
        said
    });
    let seen = page_is_seen();
    Effect::new(move || {
        // What a filter leaves out, or nobody looks at, goes on waiting.
        let looked_at = seen.get() && room.said.with(|said| *said == Said::default());
        if looked_at && room.unread.value.with(|unread| unread.as_ref().is_some_and(|unread| unread.count > 0)) {
            talk.read_inbox();
        }
    });

    let answering = RwSignal::new(None::<Message>);
    let answer = Callback::new(move |message: Message| {
        // What is answered takes room below the list.
        if talk.is_at_end() {
            talk.scroll_to(0);
        }
        answering.set(Some(message));
    });
    let opened = RwSignal::new(HashSet::<Key>::new());
    let shown = Memo::new(move |_| talk.known.with(|known| threads(known)));
    let fresh = talk.fresh;
    let read = Memo::new(move |_| newest.value.with(Option::is_some));
    view! {
        <div class="messages">
            <div class="messages-head">
                <h1>"Messages"</h1>
                <Filters />
            </div>
            <div class="messages-list" role="log" aria-label="Messages" tabindex="0" node_ref=talk.list>
                <div class="messages-threads">
                    <Show when=move || talk.earlier.with(Option::is_some)>
                        <button type="button" class="button quiet" on:click=move |_| talk.read_earlier()>"Earlier messages"</button>
                    </Show>
                    {move || newest.failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> })}
                    <Show when=move || read.get() && shown.with(Vec::is_empty)>
                        <Empty />
                    </Show>
                    <For each=move || shown.with(|shown| keys(shown)) key=Key::clone let:key>
                        <MessageThread key=key threads=shown fresh=fresh opened=opened alone=room.said.with_untracked(|said| said.task.is_some()) answer=Some(answer) />
                    </For>
                </div>
            </div>
            <MessageComposer answering=answering />
        </div>
    }
}

/// Where nothing was said, or nothing that the filters let through.
#[component]
fn Empty() -> impl IntoView {
    let (room, navigation) = (Room::here(), Navigation::here());
    let all = Section::Messages.route(room.project());
    view! {
        <div class="empty">
            {move || if room.said.get() == Said::default() {
                view! {
                    <h2>"Nobody has written yet"</h2>
                    <p>"Agents write here to each other and to you. A comment stays with its task; a message reaches somebody now."</p>
                }
                .into_any()
            } else {
                let all = all.clone();
                view! {
                    <h2>"Nothing like that was written"</h2>
                    <a class="button" href=all.path() on:click=move |event| navigation.follow(&event, all.clone())>"All messages"</a>
                }
                .into_any()
            }}
        </div>
    }
}

/// Whether the browser shows the page: not behind other tabs, nor in a window that is put away.
fn page_is_seen() -> RwSignal<bool> {
    let seen = RwSignal::new(!document().hidden());
    let listener = window_event_listener(ev::visibilitychange, move |_| seen.set(!document().hidden()));
    on_cleanup(move || listener.remove());
    seen
}

/// Whose messages, and about which task: as the address says, so that it can be kept and sent to somebody.
#[component]
fn Filters() -> impl IntoView {
    let (room, store, navigation) = (Room::here(), Store::here(), Navigation::here());
    let show = move |said: Said| navigation.go(Route::Messages { project: room.project(), said });
    let names = Memo::new(move |_| {
        let agents = room.agents.value.get().unwrap_or_default();
        let names = agents.into_iter().map(|agent| agent.name).chain([HUMAN.to_owned(), EVERYONE.to_owned()]);
        with_chosen(names.map(|name| (name.clone(), name_word(&name))).collect(), room.said.get().agent, |name| name_word(name))
    });
    let tasks = Memo::new(move |_| {
        let word = |card: &Card| (card.id.clone(), format!("{} {}", card.id, domain::text::excerpt(&card.title, 50)));
        let cards = store.follow_cards(|cards| cards.iter().map(word).collect());
        with_chosen(cards, room.said.get().task, TaskId::to_string)
    });
    let agents = move || options(names.get(), room.said.with_untracked(|said| said.agent.clone()));
    let topics = move || options(tasks.get(), room.said.with_untracked(|said| said.task.clone()));
    view! {
        <select
            class="input narrow"
            aria-label="Of or to whom"
            prop:value=move || room.said.get().agent.unwrap_or_default()
            on:change:target=move |event| {
                let agent = Some(event.target().value()).filter(|name| !name.is_empty());
                show(Said { agent, ..room.said.get_untracked() });
            }
        >
            <option value="">"Of everybody"</option>
            {agents}
        </select>
        <select
            class="input narrow"
            aria-label="About which task"
            prop:value=move || room.said.get().task.map(|task| task.to_string()).unwrap_or_default()
            on:change:target=move |event| {
                let task = event.target().value().parse().ok();
                show(Said { task, ..room.said.get_untracked() });
            }
        >
            <option value="">"About everything"</option>
            {topics}
        </select>
    }
}

/// What may be chosen, and what is chosen: an address may name somebody who is not there.
fn with_chosen<T: PartialEq>(mut offered: Vec<(T, String)>, chosen: Option<T>, word: impl Fn(&T) -> String) -> Vec<(T, String)> {
    if let Some(chosen) = chosen.filter(|chosen| offered.iter().all(|(known, _)| known != chosen)) {
        let word = word(&chosen);
        offered.push((chosen, word));
    }
    offered
}

fn options<T: ToString + PartialEq>(offered: Vec<(T, String)>, chosen: Option<T>) -> impl IntoView {
    let option = |(value, word): (T, String)| view! { <option value=value.to_string() selected=chosen.as_ref() == Some(&value)>{word}</option> };
    offered.into_iter().map(option).collect_view()
}
