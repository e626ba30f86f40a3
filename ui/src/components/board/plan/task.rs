//! One task of a plan: its description and criteria, its place, and its editor.

use domain::board::card::Card;
use domain::board::order::NewPlace;
use domain::board::status::CancelReason;
use domain::board::task::TaskPatch;
use domain::id::TaskId;
use domain::wire::PlannedTask;
use leptos::prelude::*;
use web_sys::{KeyboardEvent, PointerEvent, SubmitEvent};

use super::sections::{Section, sections};
use crate::client::Client;
use crate::components::badge::phase_label;
use crate::components::board::task_form::{TaskDraft, TaskFields};
use crate::components::icon::{CLOSE, DOWN, GRIP, Icon, PENCIL, UP};
use crate::components::inline_code::InlineCode;
use crate::components::toast::Toasts;
use crate::drag::Drag;
use crate::reader::Reader;
use crate::store::Store;

/// The words before the tasks that a task waits for.
pub(crate) fn starts(depends_on: &[TaskId]) -> String {
    match depends_on {
        [] => "Starts at once".to_owned(),
        tasks => format!("After {}", tasks.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")),
    }
}

#[component]
pub(crate) fn PlanTask(
    id: TaskId,
    card: ArcRwSignal<Card>,
    details: Memo<Option<PlannedTask>>,
    /// Whether all tasks are open, which a reader can change for each.
    all_open: RwSignal<bool>,
    /// The task that the pointer or the focus is on, here or in the graph.
    pointed: RwSignal<Option<TaskId>>,
    /// The task that is edited. One at a time, because its fields have fixed ids.
    editing: RwSignal<Option<(TaskId, TaskDraft)>>,
) -> impl IntoView {
    let (client, store, drag, toasts) = (Client::from_context(), Store::from_context(), Drag::from_context(), Toasts::from_context());
    let may_write = Reader::may_write();
    let id = StoredValue::new(id);
    let card: Signal<Card> = RwSignal::from(card).into();
    let number = Memo::new(move |_| store.plan.with(|plan| plan.iter().position(|known| id.with_value(|id| known == id))));
    let last = Memo::new(move |_| store.plan.with(|plan| plan.len().checked_sub(1)));
    let press = move |event: PointerEvent| card.with_untracked(|card| drag.pressed(&event, card, true));
    let insertion = drag.insertion(id.get_value());
    let dragged = Memo::new(move |_| drag.dragged.with(|dragged| dragged.as_ref().is_some_and(|dragged| id.with_value(|id| dragged.task == *id))));
    let is_pointed = Memo::new(move |_| pointed.with(|pointed| id.with_value(|id| pointed.as_ref() == Some(id))));
    let shift = move |down: bool| {
        let plan = store.plan.get_untracked();
        let Some(place) = number.get_untracked().and_then(|number| neighbour(&plan, number, down)) else { return };
        client.act(client.reorder(id.get_value(), place), |_| {});
    };
    let on_key = move |event: KeyboardEvent| {
        let down = match event.key().as_str() {
            "ArrowDown" => true,
            "ArrowUp" => false,
            _ => return,
        };
        if may_write && event.alt_key() {
            event.prevent_default();
            shift(down);
        }
    };
    let edit = move |_| {
        let (card, description) =
            (card.get_untracked(), details.with_untracked(|details| details.as_ref().and_then(|details| details.description.clone())));
        let draft = TaskDraft::new(&format!("edit/{}", card.id), card.title.clone(), description.unwrap_or_default(), card.depends_on.clone());
        editing.set(Some((card.id, draft)));
    };
    let label = move |action: &str| format!("{action} {}", id.with_value(TaskId::to_string));
    let own_draft = move || editing.with(|editing| editing.as_ref().filter(|(task, _)| id.with_value(|id| task == id)).map(|(_, draft)| *draft));
    let body = move || match own_draft() {
        Some(draft) => view! { <Editor id=id.get_value() draft=draft editing=editing /> }.into_any(),
        None => view! { <Description details=details /> }.into_any(),
    };
    view! {
        <li
            class="plan-task"
            id=id.with_value(row_id)
            data-task=id.with_value(TaskId::to_string)
            data-insert=move || insertion.get()
            data-dragged=move || dragged.get().then_some("")
            data-pointed=move || is_pointed.get().then_some("")
            on:keydown=on_key
            on:pointerenter=move |_| pointed.set(Some(id.get_value()))
            on:pointerleave=move |_| pointed.set(None)
            on:focusin=move |_| pointed.set(Some(id.get_value()))
        >
            {may_write.then(|| view! {
                <span class="grip" aria-hidden="true" title="Drag, or Alt with the arrow keys" on:pointerdown=press>
                    <Icon drawing=GRIP />
                </span>
            })}
            <details prop:open=move || all_open.get()>
                <summary class="card-open">
                    <span class="number">{move || number.get().map(|number| number + 1)}</span>
                    <h3>{move || card.with(|card| card.title.clone())}</h3>
                    <span class="after">{move || card.with(|card| starts(&card.depends_on))}</span>
                    <span class="id">{id.with_value(TaskId::to_string)}</span>
                </summary>
                <div class="plan-body">
                    {body}
                    <div class="plan-tools">
                        <span class="faint">{move || card.with(|card| phase_label(card.phase))}</span>
                        {may_write.then(|| view! {
                            <button type="button" class="button quiet small icon spacer" aria-label=label("Move up") disabled=move || number.get() == Some(0) on:click=move |_| shift(false)>
                                <Icon drawing=UP />
                            </button>
                            <button type="button" class="button quiet small icon" aria-label=label("Move down") disabled=move || number.get() == last.get() on:click=move |_| shift(true)>
                                <Icon drawing=DOWN />
                            </button>
                            <button type="button" class="button quiet small" aria-label=label("Edit") disabled=move || own_draft().is_some() on:click=edit>
                                <Icon drawing=PENCIL />
                                "Edit"
                            </button>
                            <button type="button" class="button quiet small" aria-label=label("Remove") on:click=move |_| remove(client, toasts, id.get_value())>
                                <Icon drawing=CLOSE />
                                "Remove"
                            </button>
                        })}
                    </div>
                </div>
            </details>
        </li>
    }
}

/// The element of a task in the plan.
pub(crate) fn row_id(task: &TaskId) -> String {
    format!("plan-{task}")
}

/// The place before the task above, or after the one below.
fn neighbour(plan: &[TaskId], number: usize, down: bool) -> Option<NewPlace> {
    if down {
        Some(NewPlace { after: Some(plan.get(number + 1)?.clone()), ..NewPlace::default() })
    } else {
        Some(NewPlace { before: Some(plan.get(number.checked_sub(1)?)?.clone()), ..NewPlace::default() })
    }
}

/// Removes a task from the plan. The toast can undo that.
fn remove(client: Client, toasts: Toasts, id: TaskId) {
    client.act(client.cancel(id.clone(), CancelReason::Obsolete.as_str().to_owned()), move |_| {
        let text = format!("{id} was removed from the plan.");
        toasts.undoable(text, Callback::new(move |()| client.act(client.restore(id.clone()), |_| {})));
    });
}

/// The description in its parts, with the acceptance criteria as a list.
#[component]
fn Description(details: Memo<Option<PlannedTask>>) -> impl IntoView {
    move || {
        let details = details.get()?;
        Some(match details.description.as_deref().and_then(sections) {
            Some(parts) => view! { <dl class="plan-parts">{parts.into_iter().map(part).collect_view()}</dl> }.into_any(),
            None => match details.description_html {
                Some(html) => view! { <div class="prose" inner_html=html></div> }.into_any(),
                None => view! { <p class="faint">"No description. Edit the task to say what to do, and how to tell when it is done."</p> }.into_any(),
            },
        })
    }
}

fn part(section: Section) -> impl IntoView {
    let is_acceptance = section.is_acceptance();
    let lines = section.lines.into_iter().map(|line| view! { <li><span><InlineCode text=line /></span></li> }).collect_view();
    view! {
        <dt>{section.label}</dt>
        <dd><ul class:criteria=is_acceptance>{lines}</ul></dd>
    }
}

#[component]
fn Editor(id: TaskId, draft: TaskDraft, editing: RwSignal<Option<(TaskId, TaskDraft)>>) -> impl IntoView {
    let client = Client::from_context();
    let task = id.clone();
    let save = move |event: SubmitEvent| {
        event.prevent_default();
        if !draft.is_ready() {
            return;
        }
        let patch = TaskPatch {
            title: Some(draft.title.get_untracked()),
            description: Some(draft.description.get_untracked()),
            depends_on: Some(draft.depends_on.get_untracked()),
            ..TaskPatch::default()
        };
        let task = task.clone();
        client.act(client.patch_task(task.clone(), patch), move |_| {
            TaskDraft::discard(&format!("edit/{task}"));
            let _page_closed = editing.try_set(None);
        });
    };
    view! {
        <form class="editor stack" on:submit=save autocomplete="off">
            <TaskFields draft=draft task=Some(id) inline=true />
            <div class="row">
                <button type="submit" class="button small" disabled=move || !draft.is_ready()>"Save"</button>
                <button type="button" class="button quiet small" on:click=move |_| editing.set(None)>"Back"</button>
            </div>
        </form>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn task_moves_by_one_place_within_the_plan() {
        let plan: Vec<TaskId> = [2, 4, 3].map(TaskId::new).into();
        assert_eq!(neighbour(&plan, 1, false), Some(NewPlace { before: Some(TaskId::new(2)), after: None }));
        assert_eq!(neighbour(&plan, 1, true), Some(NewPlace { before: None, after: Some(TaskId::new(3)) }));
        assert_eq!((neighbour(&plan, 0, false), neighbour(&plan, 2, true)), (None, None));
    }

    #[test]
    fn task_without_dependencies_starts_at_once() {
        assert_eq!(starts(&[]), "Starts at once");
        assert_eq!(starts(&[TaskId::new(2), TaskId::new(12)]), "After TASK-002, TASK-012");
    }
}
