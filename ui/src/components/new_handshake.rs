//! The dialog by which the person tells a plan that others are to acknowledge.

use domain::wire::NewHandshake;
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::room::Room;

#[component]
pub(crate) fn NewHandshakeDialog(close: Callback<()>) -> impl IntoView {
    let (client, room) = (Client::here(), Room::here());
    let words = RwSignal::new(String::new());
    let asked = RwSignal::new(Vec::<String>::new());
    let sending = RwSignal::new(false);
    let ready = move || !sending.get() && !words.with(|words| words.trim().is_empty());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if !ready() {
            return;
        }
        sending.set(true);
        let new = NewHandshake { message: words.get_untracked(), agents: asked.get_untracked() };
        client.watch(client.begin_handshake(room.project(), new), move |result| {
            let _closed_meanwhile = sending.try_set(false);
            if result.is_ok() {
                close.run(());
            }
        });
    };
    let picks = move || {
        let pick = |name: String| {
            let (picked, toggled) = (name.clone(), name.clone());
            let toggle = move |on: bool| {
                asked.update(|asked| {
                    asked.retain(|known| *known != toggled);
                    if on {
                        asked.push(toggled.clone());
                    }
                });
            };
            view! {
                <label class="pick">
                    <input
                        type="checkbox"
                        prop:checked=move || asked.with(|asked| asked.contains(&picked))
                        on:change:target=move |event| toggle(event.target().checked())
                    />
                    {name}
                </label>
            }
        };
        room.present().into_iter().map(|agent| pick(agent.name)).collect_view()
    };
    view! {
        <Dialog title="Begin a handshake" close=close>
            <form on:submit=submit>
                <div class="field">
                    <label for="handshake-words">"What everybody is to agree to"</label>
                    <textarea
                        id="handshake-words"
                        class="input"
                        autofocus
                        prop:value=words
                        on:input:target=move |event| words.set(event.target().value())
                    ></textarea>
                </div>
                <fieldset class="field">
                    <legend class="label">"Who is asked"</legend>
                    <div class="picks">{picks}</div>
                    <p class="hint">"With nobody picked, everybody who does not lead."</p>
                </fieldset>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
                    <button type="submit" class="button primary" disabled=move || !ready()>"Begin"</button>
                </footer>
            </form>
        </Dialog>
    }
}
