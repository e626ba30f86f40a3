//! The composer of a message to agents. Incoming messages do not disturb the typed text.

use domain::id::TaskId;
use domain::team::agent::EVERYONE;
use domain::team::message::{Message, NewMessage};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, KeyboardEvent, SubmitEvent};

use crate::client::Client;
use crate::components::badge::team::{name_label, names_label};
use crate::components::board::task_picker::TaskPicker;
use crate::components::cc_picker::CcPicker;
use crate::components::form::has_text;
use crate::components::icon::{CLOSE, Icon};
use crate::components::prose::{Preview, PreviewButton};
use crate::components::toast::Toasts;
use crate::draft::draft;
use crate::project_data::ProjectData;
use crate::reader::Reader;

const FIELD: &str = "message-text";

/// Focuses the text field, if it is on the page.
pub(crate) fn focus_message() {
    let field = document().get_element_by_id(FIELD).and_then(|field| field.dyn_into::<HtmlElement>().ok());
    if let Some(field) = field {
        let _focused = field.focus();
    }
}

/// The recipient of a reply: the sender, or the recipient of the reader's own message.
pub(crate) fn reply_recipient(message: &Message) -> &str {
    if Reader::current().is(&message.from_agent) { &message.to_agent } else { &message.from_agent }
}

#[component]
pub(crate) fn MessageComposer(
    /// The message to reply to.
    replying_to: RwSignal<Option<Message>>,
) -> impl IntoView {
    let (client, data, toasts) = (Client::from_context(), ProjectData::from_context(), Toasts::from_context());
    let text = draft(&format!("message/{}", data.project()));
    let to = RwSignal::new(String::new());
    let task = RwSignal::new(Vec::<TaskId>::new());
    let cc = RwSignal::new(Vec::<String>::new());
    let sending = RwSignal::new(false);
    let active = data.active_agents();
    // Leads receive a copy of every message anyway.
    let cc_candidates = Memo::new(move |_| {
        let to = to.get();
        let others = active.get().into_iter().filter(|agent| to != EVERYONE && agent.name != to && !agent.is_lead());
        others.map(|agent| agent.name).collect::<Vec<_>>()
    });
    Effect::new(move || {
        let candidates = cc_candidates.get();
        if cc.with_untracked(|cc| cc.iter().any(|name| !candidates.contains(name))) {
            cc.update(|cc| cc.retain(|name| candidates.contains(name)));
        }
    });
    let (reader, previewing) = (Reader::current(), RwSignal::new(false));
    // A filter by agent or task presets the recipient and the task.
    Effect::new(move || {
        let filter = data.message_filter.get();
        task.set(filter.task.into_iter().collect());
        if let Some(agent) = filter.agent.filter(|agent| !reader.is(agent)) {
            to.set(agent);
        }
    });
    Effect::new(move || {
        if let Some(message) = replying_to.get() {
            to.set(reply_recipient(&message).to_owned());
            focus_message();
        }
    });
    let ready = move || !sending.get() && !to.with(String::is_empty) && has_text(text);
    let send = Callback::new(move |()| {
        if !ready() {
            return;
        }
        sending.set(true);
        let answered = replying_to.get_untracked();
        let reply_to = answered.as_ref().map(|message| message.id);
        let received = answered.filter(|message| Reader::current().is(&message.to_agent) && !message.read).map(|message| message.id);
        let new = NewMessage {
            to: to.get_untracked(),
            content: text.get_untracked(),
            cc: cc.get_untracked(),
            // A reply inherits the task of its original.
            task_id: task.get_untracked().pop().filter(|_| reply_to.is_none()),
            reply_to,
        };
        client.watch(client.send_message(data.project(), new), move |result| {
            let _page_closed = sending.try_set(false);
            if let Ok(sent) = result {
                if let Some(received) = received {
                    client.act(client.read_message(received), |_| {});
                }
                let _page_closed = (text.try_set(String::new()), replying_to.try_set(None), cc.try_set(Vec::new()));
                if !sent.cc.is_empty() {
                    toasts.success(format!("Sent, with copies to {}.", names_label(sent.cc.iter().map(String::as_str))));
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
    let names = Memo::new(move |_| active.get().into_iter().map(|agent| agent.name).collect::<Vec<_>>());
    let recipients = move || {
        let names = names.get().into_iter().chain([EVERYONE.to_owned()]);
        names
            .map(|name| view! { <option value=name.clone() selected=to.with_untracked(|to| *to == name)>{name_label(&name)}</option> })
            .collect_view()
    };
    view! {
        <form class="composer" on:submit=move |event: SubmitEvent| {
            event.prevent_default();
            send.run(());
        }>
            {move || replying_to.get().map(|message| view! {
                <p class="replying row small-text">
                    <span class="soft">{format!("Replying to {}: ", name_label(&message.from_agent))}</span>
                    <span class="faint excerpt">{domain::text::excerpt(&message.content, 80)}</span>
                    <button type="button" class="button quiet small icon" aria-label="Cancel reply" on:click=move |_| replying_to.set(None)>
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
                    <CcPicker names=cc_candidates picked=cc />
                </Show>
                <Show when=move || replying_to.with(Option::is_none)>
                    <TaskPicker id="message-task" label="Task (optional)" chosen=task single=true hides_label=true />
                </Show>
            </div>
            <textarea
                id=FIELD
                class="input"
                rows="2"
                hidden=move || previewing.get()
                aria-label="Message"
                placeholder="Write to an agent"
                prop:value=text
                on:input:target=move |event| text.set(event.target().value())
                on:keydown=on_key
            ></textarea>
            <Preview text=text previewing=previewing />
            <div class="row">
                <Show when=move || to.with(|to| to == EVERYONE)>
                    <span class="small-text soft">"Every active agent receives it."</span>
                </Show>
                <PreviewButton text=text previewing=previewing />
                <span class="faint small-text spacer shortcut">"Ctrl + Enter"</span>
                <button type="submit" class="button primary" disabled=move || !ready()>"Send"</button>
            </div>
        </form>
    }
}
