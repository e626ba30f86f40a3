//! The part of its context that an agent has left: a number, its meaning in words, and a bar.

use domain::warroom::context_left::ContextLeft;
use leptos::prelude::*;

use crate::components::badge::warroom::condition_badge;

#[component]
pub(crate) fn ContextBar(left: Option<ContextLeft>) -> impl IntoView {
    let Some(left) = left else {
        return view! { <p class="context-left faint small-text">"Context left: unknown"</p> }.into_any();
    };
    let (words, tone) = condition_badge(left.condition);
    view! {
        <p class="context-left small-text" data-tone=tone.as_str()>
            <span class="visually-hidden">"Context left: "</span>
            <span class="tabular">{format!("{} % left", left.percent)}</span>
            <span class="condition">{words}</span>
            <span class="progress" aria-hidden="true"><i data-tone=tone.as_str() style:width=format!("{}%", left.percent)></i></span>
        </p>
    }
    .into_any()
}
