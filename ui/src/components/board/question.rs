//! The question of an agent: its options as buttons, and a field for another answer.

use domain::board::question::Question;
use domain::id::TaskId;
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::board::card_actions::{AnswerButton, answers};
use crate::components::form::has_text;
use crate::components::prose::Prose;
use crate::components::toast::Toasts;
use crate::draft::{discard, draft};
use crate::reader::Reader;

#[component]
pub(crate) fn QuestionBox(task: TaskId, question: Question) -> impl IntoView {
    let (client, toasts, may_write) = (Client::from_context(), Toasts::from_context(), Reader::may_write());
    let key = format!("answer/{}", question.id);
    let text = draft(&key);
    let sending = RwSignal::new(false);
    let answer = Callback::new(move |answer: String| {
        let key = key.clone();
        if answer.trim().is_empty() || sending.get_untracked() {
            return;
        }
        sending.set(true);
        client.watch(client.answer(task.clone(), answer), move |result| {
            let _panel_closed = sending.try_set(false);
            if result.is_ok() {
                discard(&key);
                toasts.success("Answered. The agent continues.");
            }
        });
    });
    let default = question.default.clone();
    let text_of_question = question.question.clone();
    let options = answers(question.options, question.default)
        .into_iter()
        .enumerate()
        .map(|(place, option)| {
            let label = if default.as_ref() == Some(&option) { format!("{option} (suggested)") } else { option.clone() };
            view! { <AnswerButton place=place label=label act=Callback::new(move |()| answer.run(option.clone())) small=false disabled=!may_write /> }
        })
        .collect_view();
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        answer.run(text.get_untracked());
    };
    view! {
        <section class="question" aria-label="Question from the agent">
            <h2>"Question from the agent"</h2>
            <Prose text=text_of_question />
            <div class="options">{options}</div>
            {may_write.then(|| view! {
                <form class="row" on:submit=submit>
                    <input class="input grow" aria-label="Other answer" placeholder="Other answer" bind:value=text />
                    <button type="submit" class="button primary" disabled=move || sending.get() || !has_text(text)>"Answer"</button>
                </form>
            })}
        </section>
    }
}
