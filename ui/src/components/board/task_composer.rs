//! The composer of a task panel: a comment for later agents, or a message to the agent at work.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, SubmitEvent};

use crate::client::{Client, Failure};
use crate::components::form::has_text;
use crate::components::prose::{Preview, PreviewButton};
use crate::components::toast::Toasts;
use crate::draft::draft;

#[component]
pub(crate) fn TaskComposer(task: TaskId, card: Signal<Card>) -> impl IntoView {
    let (client, toasts) = (Client::from_context(), Toasts::from_context());
    let text = draft(&format!("comment/{task}"));
    let sending = RwSignal::new(false);
    let (to_agent, previewing) = (RwSignal::new(false), RwSignal::new(false));
    let run = Memo::new(move |_| card.with(|card| card.run.as_ref().filter(|run| !run.stopping).map(|run| run.id.clone())));
    // Without a run, only comments are possible.
    let is_message = Memo::new(move |_| to_agent.get() && run.with(Option::is_some));
    let ready = move || !sending.get() && has_text(text);
    let done = move |result: Result<_, Failure>, confirmation: Option<&'static str>| {
        let _panel_closed = sending.try_set(false);
        if result.is_ok() {
            let _panel_closed = text.try_set(String::new());
            confirmation.into_iter().for_each(|confirmation| toasts.success(confirmation));
        }
    };
    let send = Callback::new(move |()| {
        if !ready() {
            return;
        }
        sending.set(true);
        let content = text.get_untracked();
        match run.get_untracked().filter(|_| is_message.get_untracked()) {
            Some(run) => client.watch(client.message(run, content), move |result| done(result, Some("Sent to the agent."))),
            // It comes into view above the field, unless another tab is open.
            None => client.watch(client.comment(task.clone(), content), move |result| {
                let has_thread = document().query_selector(".sheet [aria-label=Comments], .task-page [aria-label=Comments]").ok().flatten().is_some();
                done(result, (!has_thread).then_some("Added to the comments of the task."));
            }),
        }
    });
    // With or without a message.
    let interrupt = move |_| {
        let Some(run) = run.get_untracked() else { return };
        sending.set(true);
        let message = has_text(text).then(|| text.get_untracked());
        let confirmation =
            if message.is_some() { "Interrupted. The agent continues with your message." } else { "Interrupted. The agent waits for your message." };
        client.watch(client.interrupt(run, message), move |result| done(result, Some(confirmation)));
    };
    let on_key = move |event: KeyboardEvent| {
        if event.key() == "Enter" && (event.ctrl_key() || event.meta_key()) {
            event.prevent_default();
            send.run(());
        }
    };
    view! {
        <form class="composer" on:submit=move |event: SubmitEvent| {
            event.prevent_default();
            send.run(());
        }>
            <textarea
                class="input"
                rows="2"
                hidden=move || previewing.get()
                aria-label=move || if is_message.get() { "Message to the agent" } else { "Comment" }
                placeholder=move || if is_message.get() { "Message the agent that is working on this task" } else { "Comment for the next agent" }
                prop:value=text
                on:input:target=move |event| text.set(event.target().value())
                on:keydown=on_key
            ></textarea>
            <Preview text=text previewing=previewing />
            <div class="row">
                <Show when=move || run.with(Option::is_some)>
                    <div class="segment" role="group" aria-label="Recipient">
                        <button type="button" aria-pressed=move || if is_message.get() { "false" } else { "true" } on:click=move |_| to_agent.set(false)>"Comment"</button>
                        <button type="button" aria-pressed=move || if is_message.get() { "true" } else { "false" } on:click=move |_| to_agent.set(true)>"To the agent"</button>
                    </div>
                </Show>
                <PreviewButton text=text previewing=previewing />
                <span class="faint small-text spacer shortcut">"Ctrl + Enter"</span>
                <Show when=move || is_message.get()>
                    <button
                        type="button"
                        class="button"
                        title="Interrupts what the agent is doing. It continues with your message, or waits for one."
                        disabled=move || sending.get()
                        on:click=interrupt
                    >
                        "Interrupt"
                    </button>
                </Show>
                <button type="submit" class="button primary" disabled=move || !ready()>
                    {move || if is_message.get() { "Send" } else { "Comment" }}
                </button>
            </div>
        </form>
    }
}
