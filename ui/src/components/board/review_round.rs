//! The review rounds of a task: two versions of the work side by side, each with the findings that sent it back.

use domain::board::review_round::{ReviewRound, repeated_rounds};
use domain::id::TaskId;
use domain::runs::evidence::short;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::diff_view::Changes;
use crate::time::Clock;

/// How often the work was sent back, and the way to compare what was submitted.
#[component]
pub(crate) fn ReviewRounds(
    task: TaskId,
    /// Changes whenever another round may have ended.
    version: Memo<u64>,
) -> impl IntoView {
    let client = Client::from_context();
    let rounds = RwSignal::new(Vec::<ReviewRound>::new());
    let open = RwSignal::new(false);
    let asked = task.clone();
    Effect::new(move || {
        // Read, not only tracked: a memo tracks nothing before its first read.
        version.with(|_| ());
        let request = client.review_rounds(asked.clone());
        spawn_local(async move {
            if let Ok(found) = request.await {
                let _panel_closed = rounds.try_set(found.items);
            }
        });
    });
    move || {
        let found = rounds.get();
        let repeated = repeated_rounds(&found);
        let summary = match found.len() {
            0 => return None,
            1 => "Sent back once.".to_owned(),
            count if repeated.len() < 2 => format!("Sent back {count} times."),
            count => format!("Sent back {count} times. {} have the same changes and the same findings.", named(&repeated)),
        };
        let task = task.clone();
        Some(view! {
            <p class="row small-text">
                <span>{summary}</span>
                <button type="button" class="button small spacer" on:click=move |_| open.set(true)>"Compare rounds"</button>
            </p>
            <Show when=move || open.get()>
                <Comparison task=task.clone() rounds=rounds.get_untracked() close=Callback::new(move |()| open.set(false)) />
            </Show>
        })
    }
}

/// "Rounds 1, 3 and 4".
fn named(numbers: &[u32]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    match numbers.split_last() {
        Some((last, others)) if !others.is_empty() => format!("Rounds {} and {last}", others.join(", ")),
        _ => format!("Round {}", numbers.concat()),
    }
}

/// The last round beside the latest one that it repeats, or the one before it.
#[component]
fn Comparison(task: TaskId, rounds: Vec<ReviewRound>, close: Callback<()>) -> impl IntoView {
    let last = rounds.last().map_or(1, |round| round.number);
    let repeated = repeated_rounds(&rounds).into_iter().rev().find(|number| *number != last);
    let earlier = RwSignal::new(repeated.unwrap_or_else(|| last.saturating_sub(1).max(1)));
    let later = RwSignal::new(last);
    let earlier = (last > 1).then(|| view! { <Round task=task.clone() rounds=rounds.clone() shown=earlier /> });
    view! {
        <Dialog title=format!("Rounds of {task}") close=close>
            <div class="rounds">
                {earlier}
                <Round task=task rounds=rounds shown=later />
            </div>
        </Dialog>
    }
}

#[component]
fn Round(task: TaskId, rounds: Vec<ReviewRound>, shown: RwSignal<u32>) -> impl IntoView {
    let clock = Clock::from_context();
    let options = rounds
        .iter()
        .map(|round| {
            let number = round.number;
            view! {
                <option value=number.to_string() selected=move || shown.get() == number>
                    {format!("Round {number} at {}", short(&round.sha))}
                </option>
            }
        })
        .collect_view();
    let round = move || rounds.iter().find(|round| round.number == shown.get()).cloned();
    view! {
        <section class="round" aria-label=move || format!("Round {}", shown.get())>
            <select
                class="input"
                aria-label="Round"
                on:change:target=move |event| shown.set(event.target().value().parse().unwrap_or_else(|_| shown.get_untracked()))
            >
                {options}
            </select>
            {move || {
                round().map(|round| {
                    let at = round.created_at;
                    view! {
                        <p class="small-text soft">{move || format!("Sent back by {} {}", round.by, clock.ago(at))}</p>
                        <p class="findings">{round.findings}</p>
                    }
                })
            }}
            <Changes task=task version=Signal::derive(|| 0) round=Signal::from(shown) />
        </section>
    }
}
