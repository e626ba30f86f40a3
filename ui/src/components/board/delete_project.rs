//! The dialog that deletes a project, after the person typed its title.

use domain::board::project::Project;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField};
use crate::route::{Navigation, Route};

#[component]
pub(crate) fn DeleteProjectDialog(project: Project, close: Callback<()>) -> impl IntoView {
    let (client, navigation, sending) = (Client::from_context(), Navigation::from_context(), Sending::new());
    let typed = RwSignal::new(String::new());
    let wanted = project.title.trim().to_owned();
    let ready = Signal::derive(move || typed.with(|typed| typed.trim() == wanted));
    let (id, title) = (project.id, project.title);
    let submit = move |()| {
        let id = id.clone();
        let request = client.delete_project(id.clone(), typed.get_untracked());
        sending.run(request, move |_| {
            close.run(());
            if navigation.get_untracked().project() == Some(&id) {
                navigation.go(Route::Projects);
            }
        });
    };
    view! {
        <Dialog title="Delete the project" close=close>
            <Form verb="Delete" danger=true ready=ready sending=sending submit=submit close=close>
                <p>
                    "The tasks, comments, messages and the history of "
                    <strong>{title}</strong>
                    " are permanently removed. The repository and its branches stay as they are, and unmerged work is kept in rescue refs."
                </p>
                <TextField id="delete-title" label="Type the title of the project" value=typed max_length=500 autofocus=true />
            </Form>
        </Dialog>
    }
    .into_any()
}
