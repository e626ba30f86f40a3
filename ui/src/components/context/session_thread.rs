//! The thread of a context session: the messages that the reader may read, oldest first, each with its readers.
//!
//! Private notes of others are shown to the owner of the board when they ask for it, once: no event loads them again.

use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, SessionMessage};
use domain::team::person::Right;
use domain::wire::{QuotedMessage, SessionThread};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, ThreadPart};
use crate::components::badge::team::{name_heading, name_label};
use crate::components::icon::{Icon, REPLY};
use crate::components::inline_code::sentence;
use crate::components::prose::Prose;
use crate::focus::bring_into_view;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::Clock;

/// Distance from the end, in pixels, at which the list still counts as scrolled to its end.
const END_MARGIN: i32 = 80;

/// The readers of a message in a word, and in a sentence.
pub(crate) const fn visibility_label(visibility: Visibility) -> (&'static str, &'static str) {
    match visibility {
        Visibility::Public => ("public", "Everyone who may read the session"),
        Visibility::Private => ("private", "Its sender alone"),
        Visibility::AgentOnly => ("agent only", "Its sender and the later agents in the same role"),
        Visibility::AdminOnly => ("owner only", "The owner of the board"),
    }
}

/// Adds a part of the thread to the known messages. Newest messages that leave a gap replace them.
fn merge(known: &mut SessionThread, part: SessionThread, which: ThreadPart) {
    let (first, last) = (known.messages.first().map(|message| message.id), known.messages.last().map(|message| message.id));
    let has_gap = part.earlier.is_some() && last < part.messages.first().map(|message| message.id);
    match which {
        ThreadPart::Before(_) => known.earlier = part.earlier,
        ThreadPart::After(_) => known.later = part.later,
        ThreadPart::Newest | ThreadPart::Hidden(_) => {
            known.later = None;
            if has_gap || first.is_none() {
                *known = part;
                return;
            }
        }
    }
    known.total_count = part.total_count;
    known.messages.retain(|message| part.messages.iter().all(|new| new.id != message.id));
    known.messages.extend(part.messages);
    known.messages.sort_by_key(|message| message.id);
    known.answered.extend(part.answered);
}

/// The message that another one answers, if the reader may read it.
fn quoted(thread: &SessionThread, message: &SessionMessage) -> Option<QuotedMessage> {
    let parent = message.parent_message_id?;
    let quote =
        |known: &SessionMessage| QuotedMessage { id: known.id, sender: known.sender.clone(), excerpt: domain::text::excerpt(&known.content, 80) };
    let shown = thread.messages.iter().find(|known| known.id == parent).map(quote);
    shown.or_else(|| thread.answered.iter().find(|known| known.id == parent).cloned())
}

#[component]
pub(crate) fn SessionThreadView(
    session: ContextSessionId,
    /// The message to begin with, instead of the newest.
    at: Option<i64>,
    replying_to: RwSignal<Option<SessionMessage>>,
) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let session = StoredValue::new(session);
    let (thread, list) = (RwSignal::new(None::<SessionThread>), NodeRef::<Div>::new());
    let newest =
        LiveList::new(store.revision_of(ListKind::Sessions), |_| false, move || client.session_thread(session.get_value(), ThreadPart::Newest))
            .watch();
    let is_at_end = move || list.get_untracked().is_none_or(|list| list.scroll_height() - list.scroll_top() - list.client_height() < END_MARGIN);
    let scroll_to = move |above_end: i32| {
        request_animation_frame(move || {
            if let Some(list) = list.try_get_untracked().flatten() {
                list.set_scroll_top(list.scroll_height() - above_end);
            }
        });
    };
    let add = move |part: SessionThread, which: ThreadPart| {
        let _page_closed = thread.try_update(|thread| merge(thread.get_or_insert_default(), part, which));
    };
    if let Some(message) = at {
        spawn_local(async move {
            if let Ok(part) = client.session_thread(session.get_value(), ThreadPart::Before(message + 1)).await {
                let later = part.later;
                let _page_closed = thread.try_set(Some(part));
                if let Some(later) = later
                    && let Ok(next) = client.session_thread(session.get_value(), ThreadPart::After(later)).await
                {
                    add(next, ThreadPart::After(later));
                }
                bring_into_view(format!("[data-finding='{message}']"), None);
            }
        });
    }
    Effect::new(move || {
        let Some(page) = newest.value.get() else { return };
        // A thread that shows older messages goes on with its own buttons.
        let waits = thread.with_untracked(|thread| thread.as_ref().map_or(at.is_some(), |thread| thread.later.is_some()));
        if !waits {
            let follows = is_at_end() && at.is_none();
            let is_changed = thread.with_untracked(|thread| {
                thread.as_ref().is_none_or(|known| known.messages.last().map(|message| message.id) != page.messages.last().map(|message| message.id))
            });
            if is_changed {
                add(page, ThreadPart::Newest);
            }
            if follows {
                scroll_to(0);
            }
        }
    });
    let load = move |which: ThreadPart| {
        client.act(client.session_thread(session.get_value(), which), move |part| {
            let below = list.try_get_untracked().flatten().map_or(0, |list| list.scroll_height() - list.scroll_top());
            add(part, which);
            if matches!(which, ThreadPart::Before(_)) {
                scroll_to(below);
            }
        });
    };
    let cursor = move |of: fn(&SessionThread) -> Option<i64>| thread.with(|thread| thread.as_ref().and_then(of));
    let entries = move || {
        let known = thread.get().unwrap_or_default();
        known.messages.iter().map(|message| (message.clone(), quoted(&known, message))).collect::<Vec<_>>()
    };
    let is_empty = Memo::new(move |_| thread.with(|thread| thread.as_ref().is_some_and(|thread| thread.messages.is_empty())));
    view! {
        <div class="context-scroll" role="log" aria-label="Findings" tabindex="0" node_ref=list>
            <div class="context-thread">
                {move || newest.failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> })}
                {move || cursor(|thread| thread.earlier).map(|before| view! {
                    <button type="button" class="button quiet" on:click=move |_| load(ThreadPart::Before(before))>"Show earlier messages"</button>
                })}
                <Show when=move || is_empty.get()>
                    <div class="empty">
                        <h2>"No findings yet"</h2>
                        <p>"Agents write here what would save another agent an exploration. You can add one below."</p>
                    </div>
                </Show>
                <For each=entries key=|(message, _)| message.id let:entry>
                    <Finding message=entry.0 quoted=entry.1 replying_to=Some(replying_to) />
                </For>
                {move || cursor(|thread| thread.later).map(|after| view! {
                    <button type="button" class="button quiet" on:click=move |_| load(ThreadPart::After(after))>"Show later messages"</button>
                })}
                {Reader::current().may(Right::Administer).then(|| view! { <HiddenNotes session=session.get_value() /> })}
            </div>
        </div>
    }
    .into_any()
}

/// The private notes of others, after the owner asked for them.
#[component]
fn HiddenNotes(session: ContextSessionId) -> impl IntoView {
    let client = Client::from_context();
    let session = StoredValue::new(session);
    let notes = RwSignal::new(None::<Vec<SessionMessage>>);
    let show = move |_| {
        let request = async move {
            let mut found = Vec::new();
            for visibility in [Visibility::Private, Visibility::AgentOnly] {
                found.extend(client.session_thread(session.get_value(), ThreadPart::Hidden(visibility)).await?.messages);
            }
            found.sort_by_key(|message| message.id);
            Ok(found)
        };
        client.act(request, move |found| drop(notes.try_set(Some(found))));
    };
    view! {
        <section class="context-hidden" aria-label="Private notes">
            {move || match notes.get() {
                None => view! {
                    <button type="button" class="button quiet small" on:click=show>"Show private notes of agents"</button>
                    <span class="faint small-text">"The project's activity will show that you read them."</span>
                }
                .into_any(),
                Some(notes) if notes.is_empty() => view! { <p class="soft small-text">"No agent has private notes in this session."</p> }.into_any(),
                Some(notes) => view! {
                    <div class="row">
                        <h2>"Private notes"</h2>
                        <button type="button" class="button quiet small" on:click=show>"Read again"</button>
                    </div>
                    {notes.into_iter().map(|note| view! { <Finding message=note quoted=None replying_to=None /> }).collect_view()}
                }
                .into_any(),
            }}
        </section>
    }
    .into_any()
}

#[component]
fn Finding(
    message: SessionMessage,
    #[prop(optional_no_strip)] quoted: Option<QuotedMessage>,
    #[prop(optional_no_strip)] replying_to: Option<RwSignal<Option<SessionMessage>>>,
) -> impl IntoView {
    let clock = Clock::from_context();
    let at = message.timestamp;
    let (word, readers) = visibility_label(message.visibility);
    let label = format!("Answer {}", name_label(&message.sender));
    let own = Reader::current().is(&message.sender);
    let hidden = message.visibility != Visibility::Public;
    let run = message.run_id.as_ref().map(ToString::to_string);
    let (id, content) = (message.id, message.content.clone());
    view! {
        <article class="message finding" data-finding=id data-own=own.then_some("") data-hidden=hidden.then_some("")>
            <header>
                <div class="message-head">
                    <strong>{name_heading(&message.sender)}</strong>
                    <span class="label-chip" title=readers>{word}</span>
                    {run.map(|run| view! { <span class="faint mono">{run}</span> })}
                </div>
                <div class="message-meta">
                    {replying_to.filter(|_| Reader::may_write()).map(|replying_to| view! {
                        <button type="button" class="button quiet small icon" aria-label=label title="Answer" on:click=move |_| replying_to.set(Some(message.clone()))>
                            <Icon drawing=REPLY />
                        </button>
                    })}
                    <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                </div>
            </header>
            {quoted.map(|quoted| view! { <p class="quoted" dir="auto">{format!("{}: {}", name_label(&quoted.sender), quoted.excerpt)}</p> })}
            <Prose text=content />
        </article>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::context::metadata::Metadata;
    use domain::time::Timestamp;

    use super::*;

    fn part(ids: &[i64], earlier: Option<i64>, later: Option<i64>) -> SessionThread {
        let message = |id: &i64| SessionMessage {
            id: *id,
            session_id: ContextSessionId::new(1),
            sender: "mara".to_owned(),
            sender_type: "agent".to_owned(),
            run_id: None,
            content: format!("Finding {id}"),
            visibility: Visibility::Public,
            metadata: Metadata::new(),
            timestamp: Timestamp::from_milliseconds(*id),
            parent_message_id: (*id > 1).then_some(id - 1),
        };
        SessionThread { messages: ids.iter().map(message).collect(), answered: Vec::new(), total_count: 9, earlier, later }
    }

    fn ids(thread: &SessionThread) -> Vec<i64> {
        thread.messages.iter().map(|message| message.id).collect()
    }

    #[test]
    fn parts_are_joined_in_both_directions() {
        let mut thread = part(&[4, 5], Some(4), Some(5));
        merge(&mut thread, part(&[2, 3], Some(2), Some(3)), ThreadPart::Before(4));
        assert_eq!((ids(&thread), thread.earlier, thread.later), (vec![2, 3, 4, 5], Some(2), Some(5)));
        merge(&mut thread, part(&[6], Some(6), None), ThreadPart::After(5));
        assert_eq!((ids(&thread), thread.earlier, thread.later), (vec![2, 3, 4, 5, 6], Some(2), None));
        merge(&mut thread, part(&[6, 7], Some(6), None), ThreadPart::Newest);
        assert_eq!((ids(&thread), thread.earlier), (vec![2, 3, 4, 5, 6, 7], Some(2)), "earlier parts stay");
        merge(&mut thread, part(&[20, 21], Some(20), None), ThreadPart::Newest);
        assert_eq!((ids(&thread), thread.earlier), (vec![20, 21], Some(20)), "a gap would hide messages");
    }

    #[test]
    fn answer_quotes_the_message_above_it() {
        let thread = part(&[3, 4], None, None);
        assert_eq!(quoted(&thread, &thread.messages[1]).unwrap().excerpt, "Finding 3");
        assert_eq!(quoted(&thread, &thread.messages[0]), None, "hidden, or not loaded");
    }
}
