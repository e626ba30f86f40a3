//! The attempts of a task: time, cost, result and log of each run.

use std::cmp::Reverse;

use domain::board::card::Card;
use domain::id::{RunId, TaskId};
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::run::Run;
use domain::runs::usage::{money, tokens};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::badge::{Badge, Role, Tone, end_badge};
use crate::components::context::findings_link::FindingsLink;
use crate::components::run_log::RunLog;
use crate::components::runs::checkpoint::Checkpoints;
use crate::components::runs::sandbox::Refusals;
use crate::time::{Clock, span};

/// The number of runs of a card, and its current run with its stop request. A change requests the list again.
pub(crate) type RunState = (u32, Option<(RunId, bool)>);

#[component]
pub(crate) fn Attempts(task: TaskId, card: Signal<Card>, runs: Memo<RunState>) -> impl IntoView {
    let client = Client::from_context();
    let list = RwSignal::new(None::<Vec<Run>>);
    Effect::new(move || {
        // Read, not only tracked: a memo tracks nothing before its first read.
        runs.with(|_| ());
        let request = client.runs(task.clone());
        spawn_local(async move {
            if let Ok(found) = request.await {
                let mut items = found.items;
                // Newest first.
                items.sort_by_key(|run| Reverse(run.id.number()));
                let _panel_closed = list.try_set(Some(items));
            }
        });
    });
    let newest = Memo::new(move |_| list.with(|list| list.as_ref().and_then(|list| list.first().map(|run| run.id.clone()))));
    let runs = move || list.get().unwrap_or_default();
    view! {
        {move || match list.with(|list| list.as_ref().map(Vec::len)) {
            None => Some(view! { <p class="soft" role="status">"Loading…"</p> }.into_any()),
            Some(0) => Some(view! { <p class="soft">"No attempts yet."</p> }.into_any()),
            Some(_) => None,
        }}
        // The key replaces an attempt when it ends. The others keep their open state.
        <For each=runs key=|run| (run.id.clone(), run.is_live(), run.stop_requested_at) let:run>
            <Attempt open=newest.get_untracked().as_ref() == Some(&run.id) run=run card=card />
        </For>
    }
}

#[component]
fn Attempt(run: Run, card: Signal<Card>, open: bool) -> impl IntoView {
    let clock = Clock::from_context();
    let open = RwSignal::new(open);
    let (label, tone) = match (run.end_class, run.stop_requested_at) {
        (Some(end), _) => end_badge(end),
        (None, Some(_)) => ("Stopping", Tone::Neutral),
        (None, None) => ("Working", Tone::Live),
    };
    let (started, completed) = (run.started_at, run.completed_at);
    let duration = move || match completed {
        Some(completed) => span(completed.since(started)),
        None => clock.elapsed(started),
    };
    let context_left = run.context();
    let context_left = context_left.map(|(used, limit)| format!("{} % of context left", (100 - used * 100 / limit).clamp(0, 100)));
    // The one action after a failure that uses an attempt; of others, the card and the header speak.
    let remedy = run.failure.filter(|_| run.end_class == Some(EndClass::Failed)).map(FailureClass::remedy);
    let failure = run.failure.map(|failure| failure.sentence().to_owned());
    let error = match (failure, run.error) {
        (Some(failure), Some(error)) => Some(format!("{failure}: {error}")),
        (failure, error) => failure.or(error),
    };
    let sandbox = run.sandbox;
    let (id, live) = (run.id.clone(), completed.is_none());
    let raw_label = format!("Raw log of {}", run.id);
    let (client, saved) = (Client::from_context(), run.id.clone());
    let save = move |_| client.save_log(&saved);
    view! {
        <details class="attempt" open=open.get_untracked() on:toggle:target=move |event| open.set(event.target().open())>
            <summary>
                <span class="mono faint">{run.id.to_string()}</span>
                <Role phase=run.phase />
                <span class="soft">{format!("attempt {}", run.attempt)}</span>
                <Badge label=label tone=tone />
                <span class="faint tabular spacer">{duration}</span>
            </summary>
            <div class="attempt-body">
                <p class="row small-text soft tabular">
                    <span>{move || format!("started {}", clock.ago(started))}</span>
                    <span title=sandbox.sentence()>{format!("sandbox: {sandbox}")}</span>
                    {(run.turns > 0).then(|| view! { <span>{format!("{} requests", run.turns)}</span> })}
                    {(run.input_tokens + run.output_tokens > 0).then(|| view! {
                        <span>{format!("{} tokens in, {} out", tokens(run.input_tokens), tokens(run.output_tokens))}</span>
                    })}
                    {money(run.cost_micro_usd).map(|cost| view! { <span>{cost}</span> })}
                    {context_left.map(|left| view! { <span>{left}</span> })}
                    <FindingsLink task=run.task_id.clone() label=format!("Findings around {}", run.id) />
                    <button type="button" class="button quiet small" aria-label=raw_label on:click=save>"Raw log"</button>
                </p>
                {error.map(|error| view! { <p class="notice" data-tone="bad">{error}</p> })}
                {remedy.map(|remedy| view! { <p class="small-text soft">{remedy}</p> })}
                {run.checkout_left.map(|why| view! {
                    <p class="notice" data-tone="warn">{format!("Its checkout could not be removed; the runner retries every hour: {why}")}</p>
                })}
                <Refusals refused=run.refusals />
                <Checkpoints task=run.task_id card=card checkpoints=run.checkpoints />
                {move || open.get().then(|| view! { <RunLog run=id.clone() live=live /> })}
            </div>
        </details>
    }
}
