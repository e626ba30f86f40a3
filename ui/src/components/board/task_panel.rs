//! The panel of one task: its actions, facts, comments, attempts, changes, messages and history.

use domain::board::card::Card;
use domain::id::TaskId;
use leptos::html;
use leptos::prelude::*;

use crate::address::{parameter, set_parameter};
use crate::components::badge::card_state::{CardState, meta};
use crate::components::badge::{Badge, card_badge};
use crate::components::board::comment::CommentThread;
use crate::components::board::history::TaskHistory;
use crate::components::board::review_round::ReviewRounds;
use crate::components::board::task_actions::TaskActions;
use crate::components::board::task_composer::TaskComposer;
use crate::components::board::task_details::TaskDetails;
use crate::components::board::task_messages::TaskMessages;
use crate::components::board::task_overview::TaskOverview;
use crate::components::dialog::{focused, restore_focus};
use crate::components::diff_view::Changes;
use crate::components::icon::{CLOSE, DOWN, EXPAND, Icon, UP};
use crate::components::notices::LostConnection;
use crate::components::runs::attempt::Attempts;
use crate::components::sidebar::PhoneConnection;
use crate::focus::neighbour_of;
use crate::overview::Overview;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route, Section};
use crate::task_data::{TaskData, load_card};
use crate::time::local_time;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tab {
    Task,
    Attempts,
    Changes,
    Messages,
    History,
}

const TABS: [(Tab, &str); 5] =
    [(Tab::Task, "Task"), (Tab::Attempts, "Attempts"), (Tab::Changes, "Changes"), (Tab::Messages, "Messages"), (Tab::History, "History")];

impl Tab {
    /// Its name in the address.
    const fn name(self) -> &'static str {
        match self {
            Self::Task => "",
            Self::Attempts => "attempts",
            Self::Changes => "changes",
            Self::Messages => "messages",
            Self::History => "history",
        }
    }

    fn of_address() -> Self {
        let name = parameter("tab").unwrap_or_default();
        TABS.iter().map(|(tab, _)| *tab).find(|tab| tab.name() == name).unwrap_or(Self::Task)
    }
}

#[component]
pub(crate) fn TaskPanel(task: TaskId, close: Callback<()>) -> impl IntoView {
    let (card, failure) = load_card(&task);
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

#[component]
fn TaskSheet(task: TaskId, card: ArcRwSignal<Card>, close: Callback<()>) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context());
    let (may_write, overview) = (Reader::may_write(), Overview::from_context());
    let tab = RwSignal::new(Tab::of_address());
    let data = TaskData::follow(task.clone(), card);
    let TaskData { card, view, missing } = data;
    let select = move |chosen: Tab| {
        tab.set(chosen);
        set_parameter("tab", Some(chosen.name()));
    };

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

    let page = Route::TaskPage { project: project.project(), task: task.clone() };
    let (comments, runs, version) = (data.comments(), data.runs(), data.version());
    let body = {
        let task = task.clone();
        move || match tab.get() {
            Tab::Task => view! {
                <TaskOverview task=task.clone() card=card view=view />
                <TaskDetails card=card view=view />
                <CommentThread task=task.clone() comments=comments />
            }
            .into_any(),
            Tab::Attempts => view! { <Attempts task=task.clone() card=card runs=runs /> }.into_any(),
            Tab::Changes => view! {
                <p class="row small-text"><ReviewLink task=task.clone() /></p>
                <ReviewRounds task=task.clone() version=version />
                <Changes task=task.clone() version=version />
            }
            .into_any(),
            Tab::Messages => view! { <TaskMessages task=task.clone() /> }.into_any(),
            Tab::History => view! { <TaskHistory project=project.project() task=task.clone() /> }.into_any(),
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
                    hidden=move || this == Tab::Messages && !project.is_used(Section::Messages)
                    aria-selected=move || if selected() { "true" } else { "false" }
                    on:click=move |_| select(this)
                >
                    {label}
                    {(this == Tab::Attempts).then(|| view! { <span class="faint">{move || format!(" {}", card.with(|card| card.runs))}</span> })}
                </button>
            }
        })
        .collect_view();
    view! {
        <aside class="sheet" node_ref=sheet tabindex="-1" aria-labelledby="sheet-title">
            <LostConnection />
            <header>
                <div class="sheet-bar">
                    <span class="faint tabular">{task.to_string()}</span>
                    <Neighbours task=task.clone() />
                    <a
                        class="button quiet icon small"
                        aria-label="Open the page of the task"
                        title="Open as a page"
                        href=page.path()
                        on:click=move |event| navigation.follow(&event, page.clone())
                    >
                        <Icon drawing=EXPAND />
                    </a>
                    <span class="spacer"></span>
                    <PhoneConnection />
                    <button type="button" class="button quiet icon" aria-label="Close" title="Close (Esc)" on:click=move |_| close.run(())>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
                <h2 id="sheet-title">{move || card.with(|card| card.title.clone())}</h2>
                <p class="row small-text soft">
                    {move || {
                        let (label, tone) = card.with(card_badge);
                        view! { <Badge label=label tone=tone /> }
                    }}
                    <span>{move || card.with(|card| meta(card, local_time, overview.busy_elsewhere(card)))}</span>
                    {
                        let task = task.clone();
                        view! {
                            <Show when=move || card.with(|card| CardState::of(card).has_submission())>
                                <ReviewLink task=task.clone() loud=Signal::derive(move || card.with(|card| CardState::of(card) == CardState::YourReview)) />
                            </Show>
                        }
                    }
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

/// Opens the changes on a page of their own.
#[component]
fn ReviewLink(
    task: TaskId,
    /// Whether it is the filled button of the panel.
    #[prop(optional)]
    loud: Signal<bool>,
) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let route = Route::Review { project, task };
    view! {
        <a class="button small" class:primary=loud href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
            "Review changes"
        </a>
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
