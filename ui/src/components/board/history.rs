//! The history of a task from the event log, newest first.

use std::time::Duration;

use domain::board::activity::Activity;
use domain::event::Seq;
use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::socket::{Live, Notice};
use crate::time::{Clock, local_time};

/// Events in quick succession cause one request.
const DELAY: Duration = Duration::from_millis(300);

#[component]
pub(crate) fn TaskHistory(project: ProjectId, task: TaskId) -> impl IntoView {
    let (client, live) = (Client::from_context(), Live::from_context());
    let entries = RwSignal::new(Vec::<Activity>::new());
    let older = RwSignal::new(None::<Seq>);
    let (loaded, scheduled) = (RwSignal::new(false), RwSignal::new(false));
    let request = {
        let task = task.clone();
        move |before: Option<Seq>| client.activity(project.clone(), Some(task.clone()), before)
    };
    let load = {
        let request = request.clone();
        move || {
            let page = request(None);
            spawn_local(async move {
                let Ok(page) = page.await else { return };
                let first = page.items.last().map(|entry| entry.seq);
                let _closed = entries.try_update(|entries| {
                    // Keeps what "Show older" has loaded.
                    let is_older = |entry: &Activity| first.is_none_or(|first| entry.seq < first);
                    let rest: Vec<Activity> = entries.drain(..).filter(is_older).collect();
                    if rest.is_empty() {
                        let _closed = older.try_set(page.next);
                    }
                    entries.extend(page.items);
                    entries.extend(rest);
                });
                let _closed = loaded.try_set(true);
            });
        }
    };
    load();
    live.follow(move |notice| {
        let Notice::Event(event) = notice else { return };
        if event.task_id.as_ref() == Some(&task) && !scheduled.get_untracked() {
            scheduled.set(true);
            let load = load.clone();
            set_timeout(
                move || {
                    if scheduled.try_set(false).is_none() {
                        load();
                    }
                },
                DELAY,
            );
        }
    });
    let more = move |_| {
        let page = request(older.get_untracked());
        spawn_local(async move {
            if let Ok(page) = page.await {
                let _closed = (older.try_set(page.next), entries.try_update(|entries| entries.extend(page.items)));
            }
        });
    };
    view! {
        <section class="section" aria-label="History">
            <h2>"History"</h2>
            {move || (!loaded.get()).then(|| view! { <p class="soft small-text" role="status">"Loading…"</p> })}
            <ol class="history">
                <For each=move || entries.get() key=|entry| entry.seq let:entry>
                    <HistoryEntry entry=entry />
                </For>
            </ol>
            <Show when=move || older.with(Option::is_some)>
                <button type="button" class="button small" on:click=more.clone()>"Show older"</button>
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
