//! The permission request of an agent: what it wants to do, and the answers.

use domain::runs::permission::{PermissionAnswer, PermissionRequest};
use domain::wire::PermissionDecision;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::form::has_text;
use crate::components::toast::Toasts;
use crate::reader::Reader;

#[component]
pub(crate) fn PermissionBox(request: PermissionRequest) -> impl IntoView {
    let (client, toasts, may_write) = (Client::from_context(), Toasts::from_context(), Reader::may_write());
    let reason = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let PermissionRequest { id, run_id, tool, input, rule, .. } = request;
    let answer = Callback::new(move |answer: PermissionAnswer| {
        if sending.get_untracked() {
            return;
        }
        sending.set(true);
        let reason = (answer == PermissionAnswer::Deny && has_text(reason)).then(|| reason.get_untracked());
        client.watch(client.answer_permission(run_id.clone(), PermissionDecision { request: id, answer, reason }), move |result| {
            let _panel_closed = sending.try_set(false);
            if result.is_ok() {
                toasts.success("Answered. The agent continues.");
            }
        });
    });
    let button = move |label: String, class: &'static str, chosen: PermissionAnswer| {
        view! {
            <button type="button" class=class disabled=move || sending.get() on:click=move |_| answer.run(chosen)>{label}</button>
        }
    };
    view! {
        <section class="question" aria-label="Permission request">
            <h2>{format!("The agent asks to use {tool}")}</h2>
            <pre class="permission-input">{input}</pre>
            {may_write.then(|| view! {
                <div class="options">
                    {button("Allow once".to_owned(), "button primary", PermissionAnswer::Allow)}
                    {rule.map(|rule| button(format!("Allow {} in this task", rule.sentence()), "button", PermissionAnswer::Always))}
                </div>
                <div class="row">
                    <input class="input grow" aria-label="Reason" placeholder="Reason for the agent (optional)" bind:value=reason />
                    {button("Deny".to_owned(), "button danger", PermissionAnswer::Deny)}
                </div>
            })}
        </section>
    }
}
