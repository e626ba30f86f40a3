//! The review of a plan before it starts: edit, add, remove and reorder tasks, send the plan back, or start it.

use domain::board::card::Card;
use domain::board::status::CancelReason;
use domain::board::task::TaskPatch;
use domain::id::TaskId;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::SubmitEvent;

use crate::client::{Client, Failure};
use crate::components::board::new_task::NewTaskDialog;
use crate::components::board::task_form::{TaskDraft, TaskFields};
use crate::components::form::has_text;
use crate::components::icon::{CLOSE, DOWN, Icon, PLUS, UP};
use crate::components::toast::Toasts;
use crate::draft::draft;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::store::Store;

#[component]
pub(crate) fn PlanPage() -> impl IntoView {
    let (client, store, toasts, navigation) = (Client::from_context(), Store::from_context(), Toasts::from_context(), Navigation::from_context());
    let may_write = Reader::may_write();
    let adding = RwSignal::new(false);
    let sending = RwSignal::new(false);
    let project = move || store.project.with_untracked(|project| project.as_ref().map(|project| project.id.clone()));
    let feedback = draft(&format!("plan/{}", project().map(|project| project.to_string()).unwrap_or_default()));
    let open_board = move || {
        if let Some(project) = project() {
            navigation.go(Route::Board { project, task: None });
        }
    };
    let start = move |_| {
        let Some(project) = project() else { return };
        sending.set(true);
        client.watch(client.approve_plan(project), move |result| {
            let _page_closed = sending.try_set(false);
            if result.is_ok() {
                toasts.success("The plan has started.");
                open_board();
            }
        });
    };
    let send_back = move |event: SubmitEvent| {
        event.prevent_default();
        let (Some(project), content) = (project(), feedback.get_untracked()) else { return };
        if content.trim().is_empty() {
            return;
        }
        sending.set(true);
        client.watch(client.revise_plan(project, content), move |result| {
            let _page_closed = sending.try_set(false);
            if result.is_ok() {
                let _page_closed = feedback.try_set(String::new());
                toasts.success("Sent back. The planner will revise the plan.");
                open_board();
            }
        });
    };
    let planner = move || store.plan.with_untracked(|plan| plan.first().and_then(|first| store.card_now(first)).and_then(|card| card.parent_task_id));
    let empty = Memo::new(move |_| store.plan.with(Vec::is_empty));
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"Plan"</h1>
                <button type="button" class="button" on:click=move |_| open_board()>"Back to the board"</button>
            </div>
            <Show
                when=move || !empty.get()
                fallback=|| view! { <div class="empty"><h2>"No plan awaits approval"</h2><p>"Its tasks are on the board."</p></div> }
            >
                <p class="soft">{if may_write { "Nothing starts until you start the plan. Tasks without dependencies start first, in parallel." } else { READ_ONLY }}</p>
                <ol class="plan" aria-label="Planned tasks">
                    <For each=move || store.plan.get() key=TaskId::clone let:id>
                        {store.card(&id).map(|card| view! { <PlannedTask id=id card=card /> })}
                    </For>
                </ol>
                {may_write.then(|| view! {
                    <div class="row">
                        <button type="button" class="button" on:click=move |_| adding.set(true)>
                            <Icon drawing=PLUS />
                            "Add a task"
                        </button>
                        <button type="button" class="button primary spacer" disabled=move || sending.get() on:click=start>"Start the plan"</button>
                    </div>
                    <form class="field" on:submit=send_back>
                        <label for="plan-feedback">"Feedback for the planner"</label>
                        <textarea
                            id="plan-feedback"
                            class="input"
                            placeholder="What should change?"
                            prop:value=feedback
                            on:input:target=move |event| feedback.set(event.target().value())
                        ></textarea>
                        <div class="row">
                            <button
                                type="submit"
                                class="button"
                                disabled=move || sending.get() || !has_text(feedback)
                            >"Send back"</button>
                        </div>
                    </form>
                })}
            </Show>
        </div>
        {move || {
            let project = project().filter(|_| adding.get())?;
            let close = Callback::new(move |()| adding.set(false));
            Some(view! { <NewTaskDialog project=project close=close plan=planner() /> })
        }}
    }
}

/// One task of the plan.
#[component]
fn PlannedTask(id: TaskId, card: ArcRwSignal<Card>) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let editing = RwSignal::new(None::<TaskDraft>);
    let id = StoredValue::new(id);
    let (title, after) = (card.clone(), card);
    let position = Memo::new(move |_| store.plan.with(|plan| plan.iter().position(|known| id.with_value(|id| known == id))));
    let last = Memo::new(move |_| store.plan.with(|plan| plan.len().checked_sub(1)));

    let edit = move |_| {
        spawn_local(async move {
            if let Ok(view) = client.task(id.get_value()).await {
                let task = view.task;
                let draft =
                    TaskDraft::new(&format!("edit/{}", task.card.id), task.card.title, task.description.unwrap_or_default(), task.card.depends_on);
                let _page_closed = editing.try_set(Some(draft));
            }
        });
    };
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        let Some(draft) = editing.get_untracked().filter(|draft| draft.is_ready()) else { return };
        let patch = TaskPatch {
            title: Some(draft.title.get_untracked()),
            description: Some(draft.description.get_untracked()),
            depends_on: Some(draft.depends_on.get_untracked()),
            ..TaskPatch::default()
        };
        client.act(client.patch_task(id.get_value(), patch), move |_| {
            TaskDraft::discard(&id.with_value(|id| format!("edit/{id}")));
            let _page_closed = editing.try_set(None);
        });
    };
    let remove = move |_| client.act(client.cancel(id.get_value(), CancelReason::Obsolete.as_str().to_owned()), |_| {});
    let shift = move |by: isize| client.act(reorder(client, store, id.get_value(), by), |()| {});
    let label = move |action: &str| format!("{action} {}", id.with_value(TaskId::to_string));
    view! {
        <li>
            <div>
                <span class="mono faint small-text">{id.with_value(TaskId::to_string)}</span>
                " "
                <strong>{move || title.with(|card| card.title.clone())}</strong>
            </div>
            {Reader::may_write().then(|| view! {
                <div class="row">
                    <button type="button" class="button quiet small icon" aria-label=label("Move up") disabled=move || position.get() == Some(0) on:click=move |_| shift(-1)>
                        <Icon drawing=UP />
                    </button>
                    <button type="button" class="button quiet small icon" aria-label=label("Move down") disabled=move || position.get() == last.get() on:click=move |_| shift(1)>
                        <Icon drawing=DOWN />
                    </button>
                    <button type="button" class="button quiet small" aria-label=label("Edit") on:click=edit>"Edit"</button>
                    <button type="button" class="button quiet small icon" aria-label=label("Remove") on:click=remove>
                        <Icon drawing=CLOSE />
                    </button>
                </div>
            })}
            <p class="after">
                {move || after.with(|card| match card.depends_on.as_slice() {
                    [] => "No dependencies".to_owned(),
                    tasks => format!("After {}", tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
                })}
            </p>
            {move || editing.get().map(|draft| view! {
                <form class="editor stack" on:submit=save autocomplete="off">
                    <TaskFields draft=draft task=Some(id.get_value()) inline=true />
                    <div class="row">
                        <button type="submit" class="button primary small" disabled=move || !draft.is_ready()>"Save"</button>
                        <button type="button" class="button small" on:click=move |_| editing.set(None)>"Back"</button>
                    </div>
                </form>
            })}
        </li>
    }
}

/// Moves a task of the plan by one position. The new order is stored as priorities, and only changed ones are sent.
async fn reorder(client: Client, store: Store, task: TaskId, by: isize) -> Result<(), Failure> {
    let plan: Vec<Card> = store.plan.get_untracked().iter().filter_map(|id| store.card_now(id)).collect();
    for (id, priority) in priorities(&plan, &task, by) {
        client.patch_task(id, TaskPatch { priority: Some(priority), ..TaskPatch::default() }).await?;
    }
    Ok(())
}

fn priorities(plan: &[Card], task: &TaskId, by: isize) -> Vec<(TaskId, i64)> {
    let mut order: Vec<&Card> = plan.iter().collect();
    let Some(from) = order.iter().position(|card| card.id == *task) else { return Vec::new() };
    let Some(to) = from.checked_add_signed(by).filter(|to| *to < order.len()) else { return Vec::new() };
    order.swap(from, to);
    let highest = i64::try_from(order.len()).unwrap_or(i64::MAX);
    order
        .into_iter()
        .zip((1..=highest).rev())
        .filter(|(card, priority)| card.priority != *priority)
        .map(|(card, priority)| (card.id.clone(), priority))
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;

    use super::*;
    use crate::testing::card;

    fn with_priority(number: u64, priority: i64) -> Card {
        Card { priority, ..card(number, Status::Backlog) }
    }

    #[test]
    fn reordering_writes_changed_priorities() {
        let plan = [card(2, Status::Backlog), card(3, Status::Backlog), card(4, Status::Backlog)];
        let id = TaskId::new;
        assert_eq!(priorities(&plan, &id(4), -1), [(id(2), 3), (id(4), 2), (id(3), 1)]);
        // The next step changes only two.
        let plan = [with_priority(2, 3), with_priority(4, 2), with_priority(3, 1)];
        assert_eq!(priorities(&plan, &id(4), -1), [(id(4), 3), (id(2), 2)]);
    }

    #[test]
    fn reordering_past_the_end_changes_nothing() {
        let plan = [card(2, Status::Backlog), card(3, Status::Backlog)];
        assert_eq!(priorities(&plan, &TaskId::new(2), -1), []);
        assert_eq!(priorities(&plan, &TaskId::new(3), 1), []);
        assert_eq!(priorities(&plan, &TaskId::new(9), 1), []);
    }
}
