//! One thread of messages.

use std::collections::HashSet;

use domain::team::agent::EVERYONE;
use domain::team::message::Message;
use domain::wire::MessageView;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Tone;
use crate::components::badge::team::{name_label, names_label};
use crate::components::board::task_link::TaskLink;
use crate::components::icon::{Icon, REPLY};
use crate::reader::Reader;
use crate::thread::{Thread, ThreadEntry, ThreadKey, notice, strip_tag};
use crate::time::Clock;

/// Entries shown before the thread is expanded.
const MAX_COLLAPSED_ENTRIES: usize = 6;

#[component]
pub(crate) fn MessageThread(
    /// The thread to show.
    key: ThreadKey,
    threads: Memo<Vec<Thread>>,
    /// Whether the page shows only this thread, which is then never collapsed.
    #[prop(optional)]
    alone: bool,
    /// The expanded threads.
    expanded: RwSignal<HashSet<ThreadKey>>,
    /// Receives the message to reply to.
    #[prop(optional_no_strip)]
    reply: Option<Callback<Message>>,
) -> impl IntoView {
    let own = key.clone();
    let thread = Memo::new(move |_| threads.with(|threads| threads.iter().find(|thread| thread.key == own).cloned()));
    let own = key.clone();
    let hidden = Memo::new(move |_| {
        let all = alone || expanded.with(|expanded| expanded.contains(&own));
        if all { 0 } else { thread.with(|thread| thread.as_ref().map_or(0, |thread| thread.entries.len().saturating_sub(MAX_COLLAPSED_ENTRIES))) }
    });
    let shown = move || thread.with(|thread| thread.as_ref().map(|thread| thread.shown(hidden.get())).unwrap_or_default());
    let head = match &key {
        // The task panel offers no replies, and it needs no link to its own task.
        ThreadKey::Task(task) if reply.is_some() => Some(view! { <header><TaskLink task=task.clone() /></header> }),
        ThreadKey::Task(_) | ThreadKey::Chain(_) => None,
    };
    let key = StoredValue::new(key);
    let expand = move |_| {
        expanded.update(|expanded| {
            expanded.insert(key.get_value());
        });
    };
    view! {
        <section class="thread-box">
            {head}
            <Show when=move || hidden.get() != 0>
                <button type="button" class="button quiet small" on:click=expand>{move || format!("Show {} earlier", hidden.get())}</button>
            </Show>
            // The key keeps unchanged entries, and with them the focus on their buttons.
            <For each=shown key=|(entry, answered)| (entry.id(), entry.to.len(), entry.unread_by.clone(), entry.acknowledged, answered.as_ref().map(|answered| answered.id)) let:shown>
                <MessageEntry entry=shown.0 quoted=shown.1.as_ref().map(quotation) reply=reply />
            </For>
        </section>
    }
}

fn quotation(message: &Message) -> String {
    format!("{}: {}", name_label(&message.from_agent), domain::text::excerpt(&message.content, 70))
}

#[component]
fn MessageEntry(
    entry: ThreadEntry,
    #[prop(optional_no_strip)] quoted: Option<String>,
    #[prop(optional_no_strip)] reply: Option<Callback<Message>>,
) -> impl IntoView {
    let (client, clock) = (Client::from_context(), Clock::from_context());
    let mark = mark(&entry);
    let received = entry.unread_by_reader(|name| Reader::current().is(name));
    let reply = reply.filter(|_| entry.is_answerable() && Reader::may_write());
    let ThreadEntry { view: MessageView { message, content_html, .. }, to, .. } = entry;
    let at = message.timestamp;
    let own = Reader::current().is(&message.from_agent);
    let unread_id = received.as_ref().map(|message| message.id);
    let is_new = unread_id.is_some();
    let to = if message.to_agent == EVERYONE {
        view! { <span class="badge" data-tone=Tone::Info.as_str()>"to everyone"</span> }.into_any()
    } else {
        view! { <span class="soft">{format!("to {}", names_label(to.iter().map(String::as_str)))}</span> }.into_any()
    };
    let copies = (!message.cc.is_empty()).then(|| {
        let names: Vec<String> = message.cc.iter().map(|name| name_label(name)).collect();
        format!("cc: {}", names.join(", "))
    });
    let label = format!("Reply to {}", name_label(&message.from_agent));
    let answered = received.unwrap_or_else(|| message.clone());
    let (tag, html) = split_notice(&message.content, content_html);
    let is_notice = tag.is_some();
    view! {
        <article class="message" data-notice=is_notice.then_some("") data-own=own.then_some("") data-new=is_new.then_some("")>
            <header>
                <div class="message-head">
                    <strong>{name_label(&message.from_agent)}</strong>
                    {to}
                    {copies.map(|copies| view! { <span class="faint">{copies}</span> })}
                    {tag.map(|tag| view! { <span class="label-chip">{tag}</span> })}
                    {is_new.then(|| view! { <span class="badge" data-tone=Tone::Warn.as_str()>"new"</span> })}
                </div>
                <div class="message-meta">
                    {unread_id.filter(|_| Reader::may_write()).map(|id| view! {
                        <button type="button" class="button small" on:click=move |_| client.act(client.read_message(id), |_| {})>"Mark as read"</button>
                    })}
                    {reply.map(|reply| view! {
                        <button type="button" class="button quiet small icon" aria-label=label title="Reply" on:click=move |_| reply.run(answered.clone())>
                            <Icon drawing=REPLY />
                        </button>
                    })}
                    {mark.map(|mark| view! { <span class="faint">{mark}</span> })}
                    <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                </div>
            </header>
            {quoted.map(|quoted| view! { <p class="quoted">{quoted}</p> })}
            <div class="message-text prose" inner_html=html></div>
        </article>
    }
}

/// How far the message is: not delivered, delivered, or read. The reader knows what they have read themself.
fn mark(entry: &ThreadEntry) -> Option<String> {
    let reader = Reader::current();
    let is_for_others = entry.to.iter().any(|name| !reader.is(name));
    let waiting: Vec<&str> = entry.unread_by.iter().map(String::as_str).filter(|name| !reader.is(name)).collect();
    is_for_others.then(|| mark_words(&waiting, entry.to.len(), entry.acknowledged))
}

fn mark_words(waiting: &[&str], recipients: usize, is_read: bool) -> String {
    match waiting.len() {
        0 if is_read => "✓✓ read".to_owned(),
        0 => "✓ delivered".to_owned(),
        count if count == recipients => "not delivered yet".to_owned(),
        _ => format!("not delivered to {}", names_label(waiting.iter().copied())),
    }
}

/// The tag of a notice and the HTML without it, or the unchanged HTML of a written message.
fn split_notice(content: &str, html: String) -> (Option<String>, String) {
    let split = notice(content).and_then(|(tag, _)| Some((tag.to_owned(), strip_tag(&html, tag)?)));
    match split {
        Some((tag, rest)) => (Some(tag), rest),
        None => (None, html),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_says_how_far_it_is() {
        assert_eq!(mark_words(&["mara"], 1, false), "not delivered yet");
        assert_eq!(mark_words(&["mara"], 2, false), "not delivered to mara");
        assert_eq!((mark_words(&[], 2, false), mark_words(&[], 2, true)), ("✓ delivered".to_owned(), "✓✓ read".to_owned()));
    }

    #[test]
    fn notice_tag_is_shown_once() {
        let split = |content: &str, html: &str| split_notice(content, html.to_owned());
        let shown = |tag: Option<&str>, rest: &str| (tag.map(str::to_owned), rest.to_owned());
        assert_eq!(
            split("[REVIEW] *Now*", "<p dir=\"auto\">[REVIEW] <em>Now</em></p>\n"),
            shown(Some("REVIEW"), "<p dir=\"auto\"><em>Now</em></p>\n")
        );
        assert_eq!(split("*Now*", "<p><em>Now</em></p>\n"), shown(None, "<p><em>Now</em></p>\n"));
        let link = "<p><a href=\"https://x.y\">REVIEW</a> it</p>\n";
        assert_eq!(split("[REVIEW](https://x.y) it", link), shown(None, link));
    }
}
