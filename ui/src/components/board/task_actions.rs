//! The actions on a task: start, stop, retry, raise its limit, move, edit, reopen and cancel.
//!
//! Must not know a legal move: the transition table offers moves, the card's state offers the rest, and the server decides.

use domain::board::attention::AttentionAction;
use domain::board::card::Card;
use domain::board::status::{CancelReason, HeldBy};
use domain::board::task::TaskPatch;
use domain::board::task::retry::RetryOptions;
use domain::board::transition::{Mover, target_columns};
use domain::id::TaskId;
use domain::wire::TaskView;
use leptos::html;
use leptos::prelude::*;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::board::choices::Choices;
use crate::components::board::gate::TaskGates;
use crate::components::board::retry::RetryDialog;
use crate::components::board::takeover::TakeoverButton;
use crate::components::board::task_form::{TaskDraft, TaskFields};
use crate::components::copy_button::copy;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::icon::{CHEVRON, Icon, MORE};
use crate::components::menu::{MenuButton, MenuItem};
use crate::components::toast::Toasts;
use crate::moves::{CancelReasons, Moves, reopening};
use crate::socket::Live;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TaskDialog {
    None,
    Edit,
    Retry,
    Cancel,
}

#[component]
pub(crate) fn TaskActions(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let (client, moves, toasts, live) = (Client::from_context(), Moves::from_context(), Toasts::from_context(), Live::from_context());
    let open = RwSignal::new(TaskDialog::None);
    let close = Callback::new(move |()| open.set(TaskDialog::None));
    let menu_button = NodeRef::<html::Button>::new();
    let task = StoredValue::new(task);

    let is_taken_over = move || card.with(|card| card.held_by == Some(HeldBy::Takeover));
    let held = Memo::new(move |_| card.with(|card| card.held_by.is_some() && card.attention.is_none()) && !is_taken_over());
    let action = Memo::new(move |_| card.with(|card| card.attention.as_ref().map(|attention| attention.action(card.status))));
    let can_retry = move || matches!(action.get(), Some(AttentionAction::Retry | AttentionAction::Accept)) && !is_taken_over();
    let choices = Memo::new(move |_| card.with(|card| card.attention.as_ref().map_or(&[][..], |attention| attention.choices(card.status))));
    let has_choices = move || !choices.get().is_empty() && !is_taken_over();
    // With another session, other files, another model or a note.
    let can_choose = Memo::new(move |_| {
        let is_stopped = move || card.with(|card| card.held_by == Some(HeldBy::Stop) && card.attention.is_none());
        card.with(|card| card.status.is_open() && card.run.is_none()) && (can_retry() || is_stopped())
    });
    let can_raise = move || action.get() == Some(AttentionAction::Raise);
    let retry_label = move || if action.get() == Some(AttentionAction::Accept) { "Accept" } else { "Retry" };
    let run = Memo::new(move |_| card.with(|card| card.run.as_ref().map(|run| (run.id.clone(), run.stopping))));
    let movable = Memo::new(move |_| card.with(|card| !target_columns(card.phase, card.status, Mover::Human).is_empty()));
    let closable = Memo::new(move |_| {
        card.with(|card| card.status.is_open() && target_columns(card.phase, card.status, Mover::Human).iter().any(|(to, _)| !to.is_open()))
    });

    let item = move |label: &'static str, act: Callback<()>| view! { <MenuItem label=label act=act /> };
    let dialog = move |label: &'static str, dialog: TaskDialog| item(label, Callback::new(move |()| open.set(dialog)));
    let items = move || {
        let loaded = view.with_untracked(Option::is_some);
        let worktree = view.with_untracked(|view| view.as_ref().and_then(|view| view.task.worktree_path.clone()));
        let link = Callback::new(move |()| copy(toasts, window().location().href().unwrap_or_default()));
        view! {
            {loaded.then(|| dialog("Edit", TaskDialog::Edit))}
            {(loaded && can_choose.get_untracked()).then(|| dialog("Retry…", TaskDialog::Retry))}
            {item("Copy the link", link)}
            {worktree.map(|path| {
                let path = StoredValue::new(path);
                item("Copy the path of its checkout", Callback::new(move |()| copy(toasts, path.get_value())))
            })}
            {card.with_untracked(reopening).map(|(to, needs)| {
                item("Reopen…", Callback::new(move |()| moves.request(vec![task.get_value()], to, needs)))
            })}
            {closable.get_untracked().then(|| dialog("Cancel task", TaskDialog::Cancel))}
        }
    };

    let dialogs = move || match open.get() {
        TaskDialog::None => ().into_any(),
        TaskDialog::Edit => match view.get_untracked() {
            Some(view) => view! { <EditDialog view=view close=close /> }.into_any(),
            None => ().into_any(),
        },
        TaskDialog::Retry => match view.get_untracked() {
            Some(view) => view! { <RetryDialog view=view close=close /> }.into_any(),
            None => ().into_any(),
        },
        TaskDialog::Cancel => view! { <CancelDialog task=task.get_value() close=close /> }.into_any(),
    };
    view! {
        <div class="row">
            <Show when=move || held.get()>
                <button type="button" class="button primary" disabled=move || live.is_lost() on:click=move |_| client.act(client.start(task.get_value()), |_| {})>"Start"</button>
            </Show>
            <Show when=can_raise>
                <button type="button" class="button primary" disabled=move || live.is_lost() on:click=move |_| client.act(client.raise(task.get_value()), |_| {})>"Raise"</button>
            </Show>
            {move || has_choices().then(|| {
                let agent = card.with_untracked(|card| card.attention.as_ref().and_then(|attention| attention.agent.clone()));
                let project = card.with_untracked(|card| card.project_id.clone());
                view! { <Choices project=project task=task.get_value() agent=agent offered=choices.get().to_vec() loud=true /> }
            })}
            <Show when=move || can_retry() && !has_choices()>
                <button type="button" class="button primary" disabled=move || live.is_lost() on:click=move |_| client.act(client.retry(task.get_value(), RetryOptions::default()), |_| {})>{retry_label}</button>
            </Show>
            {move || run.get().map(|(run, stopping)| view! {
                <button type="button" class="button" disabled=move || stopping || live.is_lost() on:click=move |_| {
                    client.act(client.stop(run.clone()), move |_| toasts.success("Stop requested. The task is held until you start it."));
                }>
                    {if stopping { "Stopping…" } else { "Stop" }}
                </button>
            })}
            <Show when=move || movable.get()>
                <button type="button" class="button" aria-haspopup="menu" node_ref=menu_button on:click=move |_| {
                    if let Some(button) = menu_button.get_untracked() {
                        moves.open_menu(task.get_value(), HtmlElement::from(button));
                    }
                }>
                    "Move"
                    <Icon drawing=CHEVRON />
                </button>
            </Show>
            <TakeoverButton task=task.get_value() card=card view=view />
            // Until the task is loaded, it may have a branch.
            <TaskGates task=task.get_value() card=card has_branch=Signal::derive(move || view.with(|view| view.as_ref().is_none_or(|view| view.task.branch.is_some()))) />
            <MenuButton label="More actions" drawing=MORE class="button icon" items=items />
        </div>
        {dialogs}
    }
}

#[component]
fn EditDialog(view: TaskView, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let task = view.task.card.id.clone();
    let before = (view.task.card.title, view.task.description.unwrap_or_default(), view.task.card.depends_on);
    let key = format!("edit/{task}");
    let draft = TaskDraft::new(&key, before.0.clone(), before.1.clone(), before.2.clone());
    let edited = task.clone();
    let submit = move |()| {
        // Send only changed fields, because the others may have changed meanwhile.
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
        let key = key.clone();
        sending.run(client.patch_task(task.clone(), patch), move |_| {
            TaskDraft::discard(&key);
            close.run(());
        });
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
    let (client, sending) = (Client::from_context(), Sending::new());
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
                <p class="soft small-text">"A running agent is stopped. Its work is kept in a rescue ref."</p>
            </Form>
        </Dialog>
    }
}
