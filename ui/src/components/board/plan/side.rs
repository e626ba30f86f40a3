//! The side of the page of a plan: the effect of starting it, the button that starts it, the way back to the planner, and the graph of its tasks.

use domain::id::TaskId;
use domain::runs::limit::LimitUse;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::{HtmlElement, MouseEvent, SubmitEvent};

use super::task::row_id;
use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::badge::card_state::CardState;
use crate::components::board::graph::{DependencyGraph, GraphTask};
use crate::components::form::has_text;
use crate::components::icon::{Icon, TRIANGLE};
use crate::components::inline_code::sentence;
use crate::components::runs::land::check::counted;
use crate::components::toast::Toasts;
use crate::draft::{discard, draft};
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::store::Store;

/// Tasks of a list that are named one by one.
const MAX_NAMED: usize = 4;

/// The tasks of the plan that wait for no other one.
pub(crate) fn starts_at_once(store: Store) -> Vec<TaskId> {
    store.plan.get().into_iter().filter(|id| store.card(id).is_some_and(|card| card.with(|card| card.depends_on.is_empty()))).collect()
}

#[component]
pub(crate) fn PlanSide(pointed: RwSignal<Option<TaskId>>) -> impl IntoView {
    let may_write = Reader::may_write();
    view! {
        <aside class="doc-side" aria-label="Start">
            <section class="box plan-facts"><Facts /></section>
            <div class="doc-act">
                {if may_write { view! { <Start /> }.into_any() } else { view! { <p class="soft">{READ_ONLY}</p> }.into_any() }}
            </div>
            <PlanGraph pointed=pointed />
            {may_write.then(|| view! { <SendBack /> })}
        </aside>
    }
}

/// The effect of starting the plan.
#[component]
fn Facts() -> impl IntoView {
    let (store, status) = (Store::from_context(), ServerStatus::from_context());
    let usage = ProjectData::from_context().usage.watch().value;
    let at_once = Memo::new(move |_| named(&starts_at_once(store)));
    let agents = move || status.server.with(|server| server.as_ref().map(|server| format!("Up to {} agents", server.runner.max_agents)));
    let budget =
        Memo::new(move |_| usage.with(|usage| usage.as_ref().and_then(|usage| usage.budget.map(|budget: LimitUse| sentence(&budget.sentence())))));
    view! {
        <dl class="details">
            <dt>"At once"</dt>
            <dd>{at_once}</dd>
            <dt>"Side by side"</dt>
            <dd>{agents}</dd>
            {move || budget.get().map(|budget| view! {
                <dt>"Budget"</dt>
                <dd>{budget}</dd>
            })}
        </dl>
    }
}

/// The first ids, and the number of the others.
fn named(tasks: &[TaskId]) -> String {
    let mut names: Vec<String> = tasks.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    if tasks.len() > MAX_NAMED {
        names.push(format!("and {} more", tasks.len() - MAX_NAMED));
    }
    if names.is_empty() { "No task".to_owned() } else { names.join(", ") }
}

#[component]
fn Start() -> impl IntoView {
    let (client, store, toasts, navigation) = (Client::from_context(), Store::from_context(), Toasts::from_context(), Navigation::from_context());
    let data = ProjectData::from_context();
    let sending = RwSignal::new(false);
    let start = move |_| {
        sending.set(true);
        client.watch(client.approve_plan(data.project()), move |result| {
            let _page_closed = sending.try_set(false);
            if result.is_ok() {
                toasts.success("The plan has started.");
                navigation.go(Route::Board { project: data.project(), task: None });
            }
        });
    };
    view! {
        <button
            type="button"
            class="button primary big"
            aria-describedby="start-about"
            disabled=move || sending.get()
            aria-busy=move || sending.get().to_string()
            on:click=start
        >
            <Icon drawing=TRIANGLE />
            {move || format!("Start {}", counted(store.plan.with(Vec::len), "task"))}
        </button>
        <p id="start-about" class="faint small-text">"You can add, change and cancel tasks later. Nothing reaches the base branch until you land it."</p>
    }
}

/// Sends the plan back to the planner with words.
#[component]
fn SendBack() -> impl IntoView {
    let (client, toasts, navigation, data) =
        (Client::from_context(), Toasts::from_context(), Navigation::from_context(), ProjectData::from_context());
    let key = format!("plan/{}", data.project());
    let (feedback, sending) = (draft(&key), RwSignal::new(false));
    let send_back = move |event: SubmitEvent| {
        event.prevent_default();
        let (content, key) = (feedback.get_untracked(), key.clone());
        if content.trim().is_empty() {
            return;
        }
        sending.set(true);
        client.watch(client.revise_plan(data.project(), content), move |result| {
            let _page_closed = sending.try_set(false);
            if result.is_ok() {
                discard(&key);
                toasts.success("Sent back. The planner will revise the plan.");
                navigation.go(Route::Board { project: data.project(), task: None });
            }
        });
    };
    view! {
        <form class="field send-back" on:submit=send_back>
            <label for="plan-feedback">"Not quite?"</label>
            <textarea
                id="plan-feedback"
                class="input"
                placeholder="Say what should be different. The planner tries again."
                prop:value=feedback
                on:input:target=move |event| feedback.set(event.target().value())
            ></textarea>
            <div class="row">
                <button type="submit" class="button" disabled=move || sending.get() || !has_text(feedback)>"Send back to the planner"</button>
            </div>
        </form>
    }
}

/// The graph of the plan. A pressed node scrolls to its task.
#[component]
fn PlanGraph(pointed: RwSignal<Option<TaskId>>) -> impl IntoView {
    let (store, data) = (Store::from_context(), ProjectData::from_context());
    let tasks = Memo::new(move |_| {
        let task = |id: &TaskId| {
            store.card(id).map(|card| {
                card.with(|card| GraphTask {
                    id: card.id.clone(),
                    title: card.title.clone(),
                    // All wait for the start. They differ in whether they wait for each other too.
                    state: if card.depends_on.is_empty() { CardState::Ready } else { CardState::Blocked },
                    depends_on: card.depends_on.clone(),
                })
            })
        };
        store.plan.get().iter().filter_map(task).collect::<Vec<_>>()
    });
    let has_lines = Memo::new(move |_| tasks.with(|tasks| tasks.iter().any(|task| !task.depends_on.is_empty())));
    let href = Callback::new(move |task| Route::Board { project: data.project(), task: Some(task) }.path());
    let open = Callback::new(move |(task, event): (TaskId, MouseEvent)| {
        let row = document().get_element_by_id(&row_id(&task));
        let Some(row) = row.filter(|_| event.button() == 0 && !event.ctrl_key() && !event.meta_key()) else { return };
        event.prevent_default();
        row.scroll_into_view();
        if let Some(summary) = row.query_selector("summary").ok().flatten().and_then(|summary| summary.dyn_into::<HtmlElement>().ok()) {
            let _focused = summary.focus();
        }
    });
    view! {
        <Show when=move || has_lines.get()>
            <section class="section" aria-label="Dependencies">
                <h3>"Dependencies"</h3>
                <div class="graph-scroll" tabindex="0" role="region" aria-label="Graph of the plan">
                    <DependencyGraph tasks=tasks narrow=true pointed=pointed href=href open=open />
                </div>
            </section>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_list_of_tasks_is_cut() {
        assert_eq!(named(&[]), "No task");
        assert_eq!(named(&[2, 3].map(TaskId::new)), "TASK-002, TASK-003");
        assert_eq!(named(&[2, 3, 4, 5, 6, 7].map(TaskId::new)), "TASK-002, TASK-003, TASK-004, TASK-005, and 2 more");
    }
}
