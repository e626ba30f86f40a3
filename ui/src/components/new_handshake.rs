//! The dialog by which the person tells a plan that others are to acknowledge.

use domain::wire::NewHandshake;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Picks, Sending, WordsField, written};
use crate::room::Room;

#[component]
pub(crate) fn NewHandshakeDialog(close: Callback<()>) -> impl IntoView {
    let (client, room, sending) = (Client::here(), Room::here(), Sending::new());
    let words = RwSignal::new(String::new());
    let asked = RwSignal::new(Vec::<String>::new());
    let present = room.present();
    let names = Signal::derive(move || present.get().into_iter().map(|agent| agent.name).collect::<Vec<_>>());
    let submit = move |()| {
        let new = NewHandshake { message: words.get_untracked(), agents: asked.get_untracked() };
        sending.run(client.begin_handshake(room.project(), new), move |_| close.run(()));
    };
    view! {
        <Dialog title="Begin a handshake" close=close>
            <Form verb="Begin" ready=Signal::derive(move || written(words)) sending=sending submit=submit close=close>
                <WordsField id="handshake-words" label="What everybody is to agree to" value=words autofocus=true />
                <Picks legend="Who is asked" offered=names picked=asked hint="With nobody picked, everybody who does not lead." />
            </Form>
        </Dialog>
    }
}
