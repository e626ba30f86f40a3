//! The page of messages: threads with the newest last, filters, and the composer. Messages stay unread until the reader marks or answers them.

use std::collections::HashSet;

use domain::id::TaskId;
use domain::team::agent::EVERYONE;
use domain::team::message::Message;
use domain::wire::MessageView;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, MessageFilter};
use crate::components::badge::team::name_label;
use crate::components::board::task_options::{task_label, task_options};
use crate::components::filter_chips::{Chip, FilterChips, FilterOffers, Offer};
use crate::components::inline_code::sentence;
use crate::components::team::message_composer::MessageComposer;
use crate::components::team::message_thread::MessageThread;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route, Section};
use crate::store::Store;
use crate::thread::{ThreadKey, keys, merge, threads};

/// Messages in one request.
const PAGE_SIZE: u32 = 50;
/// Distance from the end, in pixels, at which the list still counts as scrolled to its end.
const END_MARGIN: i32 = 80;

/// The loaded messages.
#[derive(Clone, Copy)]
struct MessageList {
    client: Client,
    data: ProjectData,
    known: RwSignal<Vec<MessageView>>,
    /// The cursor of the previous page, or none if all are loaded.
    earlier: RwSignal<Option<i64>>,
    is_reading_inbox: RwSignal<bool>,
    list: NodeRef<Div>,
}

impl MessageList {
    /// Merges a page of the newest messages. A list at its end stays there.
    fn merge_newest(self, page: Vec<MessageView>, next: Option<i64>) {
        let id = |view: &MessageView| view.message.id;
        let first = self.known.with_untracked(Vec::is_empty);
        let follows = first || self.is_at_end();
        let all = self.known.with_untracked(|known| merge(known, page.clone(), next.is_some()));
        // Earlier pages stay loaded unless a gap dropped them.
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

    /// Loads the previous page and keeps the visible messages in place.
    fn load_earlier(self) {
        let Some(before) = self.earlier.get_untracked() else { return };
        let request = self.client.messages(self.data.project(), self.data.message_filter.get_untracked(), Some(before), PAGE_SIZE);
        let (list, filter) = (self.list, self.data.message_filter.get_untracked());
        self.client.act(request, move |page| {
            // The page was closed, or its filter changed.
            if self.data.message_filter.try_get_untracked() != Some(filter) {
                return;
            }
            let below = list.get_untracked().map_or(0, |list| list.scroll_height() - list.scroll_top());
            self.known.update(|known| *known = merge(&page.items, std::mem::take(known), false));
            self.earlier.set(page.next);
            self.scroll_to(below);
        });
    }

    fn is_at_end(self) -> bool {
        self.list.get_untracked().is_none_or(|list| list.scroll_height() - list.scroll_top() - list.client_height() < END_MARGIN)
    }

    /// Scrolls to this distance above the end, in pixels, after the next frame.
    fn scroll_to(self, above_end: i32) {
        request_animation_frame(move || {
            if let Some(list) = self.list.try_get_untracked().flatten() {
                list.set_scroll_top(list.scroll_height() - above_end);
            }
        });
    }

    /// Marks everything that the reader received as read.
    fn read_inbox(self) {
        self.is_reading_inbox.set(true);
        let project = self.data.project();
        spawn_local(async move {
            let mut ack = None;
            while let Ok(inbox) = self.client.read_inbox(project.clone(), ack).await {
                let Some(newest) = inbox.messages.last().map(|received| received.message.id) else { break };
                ack = Some(newest);
            }
            let _page_closed = self.is_reading_inbox.try_set(false);
        });
    }
}

#[component]
pub(crate) fn MessagesPage() -> impl IntoView {
    let (client, data, store) = (Client::from_context(), ProjectData::from_context(), Store::from_context());
    let _watched = data.agents.watch();
    let messages = MessageList {
        client,
        data,
        known: RwSignal::new(Vec::new()),
        earlier: RwSignal::new(None),
        is_reading_inbox: RwSignal::new(false),
        list: NodeRef::new(),
    };
    let newest = LiveList::new(
        store.revision_of(ListKind::Messages),
        |_| false,
        move || client.messages(data.project(), data.message_filter.get_untracked(), None, PAGE_SIZE),
    );
    Effect::new(move || {
        if let Some(page) = newest.value.get() {
            messages.merge_newest(page.items, page.next);
        }
    });
    Effect::new(move |before: Option<MessageFilter>| {
        let filter = data.message_filter.get();
        if before.is_some_and(|before| before != filter) {
            messages.known.set(Vec::new());
            messages.earlier.set(None);
            newest.value.set(None);
            newest.refetch();
        }
        filter
    });
    let unread = Memo::new(move |_| data.unread.value.with(|unread| unread.as_ref().map_or(0, |unread| unread.count)));
    let replying_to = RwSignal::new(None::<Message>);
    let reply = Callback::new(move |message: Message| {
        // The quoted original makes the composer taller.
        if messages.is_at_end() {
            messages.scroll_to(0);
        }
        replying_to.set(Some(message));
    });
    let expanded = RwSignal::new(HashSet::<ThreadKey>::new());
    let shown = Memo::new(move |_| messages.known.with(|known| threads(known)));
    let loaded = Memo::new(move |_| newest.value.with(Option::is_some));
    view! {
        <div class="messages">
            <div class="messages-head">
                <h1>"Messages"</h1>
                <Filters />
                <Show when=move || Reader::may_write() && unread.get() != 0>
                    <button type="button" class="button small" disabled=move || messages.is_reading_inbox.get() on:click=move |_| messages.read_inbox()>
                        {move || format!("Mark all as read ({})", unread.get())}
                    </button>
                </Show>
            </div>
            <div class="messages-list" role="log" aria-label="Messages" tabindex="0" node_ref=messages.list>
                <div class="messages-threads">
                    <Show when=move || messages.earlier.with(Option::is_some)>
                        <button type="button" class="button quiet" on:click=move |_| messages.load_earlier()>"Show earlier messages"</button>
                    </Show>
                    {move || newest.failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> })}
                    <Show when=move || loaded.get() && shown.with(Vec::is_empty)>
                        <NoMessages />
                    </Show>
                    <For each=move || shown.with(|shown| keys(shown)) key=ThreadKey::clone let:key>
                        <MessageThread key=key threads=shown expanded=expanded alone=data.message_filter.with_untracked(|filter| filter.task.is_some()) reply=Some(reply) />
                    </For>
                </div>
            </div>
            {if Reader::may_write() {
                view! { <MessageComposer replying_to=replying_to /> }.into_any()
            } else {
                view! { <div class="composer"><p class="soft small-text">{READ_ONLY}</p></div> }.into_any()
            }}
        </div>
    }
}

/// The page without messages, or without any that match the filters.
#[component]
fn NoMessages() -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let all = Section::Messages.route(data.project());
    let hint = if Reader::may_write() {
        "Write to an agent below. Messages between agents appear here too. To keep a note with a task, add a comment there."
    } else {
        "Messages between agents and people appear here."
    };
    view! {
        <div class="empty">
            {move || if data.message_filter.get() == MessageFilter::default() {
                view! {
                    <h2>"No messages yet"</h2>
                    <p>{hint}</p>
                }
                .into_any()
            } else {
                let all = all.clone();
                view! {
                    <h2>"No messages match these filters"</h2>
                    <a class="button" href=all.path() on:click=move |event| navigation.follow(&event, all.clone())>"Show all messages"</a>
                }
                .into_any()
            }}
        </div>
    }
}

/// A part of the filter.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Agent(String),
    Task(TaskId),
}

fn parts(filter: &MessageFilter) -> Vec<Part> {
    filter.agent.clone().map(Part::Agent).into_iter().chain(filter.task.clone().map(Part::Task)).collect()
}

/// The filter with one more part, which replaces another of its kind.
fn with(filter: MessageFilter, part: Part) -> MessageFilter {
    match part {
        Part::Agent(agent) => MessageFilter { agent: Some(agent), ..filter },
        Part::Task(task) => MessageFilter { task: Some(task), ..filter },
    }
}

fn without(filter: MessageFilter, part: &Part) -> MessageFilter {
    match part {
        Part::Agent(_) => MessageFilter { agent: None, ..filter },
        Part::Task(_) => MessageFilter { task: None, ..filter },
    }
}

/// The filters by agent and task. They are part of the address, so a filtered page can be bookmarked.
#[component]
fn Filters() -> impl IntoView {
    let (data, store, navigation) = (ProjectData::from_context(), Store::from_context(), Navigation::from_context());
    let show = move |filter: MessageFilter| navigation.go(Route::Messages { project: data.project(), filter });
    let reader = Reader::current();
    let offers = Signal::derive(move || {
        let agents = data.agents.value.get().unwrap_or_default();
        let names = agents.into_iter().map(|agent| agent.name).chain(reader.persons()).chain([EVERYONE.to_owned()]);
        let names = names.map(|name| Offer { label: name_label(&name), part: Part::Agent(name) });
        names.chain(task_options(store, |_| true).into_iter().map(|(id, label)| Offer { label, part: Part::Task(id) })).collect::<Vec<_>>()
    });
    let label = move |part: &Part| match part {
        Part::Agent(agent) => name_label(agent),
        Part::Task(task) => task_label(store, task),
    };
    let chips = Signal::derive(move || {
        let removed = move |part: &Part| show(without(data.message_filter.get_untracked(), part));
        let chip = |part: Part| Chip { label: label(&part), remove: Callback::new(move |()| removed(&part)) };
        parts(&data.message_filter.get()).into_iter().map(chip).collect::<Vec<_>>()
    });
    let choose = Callback::new(move |part| show(with(data.message_filter.get_untracked(), part)));
    view! {
        <FilterOffers id="message-filters" label="Participant or task" offers=offers choose=choose />
        <Show when=move || !chips.with(Vec::is_empty)>
            <FilterChips chips=chips clear=move |()| show(MessageFilter::default()) />
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_replaces_one_of_its_kind_and_is_removed_alone() {
        let (first, second) = (Part::Agent("ben".to_owned()), Part::Agent("lea".to_owned()));
        let task = Part::Task(TaskId::new(7));
        let both = [first, task.clone(), second.clone()].into_iter().fold(MessageFilter::default(), with);
        assert_eq!(parts(&both), [second.clone(), task.clone()]);
        assert_eq!(without(without(both, &task), &second), MessageFilter::default());
    }
}
