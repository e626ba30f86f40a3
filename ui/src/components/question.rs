//! A question that an agent put to the person: its options as buttons, and room for another answer.

use domain::board::question::Question;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::toast::Toasts;

#[component]
pub(crate) fn QuestionBox(task: TaskId, question: Question) -> impl IntoView {
    let (client, toasts) = (Client::here(), Toasts::here());
    let words = RwSignal::new(String::new());
    let sending = RwSignal::new(false);
    let answer = Callback::new(move |answer: String| {
        if answer.trim().is_empty() || sending.get_untracked() {
            return;
        }
        sending.set(true);
        client.watch(client.answer(task.clone(), answer), move |result| {
            let _closed_meanwhile = sending.try_set(false);
            if result.is_ok() {
                toasts.news("Answered. The agent goes on with it.");
            }
        });
    });
    let default = question.default.clone();
    let options = question
        .options
        .into_iter()
        .map(|option| {
            let preferred = default.as_ref() == Some(&option);
            let chosen = option.clone();
            view! {
                <button type="button" class="button" disabled=move || sending.get() on:click=move |_| answer.run(chosen.clone())>
                    {option}
                    {preferred.then(|| view! { <span class="faint">" (its own choice)"</span> })}
                </button>
            }
        })
        .collect_view();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        answer.run(words.get_untracked());
    };
    view! {
        <section class="question" aria-label="A question for you">
            <h2>"The agent asks you"</h2>
            <p>{question.question}</p>
            <div class="options">{options}</div>
            <form class="row" on:submit=submit>
                <input class="input grow" aria-label="Your own answer" placeholder="Or in your own words" bind:value=words />
                <button type="submit" class="button primary" disabled=move || sending.get() || words.with(|words| words.trim().is_empty())>"Answer"</button>
            </form>
        </section>
    }
}
