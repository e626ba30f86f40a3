//! The dialog that changes a project: its texts, its base branch, the folder of its repository, and who approves its work.

use domain::board::project::{Project, ReviewPolicy};
use domain::wire::{ProjectPatch, Relocation};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, has_text};

/// The typed text, unless it is what the project has.
fn changed(typed: &str, known: &str) -> Option<String> {
    let typed = typed.trim();
    (typed != known.trim()).then(|| typed.to_owned())
}

#[component]
pub(crate) fn EditProjectDialog(project: Project, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let title = RwSignal::new(project.title.clone());
    let goal = RwSignal::new(project.description.clone().unwrap_or_default());
    let folder = RwSignal::new(project.repo_path.clone());
    let branch = RwSignal::new(project.base_branch.clone());
    let review = RwSignal::new(project.review);
    let known = StoredValue::new(project);
    let ready = Signal::derive(move || has_text(title) && has_text(folder) && has_text(branch));
    let submit = move |()| {
        let project = known.get_value();
        let patch = ProjectPatch {
            title: changed(&title.get_untracked(), &project.title),
            description: changed(&goal.get_untracked(), project.description.as_deref().unwrap_or_default()),
            base_branch: changed(&branch.get_untracked(), &project.base_branch),
            review: Some(review.get_untracked()).filter(|review| *review != project.review),
            ..ProjectPatch::default()
        };
        let moved = changed(&folder.get_untracked(), &project.repo_path);
        let request = async move {
            // The base branch is read in the repository, which must be found first.
            if let Some(repo_path) = moved {
                client.relocate_project(project.id.clone(), Relocation { repo_path }).await?;
            }
            client.edit_project(project.id, patch).await
        };
        sending.run(request, move |_| close.run(()));
    };
    view! {
        <Dialog title="Edit the project" close=close>
            <Form verb="Save" ready=ready sending=sending submit=submit close=close>
                <TextField id="edit-title" label="Title" value=title max_length=500 autofocus=true />
                <TextArea id="edit-goal" label="Goal (optional)" value=goal />
                <TextField id="edit-branch" label="Base branch" value=branch max_length=250 mono=true />
                <ReviewField review=review />
                <TextField id="edit-folder" label="Repository" value=folder max_length=4000 mono=true />
                <p class="hint">"Name the new folder if you moved the repository. This changes it for every project on this repository."</p>
            </Form>
        </Dialog>
    }
}

/// The field for who approves work.
#[component]
fn ReviewField(review: RwSignal<ReviewPolicy>) -> impl IntoView {
    let options = ReviewPolicy::ALL.iter().map(|policy| {
        let label = match policy {
            ReviewPolicy::Agent => "An agent",
            ReviewPolicy::Human => "You",
            ReviewPolicy::Both => "An agent, then you",
        };
        view! { <option value=policy.as_str() selected=*policy == review.get_untracked()>{label}</option> }
    });
    view! {
        <div class="field">
            <label for="edit-review">"Review"</label>
            <select
                id="edit-review"
                class="input"
                on:change:target=move |event| {
                    if let Ok(chosen) = event.target().value().parse() {
                        review.set(chosen);
                    }
                }
            >
                {options.collect_view()}
            </select>
            <p class="hint">"Nothing is merged until they approve it."</p>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_changed_texts_are_sent() {
        assert_eq!(changed(" main ", "main"), None);
        assert_eq!(changed("trunk", "main").as_deref(), Some("trunk"));
        assert_eq!(changed("", "A goal").as_deref(), Some(""), "a goal can be removed");
    }
}
