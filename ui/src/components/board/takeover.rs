//! Taking a task over from its agents: the buttons, and where and how to continue by hand.

use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::copy_button::CopyField;

/// Takes a task with a worktree over, or gives it back.
#[component]
pub(crate) fn TakeoverButton(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let client = Client::from_context();
    let task = StoredValue::new(task);
    let is_taken = Memo::new(move |_| card.with(is_taken_over));
    let has_worktree = Memo::new(move |_| view.with(|view| view.as_ref().is_some_and(|view| view.task.worktree_path.is_some())));
    let can_take = Memo::new(move |_| card.with(|card| card.status.is_open() && card.phase == AgentKind::Coder) && has_worktree.get());
    let is_ending = Memo::new(move |_| card.with(|card| card.run.is_some()));
    view! {
        <Show when=move || is_taken.get()>
            <button
                type="button"
                class="button primary"
                disabled=move || is_ending.get()
                on:click=move |_| client.act(client.give_back(task.get_value()), |_| {})
            >
                "Give back"
            </button>
        </Show>
        <Show when=move || can_take.get() && !is_taken.get()>
            <button
                type="button"
                class="button"
                title="Stops the agent. You continue in its worktree."
                on:click=move |_| client.act(client.take_over(task.get_value()), |_| {})
            >
                "Take over"
            </button>
        </Show>
    }
}

/// Says where and how to continue a task that is taken over.
#[component]
pub(crate) fn TakeoverNotice(card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let is_taken = Memo::new(move |_| card.with(is_taken_over));
    let takeover = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.takeover.clone())));
    move || {
        is_taken.get().then(|| match takeover.get() {
            None => view! { <p class="notice" data-tone="neutral" role="status">"Stopping the agent…"</p> }.into_any(),
            Some(takeover) => view! {
                <div class="notice" data-tone="info" role="status">
                    <p>"You have taken this task over. No agent works on it until you give it back."</p>
                    <CopyField label="Worktree" text=takeover.folder />
                    {takeover.command.map(|command| view! { <CopyField label="Continue the session" text=command /> })}
                </div>
            }
            .into_any(),
        })
    }
}

fn is_taken_over(card: &Card) -> bool {
    card.held_by == Some(HeldBy::Takeover) && card.status.is_open()
}
