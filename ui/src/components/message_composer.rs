//! Where the person writes to agents. What was typed stays while messages come in around it.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::team::agent::{EVERYONE, HUMAN};
use domain::team::message::{Message, NewMessage};
use domain::team::role::Role;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, SubmitEvent};

use crate::client::Client;
use crate::components::badge::among::name_word;
use crate::components::copy_picks::CopyPicks;
use crate::components::icon::{CLOSE, Icon};
use crate::components::toast::Toasts;
use crate::room::Room;
use crate::store::Store;

const FIELD: &str = "message-words";

/// Puts the focus where the person writes, if that is on the page.
pub(crate) fn focus_message() {
    let field = document().get_element_by_id(FIELD).and_then(|field| field.dyn_into::<HtmlElement>().ok());
    if let Some(field) = field {
        let _focused = field.focus();
    }
}

/// To whom a reply goes: whoever wrote, or, where that was the person, whoever was written.
pub(crate) fn answer_to(message: &Message) -> &str {
    if message.from_agent == HUMAN { &message.to_agent } else { &message.from_agent }
}

#[component]
pub(crate) fn MessageComposer(
    /// The message that is replied to.
    answering: RwSignal<Option<Message>>,
) -> impl IntoView {
    let (client, room, store, toasts) = (Client::here(), Room::here(), Store::here(), Toasts::here());
    let words = RwSignal::new(String::new());
    let to = RwSignal::new(String::new());
    let task = RwSignal::new(None::<TaskId>);
    let copies = RwSignal::new(Vec::<String>::new());
    let sending = RwSignal::new(false);
    let present = room.present();
    // Leads get a copy of everything as it is.
    let copied = Memo::new(move |_| {
        let to = to.get();
        let others = present.get().into_iter().filter(|agent| to != EVERYONE && agent.name != to && !agent.roles.contains(&Role::Lead));
        others.map(|agent| agent.name).collect::<Vec<_>>()
    });
    Effect::new(move || {
        let copied = copied.get();
        if copies.with_untracked(|copies| copies.iter().any(|name| !copied.contains(name))) {
            copies.update(|copies| copies.retain(|name| copied.contains(name)));
        }
    });
    // Who looks at one agent or task probably writes about it.
    Effect::new(move || {
        let said = room.said.get();
        task.set(said.task);
        if let Some(agent) = said.agent.filter(|agent| agent != HUMAN) {
            to.set(agent);
        }
    });
    Effect::new(move || {
        if let Some(message) = answering.get() {
            to.set(answer_to(&message).to_owned());
            focus_message();
        }
    });
    let ready = move || !sending.get() && !to.with(String::is_empty) && !words.with(|words| words.trim().is_empty());
    let send = Callback::new(move |()| {
        if !ready() {
            return;
        }
        sending.set(true);
        let reply_to = answering.with_untracked(|message| message.as_ref().map(|message| message.id));
        let new = NewMessage {
            to: to.get_untracked(),
            content: words.get_untracked(),
            cc: copies.get_untracked(),
            // A reply belongs to the task of what it answers.
            task_id: task.get_untracked().filter(|_| reply_to.is_none()),
            reply_to,
        };
        client.watch(client.say(room.project(), new), move |result| {
            let _left_meanwhile = sending.try_set(false);
            if let Ok(sent) = result {
                let _left_meanwhile = (words.try_set(String::new()), answering.try_set(None), copies.try_set(Vec::new()));
                if !sent.cc.is_empty() {
                    toasts.news(format!("Sent, with copies to {}.", crate::components::badge::among::names_word(sent.cc.iter().map(String::as_str))));
                }
            }
        });
    });
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            send.run(());
        }
    };
    let names = Memo::new(move |_| present.get().into_iter().map(|agent| agent.name).collect::<Vec<_>>());
    let recipients = move || {
        let names = names.get().into_iter().chain([EVERYONE.to_owned()]);
        names.map(|name| view! { <option value=name.clone() selected=to.with_untracked(|to| *to == name)>{name_word(&name)}</option> }).collect_view()
    };
    let tasks = Memo::new(move |_| store.follow_cards(|cards| cards.iter().filter(|card| about(card, &task.get())).map(named).collect::<Vec<_>>()));
    let topics = move || {
        let pick = |(id, title): (TaskId, String)| {
            let chosen = task.with_untracked(|task| task.as_ref() == Some(&id));
            view! { <option value=id.to_string() selected=chosen>{title}</option> }
        };
        tasks.get().into_iter().map(pick).collect_view()
    };
    view! {
        <form class="composer" on:submit=move |event: SubmitEvent| {
            event.prevent_default();
            send.run(());
        }>
            {move || answering.get().map(|message| view! {
                <p class="replying row small-text">
                    <span class="soft">{format!("Replying to {}: ", name_word(&message.from_agent))}</span>
                    <span class="faint excerpt">{domain::text::excerpt(&message.content, 80)}</span>
                    <button type="button" class="button quiet small icon" aria-label="Do not reply to it" on:click=move |_| answering.set(None)>
                        <Icon drawing=CLOSE />
                    </button>
                </p>
            })}
            <div class="row">
                <select class="input narrow" aria-label="To" prop:value=to on:change:target=move |event| to.set(event.target().value())>
                    <option value="">"To…"</option>
                    {recipients}
                </select>
                <Show when=move || !to.with(String::is_empty)>
                    <CopyPicks names=copied picked=copies />
                </Show>
                <Show when=move || answering.with(Option::is_none)>
                    <select
                        class="input narrow"
                        aria-label="About a task"
                        prop:value=move || task.get().map(|task| task.to_string()).unwrap_or_default()
                        on:change:target=move |event| task.set(event.target().value().parse().ok())
                    >
                        <option value="">"About no task"</option>
                        {topics}
                    </select>
                </Show>
            </div>
            <textarea
                id=FIELD
                class="input"
                rows="2"
                aria-label="Message"
                placeholder="Write to an agent"
                prop:value=words
                on:input:target=move |event| words.set(event.target().value())
                on:keydown=on_key
            ></textarea>
            <div class="row">
                <Show when=move || to.with(|to| to == EVERYONE)>
                    <span class="small-text soft">"Everybody who is there reads it."</span>
                </Show>
                <span class="faint small-text push shortcut">"Ctrl + Enter"</span>
                <button type="submit" class="button primary" disabled=move || !ready()>"Send"</button>
            </div>
        </form>
    }
}

/// Whether one may want to write about a card: it is open, or chosen already.
fn about(card: &Card, chosen: &Option<TaskId>) -> bool {
    card.status.is_open() || chosen.as_ref() == Some(&card.id)
}

fn named(card: &Card) -> (TaskId, String) {
    (card.id.clone(), format!("{} {}", card.id, domain::text::excerpt(&card.title, 60)))
}
