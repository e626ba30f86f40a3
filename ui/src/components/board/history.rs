//! The history of a task from the event log, newest first.

use domain::board::activity::Activity;
use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;

use crate::client::ActivityFilter;
use crate::event_history::EventHistory;
use crate::time::{Clock, local_time};

#[component]
pub(crate) fn TaskHistory(project: ProjectId, task: TaskId) -> impl IntoView {
    let history = EventHistory::follow(project, Signal::stored(ActivityFilter::of_task(task)));
    view! {
        <section class="section" aria-label="History">
            <h2>"History"</h2>
            {move || (!history.is_loaded()).then(|| view! { <p class="soft small-text" role="status">"Loading…"</p> })}
            <ol class="history">
                <For each=move || history.entries.get() key=|entry| entry.seq let:entry>
                    <HistoryEntry entry=entry />
                </For>
            </ol>
            <Show when=move || history.has_older()>
                <button type="button" class="button small" on:click=move |_| history.load_older()>"Show older"</button>
            </Show>
        </section>
    }
}

#[component]
fn HistoryEntry(entry: Activity) -> impl IntoView {
    let clock = Clock::from_context();
    let at = entry.at;
    view! {
        <li>
            <time datetime=at.to_string() title=move || clock.ago(at)>{local_time(at)}</time>
            <span>{entry.sentence}</span>
        </li>
    }
}
