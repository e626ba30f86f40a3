//! One thread of messages: its task, and who wrote what to whom.

use std::collections::HashSet;

use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::Message;
use domain::wire::MessageView;
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::badge::among::{name_word, names_word};
use crate::components::icon::{Icon, REPLY};
use crate::components::task_link::TaskLink;
use crate::thread::{Key, Mark, Thread, Told, mark, notice, without_word};
use crate::time::Clock;

/// So many messages of a thread are shown before somebody asks for the rest.
const SHOWN: usize = 6;

#[component]
pub(crate) fn MessageThread(
    /// Which of the threads this is.
    key: Key,
    threads: Memo<Vec<Thread>>,
    /// Messages that the person has just been given for the first time.
    fresh: RwSignal<HashSet<Mark>>,
    /// Whether it is all that is asked for, so that none of it is folded away.
    #[prop(optional)]
    alone: bool,
    /// Threads of which all is shown.
    opened: RwSignal<HashSet<Key>>,
    /// Told which message the person wants to answer.
    #[prop(optional_no_strip)]
    answer: Option<Callback<Message>>,
) -> impl IntoView {
    let own = key.clone();
    let thread = Memo::new(move |_| threads.with(|threads| threads.iter().find(|thread| thread.key == own).cloned()));
    let own = key.clone();
    let hidden = Memo::new(move |_| {
        let all = alone || opened.with(|opened| opened.contains(&own));
        if all { 0 } else { thread.with(|thread| thread.as_ref().map_or(0, |thread| thread.told.len().saturating_sub(SHOWN))) }
    });
    let shown = move || thread.with(|thread| thread.as_ref().map(|thread| thread.shown(hidden.get())).unwrap_or_default());
    let head = match &key {
        // Where there is nobody to answer, the page is about the task already.
        Key::Task(task) if answer.is_some() => Some(view! { <header><TaskLink task=task.clone() /></header> }),
        Key::Task(_) | Key::Chain(_) => None,
    };
    let key = StoredValue::new(key);
    let open_all = move |_| {
        opened.update(|opened| {
            opened.insert(key.get_value());
        });
    };
    view! {
        <section class="thread-box">
            {head}
            <Show when=move || hidden.get() != 0>
                <button type="button" class="button quiet small" on:click=open_all>{move || format!("{} earlier in this thread", hidden.get())}</button>
            </Show>
            // A message that was drawn stays, and with it the focus on its button.
            <For each=shown key=|(told, answered)| (told.id(), told.to.len(), told.waiting.clone(), answered.as_ref().map(|answered| answered.id)) let:drawn>
                <Said told=drawn.0 quoted=drawn.1.as_ref().map(quotation) fresh=fresh answer=answer />
            </For>
        </section>
    }
}

fn quotation(message: &Message) -> String {
    format!("{}: {}", name_word(&message.from_agent), domain::text::excerpt(&message.content, 70))
}

#[component]
fn Said(
    told: Told,
    #[prop(optional_no_strip)] quoted: Option<String>,
    fresh: RwSignal<HashSet<Mark>>,
    #[prop(optional_no_strip)] answer: Option<Callback<Message>>,
) -> impl IntoView {
    let clock = Clock::here();
    let waits = waits_word(&told);
    let answer = answer.filter(|_| told.is_answerable());
    let Told { view: MessageView { message, content_html }, to, .. } = told;
    let (at, own_mark) = (message.timestamp, mark(&message));
    let own = message.from_agent == HUMAN;
    let is_new = Memo::new(move |_| fresh.with(|fresh| fresh.contains(&own_mark)));
    let to = if message.to_agent == EVERYONE {
        view! { <span class="badge" data-tone=Tone::Info.as_str()>"to everybody"</span> }.into_any()
    } else {
        view! { <span class="soft">{format!("to {}", names_word(to.iter().map(String::as_str)))}</span> }.into_any()
    };
    let copies = (!message.cc.is_empty()).then(|| {
        let names: Vec<String> = message.cc.iter().map(|name| name_word(name)).collect();
        format!("cc: {}", names.join(", "))
    });
    let label = format!("Reply to {}", name_word(&message.from_agent));
    let answered = message.clone();
    let (word, html) = parts(&message.content, content_html);
    let is_notice = word.is_some();
    view! {
        <article class="said-by" data-notice=is_notice.then_some("") data-own=own.then_some("") data-new=move || is_new.get().then_some("")>
            <header>
                <div class="said-head">
                    <strong>{name_word(&message.from_agent)}</strong>
                    {to}
                    {copies.map(|copies| view! { <span class="faint">{copies}</span> })}
                    {word.map(|word| view! { <span class="chip">{word}</span> })}
                    {move || is_new.get().then(|| view! { <span class="badge" data-tone=Tone::Warn.as_str()>"new"</span> })}
                </div>
                <div class="said-when">
                    {answer.map(|answer| view! {
                        <button type="button" class="button quiet small icon" aria-label=label title="Reply" on:click=move |_| answer.run(answered.clone())>
                            <Icon drawing=REPLY />
                        </button>
                    })}
                    {waits.map(|waits| view! { <span class="faint">{waits}</span> })}
                    <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
                </div>
            </header>
            {quoted.map(|quoted| view! { <p class="quoted">{quoted}</p> })}
            <div class="said prose" inner_html=html></div>
        </article>
    }
}

/// Who has not been given it. Whether the person has read something is theirs to know.
fn waits_word(told: &Told) -> Option<String> {
    let waiting: Vec<&str> = told.waiting.iter().map(String::as_str).filter(|name| *name != HUMAN).collect();
    match waiting.len() {
        0 => None,
        count if count == told.to.len() => Some("not read yet".to_owned()),
        _ => Some(format!("not read by {}", names_word(waiting))),
    }
}

/// The word of a notice, and what was written. What the gates tell is told by the dozen, and is read at a glance.
fn parts(content: &str, html: String) -> (Option<String>, String) {
    let apart = notice(content).and_then(|(word, _)| Some((word.to_owned(), without_word(&html, word)?)));
    match apart {
        Some((word, rest)) => (Some(word), rest),
        None => (None, html),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notice_shows_its_word_once() {
        let parts = |content: &str, html: &str| parts(content, html.to_owned());
        let shown = |word: Option<&str>, rest: &str| (word.map(str::to_owned), rest.to_owned());
        assert_eq!(parts("[REVIEW] *Now*", "<p>[REVIEW] <em>Now</em></p>\n"), shown(Some("REVIEW"), "<p><em>Now</em></p>\n"));
        assert_eq!(parts("*Now*", "<p><em>Now</em></p>\n"), shown(None, "<p><em>Now</em></p>\n"));
        let link = "<p><a href=\"https://x.y\">REVIEW</a> it</p>\n";
        assert_eq!(parts("[REVIEW](https://x.y) it", link), shown(None, link));
    }
}
