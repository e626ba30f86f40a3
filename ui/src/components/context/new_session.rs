//! The dialog that creates a context session.

use domain::context::metadata::Metadata;
use domain::context::session::NewContextSession;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text};
use crate::project_data::ProjectData;
use crate::route::{ContextPlace, Navigation, Route};

#[component]
pub(crate) fn NewSessionDialog(close: Callback<()>) -> impl IntoView {
    let (client, data, navigation, sending) = (Client::from_context(), ProjectData::from_context(), Navigation::from_context(), Sending::new());
    let purpose = RwSignal::new(String::new());
    let submit = move |()| {
        let new = NewContextSession { purpose: purpose.get_untracked(), metadata: Metadata::new() };
        sending.run(client.create_context_session(data.project(), new), move |created| {
            close.run(());
            let place = ContextPlace { session: Some(created.id), ..ContextPlace::default() };
            navigation.go(Route::Context { project: data.project(), place });
        });
    };
    view! {
        <Dialog title="New session" close=close>
            <Form verb="Create" ready=Signal::derive(move || has_text(purpose)) sending=sending submit=submit close=close>
                <TextField id="session-purpose" label="Purpose" value=purpose max_length=500 autofocus=true />
            </Form>
        </Dialog>
    }
    .into_any()
}
