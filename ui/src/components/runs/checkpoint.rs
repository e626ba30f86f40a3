//! The checkpoints of a run, and the dialog that rewinds a task to one.

use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::board::task::retry::RetryOptions;
use domain::id::TaskId;
use domain::runs::checkpoint::Checkpoint;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, non_empty};
use crate::reader::Reader;
use crate::time::local_time;

/// Why a task cannot be rewound now.
fn obstacle(card: &Card) -> Option<&'static str> {
    match card {
        Card { run: Some(_), .. } => Some("Stop the agent first"),
        Card { held_by: Some(HeldBy::Takeover), .. } => Some("Give the task back first"),
        _ => None,
    }
}

/// The checkpoints of a run, newest first. A finished task cannot be rewound.
#[component]
pub(crate) fn Checkpoints(task: TaskId, card: Signal<Card>, checkpoints: Vec<Checkpoint>) -> impl IntoView {
    let rewinding = RwSignal::new(None::<Checkpoint>);
    let close = Callback::new(move |()| rewinding.set(None));
    let may_write = Reader::may_write();
    let is_open = Memo::new(move |_| card.with(|card| card.status.is_open()));
    let obstacle = Memo::new(move |_| card.with(obstacle));
    let count = checkpoints.len();
    let title = if count == 1 { "1 checkpoint".to_owned() } else { format!("{count} checkpoints") };
    (count > 0).then(|| {
        view! {
            <details class="checkpoints small-text">
                <summary>{title}</summary>
                <ul>
                    {checkpoints.into_iter().rev().map(|checkpoint| {
                        let files = if checkpoint.files == 1 { "1 file".to_owned() } else { format!("{} files", checkpoint.files) };
                        let (at, action) = (local_time(checkpoint.taken_at), checkpoint.action.clone());
                        let checkpoint = StoredValue::new(checkpoint);
                        view! {
                            <li>
                                <span class="tabular soft">{at}</span>
                                <span class="checkpoint-action">{action}</span>
                                <span class="faint tabular">{files}</span>
                                <Show when=move || may_write && is_open.get()>
                                    <button
                                        type="button"
                                        class="button small"
                                        disabled=move || obstacle.get().is_some()
                                        title=move || obstacle.get()
                                        on:click=move |_| rewinding.set(Some(checkpoint.get_value()))
                                    >
                                        "Rewind to here"
                                    </button>
                                </Show>
                            </li>
                        }
                    }).collect_view()}
                </ul>
            </details>
            {move || rewinding.get().map(|checkpoint| view! { <RewindDialog task=task.clone() checkpoint=checkpoint close=close /> })}
        }
    })
}

#[component]
fn RewindDialog(task: TaskId, checkpoint: Checkpoint, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let note = RwSignal::new(String::new());
    let title = format!("Rewind {task}");
    let at = format!("The next agent works on the files of {} (the agent {}).", local_time(checkpoint.taken_at), checkpoint.action);
    let submit = move |()| {
        let options = RetryOptions { checkpoint: Some(checkpoint.sha.clone()), note: non_empty(note), ..RetryOptions::default() };
        sending.run(client.retry(task.clone(), options), move |_| close.run(()));
    };
    view! {
        <Dialog title=title close=close>
            <Form verb="Rewind and retry" sending=sending submit=submit close=close>
                <p>{at}</p>
                <p class="soft small-text">"It starts in a fresh session and a new worktree. A rescue ref keeps the current content; ignored files are lost."</p>
                <TextArea id="rewind-note" label="Note for the agent (optional)" value=note />
            </Form>
        </Dialog>
    }
}
