//! What a person can do with a task as a whole: start, stop, retry, move, edit, give up.
//!
//! Which moves are legal is the transition table's business; the rest is offered by what the card carries and judged by the server.

use domain::board::attention::AttentionKind;
use domain::board::card::Card;
use domain::board::status::CancelReason;
use domain::board::transition::{Mover, target_columns};
use domain::id::TaskId;
use domain::wire::{TaskPatch, TaskView};
use leptos::html;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::icon::{CHEVRON, Icon};
use crate::components::task_form::{TaskDraft, TaskFields};
use crate::components::task_gates::TaskGates;
use crate::components::toast::Toasts;
use crate::moves::{CancelReasons, Moves};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Edit,
    Cancel,
}

#[component]
pub(crate) fn TaskActions(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let (client, moves, toasts) = (Client::here(), Moves::here(), Toasts::here());
    let open = RwSignal::new(Open::Nothing);
    let close = Callback::new(move |()| open.set(Open::Nothing));
    let mover = NodeRef::<html::Button>::new();
    let task = StoredValue::new(task);

    let held = Memo::new(move |_| card.with(|card| card.held_by.is_some() && card.attention.is_none()));
    // A question is settled by its answer.
    let asked = Memo::new(move |_| view.with(|view| view.as_ref().is_some_and(|view| view.question.is_some())));
    // A lost dependency is settled by dropping it, by taking it up again, or by giving this task up too; a silence by its end, or by
    // another assignee.
    let stuck = Memo::new(move |_| {
        let stays = |kind| matches!(kind, AttentionKind::DependencyCancelled | AttentionKind::AssigneeUnresponsive);
        !asked.get() && card.with(|card| card.attention.as_ref().is_some_and(|attention| !stays(attention.kind)))
    });
    let again = move || card.with(|card| if card.status.is_open() { "Retry" } else { "Accept" });
    let run = Memo::new(move |_| card.with(|card| card.run.as_ref().map(|run| (run.id.clone(), run.stopping))));
    let movable = Memo::new(move |_| card.with(|card| !target_columns(card.phase, card.status, Mover::Human).is_empty()));
    let closable = Memo::new(move |_| {
        card.with(|card| card.status.is_open() && target_columns(card.phase, card.status, Mover::Human).iter().any(|(to, _)| !to.is_open()))
    });

    let dialogs = move || match open.get() {
        Open::Nothing => ().into_any(),
        Open::Edit => match view.get_untracked() {
            Some(view) => view! { <EditDialog view=view close=close /> }.into_any(),
            None => ().into_any(),
        },
        Open::Cancel => view! { <CancelDialog task=task.get_value() close=close /> }.into_any(),
    };
    view! {
        <div class="row">
            <Show when=move || held.get()>
                <button type="button" class="button primary" on:click=move |_| client.act(client.start(task.get_value()), |_| {})>"Start"</button>
            </Show>
            <Show when=move || stuck.get()>
                <button type="button" class="button primary" on:click=move |_| client.act(client.retry(task.get_value()), |_| {})>{again}</button>
            </Show>
            {move || run.get().map(|(run, stopping)| view! {
                <button type="button" class="button" disabled=stopping on:click=move |_| {
                    client.act(client.stop(run.clone()), move |_| toasts.news("Asked to stop. The card waits for you."));
                }>
                    {if stopping { "Stopping…" } else { "Stop" }}
                </button>
            })}
            <Show when=move || movable.get()>
                <button type="button" class="button" aria-haspopup="menu" node_ref=mover on:click=move |_| {
                    if let Some(mover) = mover.get_untracked() {
                        moves.choose(task.get_value(), HtmlElement::from(mover));
                    }
                }>
                    "Move"
                    <Icon drawing=CHEVRON />
                </button>
            </Show>
            <button type="button" class="button" disabled=move || view.with(Option::is_none) on:click=move |_| open.set(Open::Edit)>"Edit"</button>
            <TaskGates task=task.get_value() card=card />
            <Show when=move || closable.get()>
                <button type="button" class="button danger" on:click=move |_| open.set(Open::Cancel)>"Cancel task"</button>
            </Show>
        </div>
        {dialogs}
    }
}

#[component]
fn EditDialog(view: TaskView, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::here(), Sending::new());
    let task = view.task.card.id.clone();
    let before = (view.task.card.title, view.task.description.unwrap_or_default(), view.task.card.depends_on);
    let draft = TaskDraft::new(before.0.clone(), before.1.clone(), before.2.clone());
    let edited = task.clone();
    let submit = move |()| {
        // Only what was changed is sent: somebody else may have changed the rest.
        let (title, description, depends_on) = (draft.title.get_untracked(), draft.description.get_untracked(), draft.depends_on.get_untracked());
        let patch = TaskPatch {
            title: (title != before.0).then_some(title),
            description: (description != before.1).then_some(description),
            depends_on: (depends_on != before.2).then_some(depends_on),
            ..TaskPatch::default()
        };
        if patch == TaskPatch::default() {
            close.run(());
            return;
        }
        sending.run(client.patch_task(task.clone(), patch), move |_| close.run(()));
    };
    view! {
        <Dialog title=format!("Edit {edited}") close=close>
            <Form verb="Save" ready=Signal::derive(move || draft.is_ready()) sending=sending submit=submit close=close>
                <TaskFields draft=draft task=Some(edited) />
            </Form>
        </Dialog>
    }
}

#[component]
fn CancelDialog(task: TaskId, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::here(), Sending::new());
    let reason = RwSignal::new(CancelReason::Abandoned);
    let title = format!("Cancel {task}");
    let submit = move |()| {
        let reason = reason.get_untracked().as_str().to_owned();
        sending.run(client.cancel(task.clone(), reason), move |_| close.run(()));
    };
    view! {
        <Dialog title=title close=close>
            <Form verb="Cancel the task" danger=true sending=sending submit=submit close=close>
                <CancelReasons picked=reason />
                <p class="soft small-text">"An agent at work is stopped. What it made is kept under a rescue name."</p>
            </Form>
        </Dialog>
    }
}
