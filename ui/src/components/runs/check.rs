//! The checks of a task in its panel: each result with the end of its output.

use domain::board::card::Card;
use domain::id::TaskId;
use domain::runs::check::{CheckOutcome, CheckResult, CheckStage, StageResults};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::check::state_badge;
use crate::components::badge::{Badge, Tone};

/// The checks of a task; nothing if it has none.
#[component]
pub(crate) fn ChecksBox(task: TaskId, card: Signal<Card>) -> impl IntoView {
    let client = Client::from_context();
    let checks = Memo::new(move |_| card.with(|card| card.checks.clone()));
    let found = RwSignal::new(Vec::<StageResults>::new());
    let asked = task.clone();
    Effect::new(move || {
        if checks.with(Vec::is_empty) {
            return;
        }
        let request = client.checks(asked.clone());
        spawn_local(async move {
            if let Ok(answer) = request.await {
                let _panel_closed = found.try_set(answer.items);
            }
        });
    });
    move || {
        let task = task.clone();
        let stages: Vec<_> = found.get().into_iter().map(|stage| view! { <Stage task=task.clone() stage=stage /> }).collect();
        (!stages.is_empty()).then(|| view! { <section class="section" aria-label="Checks"><h2>"Checks"</h2>{stages}</section> })
    }
}

#[component]
fn Stage(task: TaskId, stage: StageResults) -> impl IntoView {
    let when = match stage.checks.stage {
        CheckStage::Quick => "Before the review",
        CheckStage::Full => "Before the merge",
    };
    let (label, tone) = state_badge(stage.checks.state);
    let results = stage.results.into_iter().map(|result| view! { <CheckRow task=task.clone() result=result /> }).collect_view();
    view! {
        <p class="row small-text"><span>{when}</span><Badge label=label tone=tone /></p>
        {results}
    }
}

#[component]
fn CheckRow(task: TaskId, result: CheckResult) -> impl IntoView {
    let tone = if result.outcome == CheckOutcome::Passed { Tone::Good } else { Tone::Bad };
    let (sentence, label) = (result.sentence(), format!("Full output of {}", result.command));
    let client = Client::from_context();
    let show = move |_| client.show_check_output(&task, result.id);
    view! {
        <details class="attempt">
            <summary>
                <code>{result.command}</code>
                <span class="small-text spacer" data-tone=tone.as_str()>{sentence}</span>
            </summary>
            <div class="attempt-body log">
                <div class="tool"><pre>{result.tail}</pre></div>
                <button type="button" class="button quiet small" aria-label=label on:click=show>"Whole output"</button>
            </div>
        </details>
    }
}
