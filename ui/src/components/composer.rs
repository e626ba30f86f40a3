//! Where a person writes: a comment for everybody who works on the task later, or a message to the agent that works now.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, SubmitEvent};

use crate::client::{Client, Failure};
use crate::components::toast::Toasts;

#[component]
pub(crate) fn Composer(task: TaskId, card: Signal<Card>) -> impl IntoView {
    let (client, toasts) = (Client::here(), Toasts::here());
    let words = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let to_agent = RwSignal::new(false);
    let run = Memo::new(move |_| card.with(|card| card.run.as_ref().filter(|run| !run.stopping).map(|run| run.id.clone())));
    // Without an agent there is nobody to talk to.
    let speaking = Memo::new(move |_| to_agent.get() && run.with(Option::is_some));
    let ready = move || !sending.get() && !words.with(|words| words.trim().is_empty());
    let done = move |result: Result<_, Failure>, said: &'static str| {
        let _closed_meanwhile = sending.try_set(false);
        if result.is_ok() {
            let _closed_meanwhile = words.try_set(String::new());
            toasts.news(said);
        }
    };
    let send = Callback::new(move |()| {
        if !ready() {
            return;
        }
        sending.set(true);
        let content = words.get_untracked();
        match run.get_untracked().filter(|_| speaking.get_untracked()) {
            Some(run) => client.watch(client.message(run, content), move |result| done(result, "Sent to the agent.")),
            None => client.watch(client.comment(task.clone(), content), move |result| done(result, "Comment added.")),
        }
    });
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
                aria-label=move || if speaking.get() { "Message to the agent" } else { "Comment" }
                placeholder=move || if speaking.get() { "Tell the agent something now" } else { "Add a comment: the next agent reads it" }
                prop:value=words
                on:input:target=move |event| words.set(event.target().value())
                on:keydown=on_key
            ></textarea>
            <div class="row">
                <Show when=move || run.with(Option::is_some)>
                    <div class="segment" role="group" aria-label="For whom">
                        <button type="button" aria-pressed=move || if speaking.get() { "false" } else { "true" } on:click=move |_| to_agent.set(false)>"Comment"</button>
                        <button type="button" aria-pressed=move || if speaking.get() { "true" } else { "false" } on:click=move |_| to_agent.set(true)>"To the agent"</button>
                    </div>
                </Show>
                <span class="faint small-text push shortcut">"Ctrl + Enter"</span>
                <button type="submit" class="button primary" disabled=move || !ready()>
                    {move || if speaking.get() { "Send" } else { "Comment" }}
                </button>
            </div>
        </form>
    }
}
