//! The dialog for a new goal.

use domain::goal::NewGoal;
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::room::Room;

#[component]
pub(crate) fn NewGoalDialog(close: Callback<()>) -> impl IntoView {
    let (client, room) = (Client::here(), Room::here());
    let (title, description) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let sending = RwSignal::new(false);
    let ready = move || !sending.get() && !title.with(|title| title.trim().is_empty());
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        if !ready() {
            return;
        }
        sending.set(true);
        let described = Some(description.get_untracked()).filter(|description| !description.trim().is_empty());
        let new = NewGoal { title: title.get_untracked(), description: described };
        client.watch(client.create_goal(room.project(), new), move |result| {
            let _closed_meanwhile = sending.try_set(false);
            if result.is_ok() {
                close.run(());
            }
        });
    };
    view! {
        <Dialog title="New goal" close=close>
            <form on:submit=submit autocomplete="off">
                <div class="field">
                    <label for="goal-title">"What is to be reached"</label>
                    <input id="goal-title" class="input" autofocus maxlength="500" bind:value=title />
                </div>
                <div class="field">
                    <label for="goal-description">"How one can tell (may be left out)"</label>
                    <textarea
                        id="goal-description"
                        class="input"
                        prop:value=description
                        on:input:target=move |event| description.set(event.target().value())
                    ></textarea>
                </div>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
                    <button type="submit" class="button primary" disabled=move || !ready()>"Create"</button>
                </footer>
            </form>
        </Dialog>
    }
}
