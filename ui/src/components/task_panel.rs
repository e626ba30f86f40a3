//! The sheet of one task: what it is, what was said, its attempts and its change, and what a person can do with it.

use domain::board::card::Card;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::wire::TaskView;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::attempts::Attempts;
use crate::components::badge::{Badge, Role, card_look};
use crate::components::comment_thread::CommentThread;
use crate::components::composer::Composer;
use crate::components::dialog::{focused, give_back};
use crate::components::diff_view::Changes;
use crate::components::icon::{CLOSE, Icon};
use crate::components::question::QuestionBox;
use crate::components::task_actions::TaskActions;
use crate::components::task_details::TaskDetails;
use crate::components::task_messages::TaskMessages;
use crate::room::Room;
use crate::route::Section;
use crate::store::Store;

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
    match Store::here().card(&task) {
        Some(card) => view! { <Sheet task=task card=card close=close /> }.into_any(),
        None => view! {
            <aside class="sheet" aria-label=task.to_string()>
                <header class="row">
                    <h1>{format!("{task} is not on this board")}</h1>
                    <button type="button" class="button quiet icon push" aria-label="Close" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </header>
            </aside>
        }
        .into_any(),
    }
}

#[component]
fn Sheet(task: TaskId, card: ArcRwSignal<Card>, close: Callback<()>) -> impl IntoView {
    let (client, room) = (Client::here(), Room::here());
    let card: Signal<Card> = RwSignal::from(card).into();
    let tab = RwSignal::new(Tab::Task);
    let view = RwSignal::new(None::<TaskView>);
    let missing = RwSignal::new(None::<String>);

    // The card carries when the task last changed; the rest of it is read again then.
    let changed = Memo::new(move |_| card.with(|card| (card.updated_at, card.comments, card.runs, card.run.is_some(), card.attention.clone())));
    Effect::new({
        let task = task.clone();
        move || {
            // Read and not only tracked: a memo follows nothing before it was read.
            changed.with(|_| ());
            let request = client.task(task.clone());
            spawn_local(async move {
                match request.await {
                    Ok(found) => {
                        let _closed_meanwhile = view.try_set(Some(found));
                    }
                    Err(Failure::Refused(problem)) => {
                        let _closed_meanwhile = missing.try_set(Some(problem.detail));
                    }
                    // The connection mark says so, and the next change of the card asks again.
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
        request_animation_frame(move || give_back(before.as_ref()));
    });

    let comments = Memo::new(move |_| card.with(|card| card.comments));
    let runs = Memo::new(move |_| card.with(|card| (card.runs, card.run.as_ref().map(|run| (run.id.clone(), run.stopping)))));
    let version = Memo::new(move |_| card.with(|card| u64::from(card.runs) * 2 + u64::from(card.run.is_some())));
    let body = {
        let task = task.clone();
        move || match tab.get() {
            Tab::Task => view! { <Overview task=task.clone() card=card view=view comments=comments /> }.into_any(),
            Tab::Attempts => view! { <Attempts task=task.clone() runs=runs /> }.into_any(),
            Tab::Changes => view! { <Changes task=task.clone() version=version /> }.into_any(),
            Tab::Messages => view! { <TaskMessages task=task.clone() /> }.into_any(),
        }
    };
    let tabs = TABS
        .map(|(this, word)| {
            let chosen = move || tab.get() == this;
            view! {
                <button
                    type="button"
                    role="tab"
                    id=format!("tab-{word}")
                    aria-controls="sheet-body"
                    hidden=move || this == Tab::Messages && !room.is_used(Section::Messages)
                    aria-selected=move || if chosen() { "true" } else { "false" }
                    on:click=move |_| tab.set(this)
                >
                    {word}
                    {(this == Tab::Attempts).then(|| view! { <span class="faint">{move || format!(" {}", card.with(|card| card.runs))}</span> })}
                </button>
            }
        })
        .collect_view();
    view! {
        <aside class="sheet" node_ref=sheet tabindex="-1" aria-labelledby="sheet-title">
            <header>
                <div class="row">
                    <span class="mono faint">{task.to_string()}</span>
                    {move || card.with(|card| view! { <Role phase=card.phase /> })}
                    {move || {
                        let (word, tone) = card.with(card_look);
                        view! { <Badge word=word tone=tone /> }
                    }}
                    <button type="button" class="button quiet icon push" aria-label="Close" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
                <h1 id="sheet-title">{move || card.with(|card| card.title.clone())}</h1>
                <TaskActions task=task.clone() card=card view=view />
            </header>
            <div class="tabs" role="tablist" aria-label="Parts of the task">{tabs}</div>
            <div class="sheet-body" id="sheet-body" role="tabpanel" tabindex="0" aria-label="Part of the task">
                {move || missing.get().map(|what| view! { <p class="notice" data-tone="bad" role="alert">{what}</p> })}
                {body}
            </div>
            <Composer task=task card=card />
        </aside>
    }
}

/// The question, why it waits, the description, the facts, the thread.
#[component]
fn Overview(task: TaskId, card: Signal<Card>, view: RwSignal<Option<TaskView>>, comments: Memo<u32>) -> impl IntoView {
    let question = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.question.clone())));
    let description = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.description_html.clone())));
    let attention = Memo::new(move |_| card.with(|card| card.attention.clone()));
    // Whose task it is stands among the facts.
    let told = |why: &&WaitReason| !matches!(why, WaitReason::Assigned { .. });
    let why = Memo::new(move |_| card.with(|card| card.wait_reason.as_ref().filter(|_| card.run.is_none()).filter(told).map(WaitReason::sentence)));
    let asked = task.clone();
    view! {
        {move || question.get().map(|question| view! { <QuestionBox task=asked.clone() question=question /> })}
        {move || {
            // A question shows itself; everything else that needs the person is said here.
            attention
                .get()
                .filter(|_| question.with(Option::is_none))
                .map(|attention| view! {
                    <div class="notice" data-tone="warn" role="status">
                        <p>
                            <strong>{format!("Needs you: {}. ", crate::components::badge::attention_word(attention.kind))}</strong>
                            {attention.detail}
                        </p>
                    </div>
                })
        }}
        {move || {
            why.get()
                .filter(|_| attention.with(Option::is_none))
                .map(|why| view! { <p class="notice" data-tone="neutral">{format!("Not at work: {why}.")}</p> })
        }}
        {move || description.get().map(|html| view! { <div class="prose" inner_html=html></div> })}
        <TaskDetails card=card view=view />
        <CommentThread task=task comments=comments />
    }
}
