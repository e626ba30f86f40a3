//! The dialog that initiates a handshake.

use domain::wire::NewHandshake;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{CheckboxGroup, Form, Sending, TextArea, has_text};
use crate::project_data::ProjectData;

#[component]
pub(crate) fn NewHandshakeDialog(close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let text = RwSignal::new(String::new());
    let targets = RwSignal::new(Vec::<String>::new());
    let active = data.active_agents();
    let names = Signal::derive(move || active.get().into_iter().map(|agent| agent.name).collect::<Vec<_>>());
    let submit = move |()| {
        let new = NewHandshake { message: text.get_untracked(), agents: targets.get_untracked() };
        sending.run(client.initiate_handshake(data.project(), new), move |_| close.run(()));
    };
    view! {
        <Dialog title="Initiate handshake" close=close>
            <Form verb="Initiate" ready=Signal::derive(move || has_text(text)) sending=sending submit=submit close=close>
                <TextArea id="handshake-text" label="Plan to acknowledge" value=text autofocus=true />
                <CheckboxGroup legend="Targets" offered=names picked=targets hint="Leave empty to ask everyone except leads." />
            </Form>
        </Dialog>
    }
}
