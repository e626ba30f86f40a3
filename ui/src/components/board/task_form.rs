//! The editable fields of a task: title, description and dependencies. Used for new tasks, for edits and in a plan.

use domain::id::TaskId;
use leptos::prelude::*;

use crate::components::board::task_picker::TaskPicker;
use crate::components::form::{TextArea, TextField, has_text};
use crate::draft::{discard, draft_from};

/// The fields while they are being edited.
#[derive(Clone, Copy)]
pub(crate) struct TaskDraft {
    pub(crate) title: RwSignal<String>,
    pub(crate) description: RwSignal<String>,
    pub(crate) depends_on: RwSignal<Vec<TaskId>>,
}

impl TaskDraft {
    /// The texts are drafts below `key`.
    pub(crate) fn new(key: &str, title: String, description: String, depends_on: Vec<TaskId>) -> Self {
        Self {
            title: draft_from(&format!("{key}/title"), title),
            description: draft_from(&format!("{key}/description"), description),
            depends_on: RwSignal::new(depends_on),
        }
    }

    /// Removes the drafts, after the task was saved.
    pub(crate) fn discard(key: &str) {
        ["title", "description"].iter().for_each(|field| discard(&format!("{key}/{field}")));
    }

    /// Whether the required fields are filled.
    pub(crate) fn is_ready(self) -> bool {
        has_text(self.title)
    }
}

/// `task` is the edited task, which cannot depend on itself.
#[component]
pub(crate) fn TaskFields(
    draft: TaskDraft,
    #[prop(optional_no_strip)] task: Option<TaskId>,
    /// Whether the fields are part of a page rather than of a dialog.
    #[prop(optional)]
    inline: bool,
) -> impl IntoView {
    view! {
        <TextField id="task-title" label="Title" value=draft.title max_length=500 autofocus=!inline />
        <TextArea
            id="task-description"
            label="Description"
            value=draft.description
            placeholder="What to do, and how to tell when it is done"
        />
        <TaskPicker id="task-dependencies" label="Depends on (optional)" chosen=draft.depends_on except=task />
    }
}
