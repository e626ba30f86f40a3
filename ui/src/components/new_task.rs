//! The dialog for a new task: added and held, or added and started.

use domain::id::{ProjectId, TaskId};
use domain::task::{NewTask, Phase};
use leptos::prelude::*;
use web_sys::SubmitEvent;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::task_form::{TaskDraft, TaskFields};
use crate::moves::Choice;

#[component]
pub(crate) fn NewTaskDialog(
    project: ProjectId,
    close: Callback<()>,
    /// The planning task, when the new one belongs to a plan that waits for approval. It then starts with the plan.
    #[prop(optional_no_strip)]
    plan: Option<TaskId>,
) -> impl IntoView {
    let client = Client::here();
    let draft = TaskDraft::new(String::new(), String::new(), Vec::new());
    let phase = RwSignal::new(Phase::Coder);
    let sending = RwSignal::new(false);
    let in_plan = plan.is_some();
    let ready = move || draft.is_ready() && !sending.get();
    let send = Callback::new(move |start: bool| {
        if !ready() {
            return;
        }
        let new = NewTask {
            title: draft.title.get_untracked(),
            description: Some(draft.description.get_untracked()).filter(|description| !description.trim().is_empty()),
            phase: Some(phase.get_untracked()),
            parent_task_id: plan.clone(),
            depends_on: draft.depends_on.get_untracked(),
            priority: None,
            model: None,
            start,
            assigned_to: None,
            role_hat: None,
            goal_id: None,
        };
        sending.set(true);
        client.watch(client.create_task(project.clone(), new), move |result| {
            let _closed_meanwhile = sending.try_set(false);
            if result.is_ok() {
                close.run(());
            }
        });
    });
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        send.run(!in_plan);
    };
    view! {
        <Dialog title=if in_plan { "Add a task to the plan" } else { "New task" } close=close>
            <form on:submit=submit autocomplete="off">
                <TaskFields draft=draft task=None />
                <Show when=move || !in_plan>
                    <div class="choices" role="radiogroup" aria-label="Who does it">
                        <Choice name="phase" title="A coder does it" detail="One agent, one branch, one review." value=Phase::Coder picked=phase />
                        <Choice name="phase" title="A planner breaks it up" detail="It creates the tasks for coders." value=Phase::Planner picked=phase />
                    </div>
                </Show>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Cancel"</button>
                    <Show when=move || !in_plan>
                        <button type="button" class="button" disabled=move || !ready() on:click=move |_| send.run(false)>"Add"</button>
                    </Show>
                    <button type="submit" class="button primary" disabled=move || !ready()>
                        {if in_plan { "Add to the plan" } else { "Add and start" }}
                    </button>
                </footer>
            </form>
        </Dialog>
    }
}
