//! The part of its context that an agent has left: a number, its meaning in words, and a bar.

use domain::warroom::context_left::ContextLeft;
use leptos::prelude::*;

use crate::components::badge::warroom::condition_badge;
use crate::components::warroom::words::{Word, name_of};

#[component]
pub(crate) fn ContextBar(left: Option<ContextLeft>) -> impl IntoView {
    let Some(left) = left else {
        return view! { <p class="context-left faint small-text">{format!("{}: unknown", name_of(Word::ContextLeft))}</p> }.into_any();
    };
    let (words, tone) = condition_badge(left.condition);
    view! {
        <p class="context-left small-text" data-tone=tone.as_str()>
            <span class="visually-hidden">{name_of(Word::ContextLeft)} ": "</span>
            <span class="tabular">{format!("{} % {}", left.percent, name_of(Word::Left))}</span>
            <span class="condition">{words}</span>
            <span class="progress" aria-hidden="true"><i data-tone=tone.as_str() style:width=format!("{}%", left.percent)></i></span>
        </p>
    }
    .into_any()
}
