//! The review of a plan before it starts, as a document: the goal, the planner's reasons, each task with its criteria, and their order.
//!
//! Must not know when a task starts: the scheduler does.

use domain::id::TaskId;
use domain::runs::usage::money;
use domain::wire::{PlanView, PlannedTask};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::UNSTARTED;
use crate::components::board::comment::CommentEntry;
use crate::components::board::new_task::NewTaskDialog;
use crate::components::board::plan::side::{PlanSide, starts_at_once};
use crate::components::board::plan::task::PlanTask;
use crate::components::board::task_form::TaskDraft;
use crate::components::icon::{Icon, PLUS};
use crate::components::runs::land::check::counted;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::store::Store;

#[component]
pub(crate) fn PlanPage() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    // The tasks of the plan, and the number of comments that explain it.
    let version = Memo::new(move |_| {
        let plan = store.plan.get();
        let changes: Vec<_> = plan.iter().filter_map(|id| store.card(id)).map(|card| card.with(|card| (card.id.clone(), card.updated_at))).collect();
        let comments = planner_of(store, &plan).and_then(|id| store.card(&id)).map(|card| card.with(|card| card.comments));
        (changes, comments)
    });
    let revision = RwSignal::new(0_u32);
    Effect::new(move || {
        version.with(|_| ());
        revision.update(|revision| *revision += 1);
    });
    let view = LiveList::new(revision, |_| false, move || client.plan(data.project())).watch().value;
    let (adding, pointed) = (RwSignal::new(false), RwSignal::new(None::<TaskId>));
    let empty = Memo::new(move |_| store.plan.with(Vec::is_empty));
    view! {
        <Show when=move || !empty.get() fallback=|| view! { <NoPlan /> }>
            <div class="doc plan-page">
                <div class="doc-main">
                    <PlanHead view=view />
                    <PlanList view=view adding=adding pointed=pointed />
                </div>
                <PlanSide pointed=pointed />
            </div>
        </Show>
        {move || adding.get().then(|| {
            let close = Callback::new(move |()| adding.set(false));
            let planner = store.plan.with_untracked(|plan| planner_of(store, plan));
            view! { <NewTaskDialog project=data.project() close=close plan=planner /> }
        })}
    }
}

/// The planning task that created the plan.
fn planner_of(store: Store, plan: &[TaskId]) -> Option<TaskId> {
    plan.iter().find_map(|task| store.card_now(task)?.parent_task_id)
}

#[component]
fn NoPlan() -> impl IntoView {
    let navigation = Navigation::from_context();
    let route = Route::Board { project: ProjectData::from_context().project(), task: None };
    view! {
        <div class="empty">
            <h2>"No plan awaits approval"</h2>
            <p>"Its tasks are on the board."</p>
            <a class="button" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>"Back to the board"</a>
        </div>
    }
}

/// The goal, and why the plan is as it is.
#[component]
fn PlanHead(view: RwSignal<Option<PlanView>>) -> impl IntoView {
    let store = Store::from_context();
    let title = move || store.project.with(|project| project.as_ref().map(|project| project.title.clone()));
    let goal = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.goal_html.clone())));
    let known = Memo::new(move |_| view.with(|view| view.as_ref().map(|view| (view.comments.clone(), view.cost_micro_usd))));
    let reasons = move || {
        let (comments, cost) = known.get()?;
        let about = ["Planner".to_owned()].into_iter().chain(money(cost)).collect::<Vec<_>>().join(" · ");
        let body = if comments.is_empty() {
            view! { <p class="faint small-text">"The planner left no comment. Each task describes its purpose."</p> }.into_any()
        } else {
            comments.into_iter().map(|comment| view! { <CommentEntry view=comment /> }).collect_view().into_any()
        };
        Some(view! {
            <section class="box" aria-label="Why this plan">
                <header>
                    <h3>"Why this plan"</h3>
                    <span class="faint small-text spacer">{about}</span>
                </header>
                <div class="pad thread">{body}</div>
            </section>
        })
    };
    view! {
        <header class="doc-head">
            <p class="faint">"Goal"</p>
            <h2>{title}</h2>
            {move || goal.get().map(|html| view! { <div class="prose" inner_html=html></div> })}
        </header>
        {reasons}
    }
}

#[component]
fn PlanList(view: RwSignal<Option<PlanView>>, adding: RwSignal<bool>, pointed: RwSignal<Option<TaskId>>) -> impl IntoView {
    let store = Store::from_context();
    let all_open = RwSignal::new(true);
    let editing = RwSignal::new(None::<(TaskId, TaskDraft)>);
    let at_once = Memo::new(move |_| starts_at_once(store).len());
    let task = move |id: TaskId| {
        let own = id.clone();
        let details: Memo<Option<PlannedTask>> =
            Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.tasks.iter().find(|task| task.id == own).cloned())));
        store.card(&id).map(|card| view! { <PlanTask id=id card=card details=details all_open=all_open pointed=pointed editing=editing /> })
    };
    view! {
        <div class="row plan-head">
            <h3>{move || counted(store.plan.with(Vec::len), "task")}</h3>
            <span class="faint">{move || format!("{} {} at once", at_once.get(), if at_once.get() == 1 { "starts" } else { "start" })}</span>
            <span class="spacer"></span>
            {Reader::may_write().then(|| view! {
                <button type="button" class="button quiet small" on:click=move |_| adding.set(true)>
                    <Icon drawing=PLUS />
                    "Add a task"
                </button>
            })}
            <button type="button" class="button quiet small" on:click=move |_| all_open.update(|open| *open = !*open)>
                {move || if all_open.get() { "Collapse all" } else { "Expand all" }}
            </button>
        </div>
        <ol class="plan" aria-label="Planned tasks" data-status=UNSTARTED.as_str()>
            <For each=move || store.plan.get() key=TaskId::clone let:id>
                {task(id)}
            </For>
        </ol>
    }
}
