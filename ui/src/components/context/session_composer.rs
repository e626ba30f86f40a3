//! The composer of a message in a context session.

use domain::context::metadata::Metadata;
use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, NewSessionMessage, SessionMessage};
use domain::team::person::Right;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, SubmitEvent};

use crate::client::Client;
use crate::components::badge::team::name_label;
use crate::components::form::{Sending, has_text};
use crate::components::icon::{CLOSE, Icon};
use crate::components::prose::{Preview, PreviewButton};
use crate::draft::{discard, draft};
use crate::reader::Reader;

#[component]
pub(crate) fn SessionComposer(session: ContextSessionId, replying_to: RwSignal<Option<SessionMessage>>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let key = StoredValue::new(format!("session/{session}"));
    let session = StoredValue::new(session);
    let text = draft(&key.get_value());
    let previewing = RwSignal::new(false);
    let visibility = RwSignal::new(Visibility::Public);
    let is_owner = Reader::current().may(Right::Administer);
    let ready = move || has_text(text) && !sending.is_busy();
    let send = Callback::new(move |()| {
        if !untrack(ready) {
            return;
        }
        let new = NewSessionMessage {
            content: text.get_untracked(),
            visibility: Some(visibility.get_untracked()),
            metadata: Metadata::new(),
            parent_message_id: replying_to.with_untracked(|message| message.as_ref().map(|message| message.id)),
        };
        sending.run(client.add_session_message(session.get_value(), new), move |_| {
            discard(&key.get_value());
            text.set(String::new());
            replying_to.set(None);
        });
    });
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            send.run(());
        }
    };
    let options = [(Visibility::Public, "Everyone"), (Visibility::Private, "Only you"), (Visibility::AdminOnly, "Only the owner")];
    let options = options
        .into_iter()
        .filter(|(visibility, _)| *visibility != Visibility::AdminOnly || is_owner)
        .map(|(visibility, label)| view! { <option value=visibility.as_str()>{label}</option> })
        .collect_view();
    view! {
        <form class="composer" on:submit=move |event: SubmitEvent| {
            event.prevent_default();
            send.run(());
        }>
            {move || replying_to.get().map(|message| view! {
                <p class="replying row small-text">
                    <span class="soft">{format!("Answering {}: ", name_label(&message.sender))}</span>
                    <span class="faint excerpt" dir="auto">{domain::text::excerpt(&message.content, 80)}</span>
                    <button type="button" class="button quiet small icon" aria-label="Cancel the reply" on:click=move |_| replying_to.set(None)>
                        <Icon drawing=CLOSE />
                    </button>
                </p>
            })}
            <textarea
                class="input"
                rows="2"
                dir="auto"
                hidden=move || previewing.get()
                aria-label="Finding"
                placeholder="Add a finding. It does not interrupt any agent."
                prop:value=text
                on:input:target=move |event| text.set(event.target().value())
                on:keydown=on_key
            ></textarea>
            <Preview text=text previewing=previewing />
            <div class="row">
                <select
                    class="input narrow"
                    aria-label="Readers"
                    prop:value=move || visibility.get().as_str()
                    on:change:target=move |event| if let Ok(chosen) = event.target().value().parse() { visibility.set(chosen) }
                >
                    {options}
                </select>
                <PreviewButton text=text previewing=previewing />
                <span class="faint small-text spacer shortcut">"Ctrl + Enter"</span>
                <button type="submit" class="button primary" disabled=move || !ready()>"Add"</button>
            </div>
        </form>
    }
    .into_any()
}
