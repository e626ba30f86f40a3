//! The open question of a task, the reason why it waits, and its description.

use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::preview::PreviewSubject;
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::components::badge::attention_label;
use crate::components::board::question::QuestionBox;
use crate::components::board::takeover::TakeoverNotice;
use crate::components::runs::check::ChecksBox;
use crate::components::runs::permission::PermissionBox;
use crate::components::runs::preview::AppBox;
use crate::overview::Overview;
use crate::store::Store;

/// The question or the wait reason, and the description.
#[component]
pub(crate) fn TaskOverview(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let (overview, store, of_checks) = (Overview::from_context(), Store::from_context(), task.clone());
    let (app, preview) = (PreviewSubject::Task(task.clone()), Memo::new(move |_| card.with(|card| card.preview.clone())));
    let has_command = Memo::new(move |_| store.project.with(|project| project.as_ref().is_some_and(|project| project.profile.preview.is_some())));
    let has_files = move || {
        view.with(|view| {
            let worktree = view.as_ref().and_then(|view| view.task.worktree_path.as_deref());
            card.with(|card| card.can_run_app(worktree))
        })
    };
    let has_app = Memo::new(move |_| has_command.get() && has_files());
    let question = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.question.clone())));
    let permissions = Memo::new(move |_| view.with(|view| view.as_ref().map(|view| view.permissions.clone()).unwrap_or_default()));
    let description = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.description_html.clone())));
    let attention = Memo::new(move |_| card.with(|card| card.attention.clone()));
    // The facts already name the assignee, and another notice the takeover.
    let is_shown = |why: &&WaitReason| !matches!(why, WaitReason::Assigned { .. } | WaitReason::Held { by: HeldBy::Takeover });
    let why =
        Memo::new(move |_| card.with(|card| card.wait_reason.as_ref().filter(|_| card.run.is_none()).filter(is_shown).map(WaitReason::sentence)));
    view! {
        <TakeoverNotice card=card view=view />
        {move || question.get().map(|question| view! { <QuestionBox task=task.clone() question=question /> })}
        <For each=move || permissions.get() key=|request| request.id let:request>
            <PermissionBox request=request />
        </For>
        {move || {
            // The question box and the requests replace this notice.
            attention
                .get()
                .filter(|_| question.with(Option::is_none) && permissions.with(Vec::is_empty))
                .map(|attention| view! {
                    <div class="notice" data-tone="warn" role="status">
                        <p>
                            <strong>{format!("Needs you: {}. ", attention_label(attention.kind))}</strong>
                            {attention.detail}
                        </p>
                    </div>
                })
        }}
        {move || {
            let elsewhere = card.with(|card| overview.busy_elsewhere(card)).map(|words| format!("{words}."));
            elsewhere
                .or_else(|| why.get().map(|why| format!("Waiting: {why}.")))
                .filter(|_| attention.with(Option::is_none))
                .map(|words| view! { <p class="notice" data-tone="neutral">{words}</p> })
        }}
        <ChecksBox task=of_checks card=card />
        <AppBox subject=app preview=preview offered=has_app />
        {move || description.get().map(|html| view! { <div class="prose" inner_html=html></div> })}
    }
}
