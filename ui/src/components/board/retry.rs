//! The dialog of a retry: which session, which files, which model, and a note for the agent.

use domain::board::task::retry::{RetryOptions, RetrySession, RetryTree};
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, non_empty};
use crate::draft::draft;
use crate::moves::Choice;

/// The longest name of a model that the field takes.
const MAX_MODEL: u32 = 200;

#[component]
pub(crate) fn RetryDialog(view: TaskView, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let task = view.task.card.id.clone();
    let title = format!("Retry {task}");
    let before = view.task.model.unwrap_or_default();
    let (session, tree) = (RwSignal::new(RetrySession::Continue), RwSignal::new(RetryTree::Current));
    let (model, note) = (RwSignal::new(before.clone()), draft(&format!("retry/{task}")));
    let submit = move |()| {
        let model = model.get_untracked();
        let options = RetryOptions {
            session: Some(session.get_untracked()),
            tree: Some(tree.get_untracked()),
            model: (model != before).then_some(model),
            note: non_empty(note),
            ..RetryOptions::default()
        };
        sending.run(client.retry(task.clone(), options), move |_| {
            note.set(String::new());
            close.run(());
        });
    };
    view! {
        <Dialog title=title close=close>
            <Form verb="Retry" sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="Session">
                    <Choice name="session" title="Continue the session" detail="The agent remembers what it did." value=RetrySession::Continue picked=session />
                    <Choice name="session" title="Fresh session" detail="The agent knows only what is on the board." value=RetrySession::Fresh picked=session />
                </div>
                <div class="choices" role="radiogroup" aria-label="Files">
                    <Choice name="tree" title="Current files" detail="The worktree stays as it is." value=RetryTree::Current picked=tree />
                    <Choice
                        name="tree"
                        title="From the project branch"
                        detail="A new worktree. A rescue ref keeps the content of the old one."
                        value=RetryTree::Base
                        picked=tree
                    />
                </div>
                <TextField id="retry-model" label="Model (optional)" value=model max_length=MAX_MODEL placeholder="As configured" mono=true />
                <TextArea id="retry-note" label="Note for the agent (optional)" value=note />
            </Form>
        </Dialog>
    }
}
