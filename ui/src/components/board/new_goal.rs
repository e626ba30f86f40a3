//! The dialog that creates a goal.

use domain::board::goal::NewGoal;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, has_text, non_empty};
use crate::project_data::ProjectData;

#[component]
pub(crate) fn NewGoalDialog(close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let (title, description) = (RwSignal::new(String::new()), RwSignal::new(String::new()));
    let submit = move |()| {
        let new = NewGoal { title: title.get_untracked(), description: non_empty(description) };
        sending.run(client.create_goal(data.project(), new), move |_| close.run(()));
    };
    view! {
        <Dialog title="New goal" close=close>
            <Form verb="Create" ready=Signal::derive(move || has_text(title)) sending=sending submit=submit close=close>
                <TextField id="goal-title" label="Goal" value=title max_length=500 autofocus=true />
                <TextArea id="goal-description" label="Success criteria (optional)" value=description />
            </Form>
        </Dialog>
    }
}
