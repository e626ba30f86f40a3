//! The panel of one task: its actions, facts, comments, attempts, changes and messages.

use domain::board::card::Card;
use domain::board::status::HeldBy;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::wire::TaskView;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::badge::card_state::meta;
use crate::components::badge::{Badge, attention_label, card_badge};
use crate::components::board::comment::CommentThread;
use crate::components::board::question::QuestionBox;
use crate::components::board::review_round::ReviewRounds;
use crate::components::board::takeover::TakeoverNotice;
use crate::components::board::task_actions::TaskActions;
use crate::components::board::task_composer::TaskComposer;
use crate::components::board::task_details::TaskDetails;
use crate::components::board::task_messages::TaskMessages;
use crate::components::dialog::{focused, restore_focus};
use crate::components::diff_view::Changes;
use crate::components::icon::{CLOSE, DOWN, Icon, UP};
use crate::components::runs::attempt::Attempts;
use crate::components::runs::permission::PermissionBox;
use crate::focus::neighbour_of;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route, Section};
use crate::store::Store;
use crate::time::local_time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Task,
    Attempts,
    Changes,
    Messages,
}

const TABS: [(Tab, &str); 4] = [(Tab::Task, "Task"), (Tab::Attempts, "Attempts"), (Tab::Changes, "Changes"), (Tab::Messages, "Messages")];

#[component]
pub(crate) fn TaskPanel(task: TaskId, close: Callback<()>) -> impl IntoView {
    let store = Store::from_context();
    let card = RwSignal::new(store.card(&task));
    let failure = RwSignal::new(None::<String>);
    if card.with_untracked(Option::is_none) {
        load_card(task.clone(), card, failure);
    }
    move || match card.get() {
        Some(card) => view! { <TaskSheet task=task.clone() card=card close=close /> }.into_any(),
        None => view! {
            <aside class="sheet" aria-label=task.to_string()>
                <header class="row">
                    <h2>{move || failure.get().unwrap_or_else(|| "Loading…".to_owned())}</h2>
                    <button type="button" class="button quiet icon spacer" aria-label="Close" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </header>
            </aside>
        }
        .into_any(),
    }
}

/// Requests a card that the board has not loaded, such as that of an older finished task.
fn load_card(task: TaskId, card: RwSignal<Option<ArcRwSignal<Card>>>, failure: RwSignal<Option<String>>) {
    let (client, store, project) = (Client::from_context(), Store::from_context(), ProjectData::from_context().project());
    let request = client.task(task.clone());
    spawn_local(async move {
        let result = request.await;
        // A closed panel needs no card.
        if card.is_disposed() {
            return;
        }
        match result {
            Ok(view) if view.task.card.project_id == project => {
                store.add_cards(vec![view.task.card]);
                card.set(store.card(&task));
            }
            Ok(_) => failure.set(Some(format!("{task} belongs to another project"))),
            Err(Failure::Refused(problem)) => failure.set(Some(problem.detail)),
            Err(Failure::Unreachable(what)) => failure.set(Some(what)),
            Err(Failure::SignedOut) => {}
        }
    });
}

#[component]
fn TaskSheet(task: TaskId, card: ArcRwSignal<Card>, close: Callback<()>) -> impl IntoView {
    let (client, data) = (Client::from_context(), ProjectData::from_context());
    let card: Signal<Card> = RwSignal::from(card).into();
    let may_write = Reader::may_write();
    let tab = RwSignal::new(Tab::Task);
    let view = RwSignal::new(None::<TaskView>);
    let missing = RwSignal::new(None::<String>);

    // A change of the card requests the rest of the task again.
    let changed =
        Memo::new(move |_| card.with(|card| (card.updated_at, card.comments, card.runs, card.run.is_some(), card.held_by, card.attention.clone())));
    Effect::new({
        let task = task.clone();
        move || {
            // Read, not only tracked: a memo tracks nothing before its first read.
            changed.with(|_| ());
            let request = client.task(task.clone());
            spawn_local(async move {
                match request.await {
                    Ok(found) => {
                        let _panel_closed = view.try_set(Some(found));
                    }
                    Err(Failure::Refused(problem)) => {
                        let _panel_closed = missing.try_set(Some(problem.detail));
                    }
                    // The connection mark reports it, and the next change of the card repeats the request.
                    Err(Failure::Unreachable(_) | Failure::SignedOut) => {}
                }
            });
        }
    });

    let sheet = NodeRef::<html::Aside>::new();
    let before = StoredValue::new_local(focused());
    Effect::new(move || {
        if let Some(sheet) = sheet.get() {
            let _focused = sheet.focus();
        }
    });
    on_cleanup(move || {
        let before = before.try_get_value().flatten();
        request_animation_frame(move || restore_focus(before.as_ref()));
    });

    let comments = Memo::new(move |_| card.with(|card| card.comments));
    let runs = Memo::new(move |_| card.with(|card| (card.runs, card.run.as_ref().map(|run| (run.id.clone(), run.stopping)))));
    let version = Memo::new(move |_| card.with(|card| u64::from(card.runs) * 2 + u64::from(card.run.is_some())));
    let body = {
        let task = task.clone();
        move || match tab.get() {
            Tab::Task => view! { <Overview task=task.clone() card=card view=view comments=comments /> }.into_any(),
            Tab::Attempts => view! { <Attempts task=task.clone() card=card runs=runs /> }.into_any(),
            Tab::Changes => view! {
                <ReviewRounds task=task.clone() version=version />
                <Changes task=task.clone() version=version />
            }
            .into_any(),
            Tab::Messages => view! { <TaskMessages task=task.clone() /> }.into_any(),
        }
    };
    let tabs = TABS
        .map(|(this, label)| {
            let selected = move || tab.get() == this;
            view! {
                <button
                    type="button"
                    role="tab"
                    id=format!("tab-{label}")
                    aria-controls="sheet-body"
                    hidden=move || this == Tab::Messages && !data.is_used(Section::Messages)
                    aria-selected=move || if selected() { "true" } else { "false" }
                    on:click=move |_| tab.set(this)
                >
                    {label}
                    {(this == Tab::Attempts).then(|| view! { <span class="faint">{move || format!(" {}", card.with(|card| card.runs))}</span> })}
                </button>
            }
        })
        .collect_view();
    view! {
        <aside class="sheet" node_ref=sheet tabindex="-1" aria-labelledby="sheet-title">
            <header>
                <div class="sheet-bar">
                    <span class="faint tabular">{task.to_string()}</span>
                    <Neighbours task=task.clone() />
                    <button type="button" class="button quiet icon spacer" aria-label="Close" title="Close (Esc)" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
                <h2 id="sheet-title">{move || card.with(|card| card.title.clone())}</h2>
                <p class="row small-text soft">
                    {move || {
                        let (label, tone) = card.with(card_badge);
                        view! { <Badge label=label tone=tone /> }
                    }}
                    <span>{move || card.with(|card| meta(card, local_time))}</span>
                </p>
                {may_write.then(|| view! { <TaskActions task=task.clone() card=card view=view /> })}
            </header>
            <div class="tabs" role="tablist" aria-label="Task sections">{tabs}</div>
            <div class="sheet-body" id="sheet-body" role="tabpanel" tabindex="0" aria-label="Task section">
                {move || missing.get().map(|what| view! { <p class="notice" data-tone="bad" role="alert">{what}</p> })}
                {body}
            </div>
            {if may_write {
                view! { <TaskComposer task=task card=card /> }.into_any()
            } else {
                view! { <p class="composer soft small-text">{READ_ONLY}</p> }.into_any()
            }}
        </aside>
    }
}

/// The buttons that open the previous and the next card of the board.
#[component]
fn Neighbours(task: TaskId) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let task = StoredValue::new(task);
    let go = move |by: isize| {
        if let Some(next) = task.with_value(|task| neighbour_of(task, by)) {
            navigation.go(Route::Board { project: project.clone(), task: Some(next) });
        }
    };
    let previous = go.clone();
    view! {
        <button type="button" class="button quiet icon small" aria-label="Previous task" on:click=move |_| previous(-1)>
            <Icon drawing=UP />
        </button>
        <button type="button" class="button quiet icon small" aria-label="Next task" on:click=move |_| go(1)>
            <Icon drawing=DOWN />
        </button>
    }
}

/// The question or the wait reason, the description, the facts and the comments.
#[component]
fn Overview(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>, comments: Memo<u32>) -> impl IntoView {
    let question = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.question.clone())));
    let permissions = Memo::new(move |_| view.with(|view| view.as_ref().map(|view| view.permissions.clone()).unwrap_or_default()));
    let description = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.description_html.clone())));
    let attention = Memo::new(move |_| card.with(|card| card.attention.clone()));
    // The facts already name the assignee, and another notice the takeover.
    let is_shown = |why: &&WaitReason| !matches!(why, WaitReason::Assigned { .. } | WaitReason::Held { by: HeldBy::Takeover });
    let why =
        Memo::new(move |_| card.with(|card| card.wait_reason.as_ref().filter(|_| card.run.is_none()).filter(is_shown).map(WaitReason::sentence)));
    let question_task = task.clone();
    view! {
        <TakeoverNotice card=card view=view />
        {move || question.get().map(|question| view! { <QuestionBox task=question_task.clone() question=question /> })}
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
            why.get()
                .filter(|_| attention.with(Option::is_none))
                .map(|why| view! { <p class="notice" data-tone="neutral">{format!("Waiting: {why}.")}</p> })
        }}
        {move || description.get().map(|html| view! { <div class="prose" inner_html=html></div> })}
        <TaskDetails card=card view=view />
        <CommentThread task=task comments=comments />
    }
}
