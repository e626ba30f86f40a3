//! The dialog that creates a task, either held or started at once.

use domain::board::task::NewTask;
use domain::id::{ProjectId, TaskId};
use domain::runs::agent_kind::AgentKind;
use domain::runs::publication::issue::IssueImport;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::board::task_form::{TaskDraft, TaskFields};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text, non_empty};
use crate::moves::Choice;

#[component]
pub(crate) fn NewTaskDialog(
    project: ProjectId,
    close: Callback<()>,
    /// The planning task of a plan that awaits approval. The new task joins that plan and starts with it.
    #[prop(optional_no_strip)]
    plan: Option<TaskId>,
    /// Receives the new task.
    #[prop(optional)]
    added: Option<Callback<TaskId>>,
) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let key = format!("task/{project}");
    let draft = TaskDraft::new(&key, String::new(), String::new(), Vec::new());
    let phase = RwSignal::new(AgentKind::Coder);
    let in_plan = plan.is_some();
    let issue = RwSignal::new(String::new());
    let send = Callback::new(move |start: bool| {
        if let Some(issue) = non_empty(issue) {
            let import = client.import_issue(project.clone(), IssueImport { issue, start });
            return sending.run(import, move |task| {
                close.run(());
                added.into_iter().for_each(|added| added.run(task.id.clone()));
            });
        }
        let new = NewTask {
            title: draft.title.get_untracked(),
            description: non_empty(draft.description),
            phase: Some(phase.get_untracked()),
            parent_task_id: plan.clone(),
            depends_on: draft.depends_on.get_untracked(),
            start,
            ..NewTask::default()
        };
        let key = key.clone();
        sending.run(client.create_task(project.clone(), new), move |task| {
            TaskDraft::discard(&key);
            close.run(());
            added.into_iter().for_each(|added| added.run(task.id.clone()));
        });
    });
    let (title, verb) = if in_plan { ("Add a task to the plan", "Add to the plan") } else { ("New task", "Add") };
    // Not the default: Enter must not start an agent, which costs money.
    let start = (!in_plan).then(|| ("Add and start", Callback::new(move |()| send.run(true))));
    view! {
        <Dialog title=title close=close>
            <Form verb=verb secondary=start ready=Signal::derive(move || draft.is_ready() || has_text(issue)) sending=sending submit=move |()| send.run(false) close=close>
                <div hidden=move || has_text(issue)>
                    <TaskFields draft=draft task=None />
                </div>
                <Show when=move || !in_plan>
                    <TextField id="task-issue" label="Or an issue (optional)" value=issue max_length=500 placeholder="7, or its address" />
                    <Show when=move || has_text(issue)>
                        <p class="hint">"Title, text and labels come from the issue, marked as written by someone else. The pull request closes the issue."</p>
                    </Show>
                </Show>
                <Show when=move || !in_plan && !has_text(issue)>
                    <div class="choices" role="radiogroup" aria-label="Role">
                        <Choice name="phase" title="Coder" detail="One agent implements it on one branch, with one review." value=AgentKind::Coder picked=phase />
                        <Choice name="phase" title="Planner" detail="One agent breaks it into tasks for coders." value=AgentKind::Planner picked=phase />
                    </div>
                </Show>
            </Form>
        </Dialog>
    }
}
