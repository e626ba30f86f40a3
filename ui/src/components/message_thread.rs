//! One thread of messages: its task, and who wrote what to whom.

use std::collections::HashSet;

use domain::agent::{ALL, PERSON};
use domain::message::Message;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::badge::among::{name_word, names_word};
use crate::components::icon::{Icon, REPLY};
use crate::components::task_link::TaskLink;
use crate::thread::{Entry, Key, Thread};
use crate::time::Clock;

/// So many messages of a thread are shown before somebody asks for the rest.
const SHOWN: usize = 6;

#[component]
pub(crate) fn MessageThread(
    thread: Thread,
    /// Messages that the person has just been given for the first time.
    fresh: RwSignal<HashSet<i64>>,
    /// Whether it is all that is asked for, so that none of it is folded away.
    #[prop(optional)]
    alone: bool,
    /// Threads of which all is shown.
    opened: RwSignal<HashSet<Key>>,
    /// Told which message the person wants to answer.
    #[prop(optional_no_strip)]
    answer: Option<Callback<Message>>,
) -> impl IntoView {
    let Thread { key, entries } = thread;
    let hidden = if opened.with_untracked(|opened| opened.contains(&key)) || alone { 0 } else { entries.len().saturating_sub(SHOWN) };
    let head = match &key {
        // Where there is nobody to answer, the page is about the task already.
        Key::Task(task) if answer.is_some() => Some(view! { <header><TaskLink task=task.clone() /></header> }),
        Key::Task(_) | Key::Chain(_) => None,
    };
    let mut before = None;
    let shown = entries
        .iter()
        .enumerate()
        .map(|(place, entry)| {
            // An answer to what stands right above it needs no quotation.
            let quoted = entry.message.reply_to.filter(|id| before != Some(*id));
            before = Some(entry.message.id);
            let quoted = quoted.and_then(|id| entries.iter().find(|other| other.message.id == id)).map(quotation);
            (place >= hidden).then(|| view! { <Said entry=entry.clone() quoted=quoted fresh=fresh answer=answer /> })
        })
        .collect_view();
    let open_all = move |_| {
        opened.update(|opened| {
            opened.insert(key.clone());
        });
    };
    view! {
        <section class="thread-box">
            {head}
            {(hidden > 0).then(|| view! {
                <button type="button" class="button quiet small" on:click=open_all>{format!("{hidden} earlier in this thread")}</button>
            })}
            {shown}
        </section>
    }
}

fn quotation(entry: &Entry) -> String {
    format!("{}: {}", name_word(&entry.message.from_agent), domain::text::excerpt(&entry.message.content, 70))
}

#[component]
fn Said(
    entry: Entry,
    #[prop(optional_no_strip)] quoted: Option<String>,
    fresh: RwSignal<HashSet<i64>>,
    #[prop(optional_no_strip)] answer: Option<Callback<Message>>,
) -> impl IntoView {
    let clock = Clock::here();
    let Entry { message, cc } = entry;
    let (id, at) = (message.id, message.timestamp);
    let own = message.from_agent == PERSON;
    let is_new = Memo::new(move |_| fresh.with(|fresh| fresh.contains(&id)));
    let to = if message.to_agent == ALL {
        view! { <span class="badge" data-tone=Tone::Info.as_str()>"to everybody"</span> }.into_any()
    } else {
        view! { <span class="soft">{format!("to {}", name_word(&message.to_agent))}</span> }.into_any()
    };
    // Whether the person has read something is theirs to know.
    let waits = !message.read && message.to_agent != PERSON;
    let copies = (!cc.is_empty()).then(|| format!("cc: {}", names_word(cc.iter().map(String::as_str))));
    let label = format!("Reply to {}", name_word(&message.from_agent));
    let answered = message.clone();
    view! {
        <article class="said-by" data-own=own.then_some("") data-new=move || is_new.get().then_some("")>
            <header>
                <strong>{name_word(&message.from_agent)}</strong>
                {to}
                {copies.map(|copies| view! { <span class="faint">{copies}</span> })}
                {move || is_new.get().then(|| view! { <span class="badge" data-tone=Tone::Warn.as_str()>"new"</span> })}
                <span class="push"></span>
                {answer.map(|answer| view! {
                    <button type="button" class="button quiet small icon" aria-label=label title="Reply" on:click=move |_| answer.run(answered.clone())>
                        <Icon drawing=REPLY />
                    </button>
                })}
                {waits.then(|| view! { <span class="faint">"not read yet"</span> })}
                <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
            </header>
            {quoted.map(|quoted| view! { <p class="quoted">{quoted}</p> })}
            <p class="said">{message.content}</p>
        </article>
    }
}
