//! The full page of a task: its text, its attempts as a conversation and its comments, with the facts and the history beside them.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::badge::card_state::meta;
use crate::components::badge::{Badge, card_badge};
use crate::components::board::comment::CommentThread;
use crate::components::board::dependents::Dependents;
use crate::components::board::history::TaskHistory;
use crate::components::board::review_round::ReviewRounds;
use crate::components::board::task_actions::TaskActions;
use crate::components::board::task_composer::TaskComposer;
use crate::components::board::task_details::TaskDetails;
use crate::components::board::task_overview::TaskOverview;
use crate::components::diff_view::Changes;
use crate::components::runs::attempt::Attempts;
use crate::overview::Overview;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::task_data::{TaskData, load_card};
use crate::time::local_time;

#[component]
pub(crate) fn TaskPage(task: TaskId) -> impl IntoView {
    let (card, failure) = load_card(&task);
    move || match card.get() {
        Some(card) => view! { <TaskDocument task=task.clone() card=card /> }.into_any(),
        None => view! {
            <div class="empty" role="status">
                <h2>{move || failure.get().unwrap_or_else(|| "Loading the task…".to_owned())}</h2>
            </div>
        }
        .into_any(),
    }
}

#[component]
fn TaskDocument(task: TaskId, card: ArcRwSignal<Card>) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let data = TaskData::follow(task.clone(), card);
    let TaskData { card, view, missing } = data;
    let (may_write, overview) = (Reader::may_write(), Overview::from_context());
    let board = Route::Board { project: project.clone(), task: Some(task.clone()) };
    let (runs, version, comments) = (data.runs(), data.version(), data.comments());
    view! {
        <div class="task-page">
            <article class="task-main" aria-labelledby="task-title-heading">
                <header class="section">
                    <p class="row small-text">
                        <a href=board.path() on:click=move |event| navigation.follow(&event, board.clone())>"Board"</a>
                        <span class="faint tabular">{task.to_string()}</span>
                    </p>
                    <h2 id="task-title-heading" dir="auto">{move || card.with(|card| card.title.clone())}</h2>
                    <p class="row small-text soft">
                        {move || {
                            let (label, tone) = card.with(card_badge);
                            view! { <Badge label=label tone=tone /> }
                        }}
                        <span>{move || card.with(|card| meta(card, local_time, overview.busy_elsewhere(card)))}</span>
                    </p>
                    {may_write.then(|| view! { <TaskActions task=task.clone() card=card view=view /> })}
                </header>
                {move || missing.get().map(|reason| view! { <p class="notice" data-tone="bad" role="alert">{reason}</p> })}
                <TaskOverview task=task.clone() card=card view=view />
                <section class="section" aria-label="Attempts">
                    <h2>"Attempts"</h2>
                    <Attempts task=task.clone() card=card runs=runs />
                </section>
                <section class="section" aria-label="Changes">
                    <h2>"Changes"</h2>
                    <ReviewRounds task=task.clone() version=version />
                    <Changes task=task.clone() version=version />
                </section>
                <CommentThread task=task.clone() comments=comments />
                {if may_write {
                    view! { <TaskComposer task=task.clone() card=card /> }.into_any()
                } else {
                    view! { <p class="composer soft small-text">{READ_ONLY}</p> }.into_any()
                }}
            </article>
            <aside class="task-side" aria-label="Facts and history">
                <section class="section" aria-label="Facts">
                    <h2>"Facts"</h2>
                    <TaskDetails card=card view=view />
                </section>
                <Dependents task=task.clone() />
                <TaskHistory project=project task=task />
            </aside>
        </div>
    }
}
