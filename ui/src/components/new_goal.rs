//! The dialog for a new goal.

use domain::board::goal::NewGoal;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, LineField, Sending, WordsField, given, written};
use crate::room::Room;

#[component]
pub(crate) fn NewGoalDialog(close: Callback<()>) -> impl IntoView {
    let (client, room, sending) = (Client::here(), Room::here(), Sending::new());
    let (title, description) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let submit = move |()| {
        let new = NewGoal { title: title.get_untracked(), description: given(description) };
        sending.run(client.create_goal(room.project(), new), move |_| close.run(()));
    };
    view! {
        <Dialog title="New goal" close=close>
            <Form verb="Create" ready=Signal::derive(move || written(title)) sending=sending submit=submit close=close>
                <LineField id="goal-title" label="What is to be reached" value=title longest=500 autofocus=true />
                <WordsField id="goal-description" label="How one can tell (may be left out)" value=description />
            </Form>
        </Dialog>
    }
}
