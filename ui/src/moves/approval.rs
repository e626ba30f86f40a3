//! The commits that a move to done approves. The prompt reads and shows them, and the move is bound to what it showed.
//!
//! Must not know whether the server accepts the approval.

use domain::board::task::TaskPatch;
use domain::id::TaskId;
use domain::runs::evidence::{Sha, short};
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::MouseEvent;

use crate::client::{Client, Failure};
use crate::components::inline_code::sentence;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// A task and its newest commit, if it has one.
type Shown = (TaskId, Option<Sha>);

/// The commits of the tasks of a prompt.
#[derive(Clone, Copy)]
pub(super) struct Commits(RwSignal<Option<Result<Vec<Shown>, Failure>>>);

impl Commits {
    /// Reads the commits.
    pub(super) fn of(tasks: Vec<TaskId>) -> Self {
        let (client, commits) = (Client::from_context(), Self(RwSignal::new(None)));
        spawn_local(async move {
            let mut shown = Ok(Vec::new());
            for task in tasks {
                match client.review(task.clone()).await {
                    Ok(view) => shown = shown.map(|shown: Vec<Shown>| shown.into_iter().chain([(task, view.head)]).collect()),
                    Err(failure) => {
                        shown = Err(failure);
                        break;
                    }
                }
            }
            let _prompt_closed = commits.0.try_set(Some(shown));
        });
        commits
    }

    /// Whether the person sees which commits they approve.
    pub(super) fn are_shown(self) -> bool {
        self.0.with(|shown| matches!(shown, Some(Ok(_))))
    }

    /// The move of a task that approves the shown commit.
    pub(super) fn bind(self, task: &TaskId, patch: TaskPatch) -> TaskPatch {
        self.0.with_untracked(|shown| match shown {
            Some(Ok(shown)) => bound(shown, task, patch),
            _ => patch,
        })
    }
}

/// Without a commit to approve, the task is closed without a merge, so that a commit of the next moment is not approved unseen.
fn bound(shown: &[Shown], task: &TaskId, patch: TaskPatch) -> TaskPatch {
    match shown.iter().find(|(known, _)| known == task) {
        Some((_, Some(sha))) if patch.merge != Some(false) => TaskPatch { sha: Some(sha.clone()), ..patch },
        Some((_, None)) => TaskPatch { merge: Some(false), ..patch },
        _ => patch,
    }
}

/// The commits in the prompt, each with a link to its review.
#[component]
pub(super) fn CommitList(
    commits: Commits,
    /// Closes the prompt, which would cover the review.
    close: Callback<()>,
) -> impl IntoView {
    let (store, navigation) = (Store::from_context(), Navigation::from_context());
    let line = move |(task, sha): Shown| {
        let commit = match sha {
            Some(sha) => view! { <span>"at " <code>{short(&sha).to_owned()}</code></span> }.into_any(),
            None => view! { <span class="soft">"has no commit and is closed without a merge"</span> }.into_any(),
        };
        let review = store.card_now(&task).map(|card| Route::Review { project: card.project_id, task: task.clone() });
        let link = review.map(|route| {
            let href = route.path();
            let follow = move |event: MouseEvent| {
                navigation.follow(&event, route.clone());
                if event.default_prevented() {
                    close.run(());
                }
            };
            view! { <a href=href on:click=follow>"Read the review"</a> }
        });
        view! { <li class="row"><span class="mono">{task.to_string()}</span> {commit} {link}</li> }
    };
    move || match commits.0.get() {
        None => view! { <p class="soft small-text" role="status">"Loading the newest commit…"</p> }.into_any(),
        Some(Err(failure)) => view! { <p class="notice" data-tone="bad" role="alert">{sentence(&failure.describe().0)}</p> }.into_any(),
        Some(Ok(shown)) => view! { <ul class="stack small-text" aria-label="Commits">{shown.into_iter().map(line).collect_view()}</ul> }.into_any(),
    }
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;

    use super::*;

    #[test]
    fn move_to_done_approves_only_the_commit_that_was_shown() {
        let shown = [(TaskId::new(1), Some("abc".to_owned())), (TaskId::new(2), None)];
        let patch = TaskPatch { status: Some(Status::Done), ..TaskPatch::default() };
        let bound = |number: u64, patch: &TaskPatch| bound(&shown, &TaskId::new(number), patch.clone());
        assert_eq!(bound(1, &patch), TaskPatch { sha: Some("abc".to_owned()), ..patch.clone() });
        assert_eq!(bound(2, &patch), TaskPatch { merge: Some(false), ..patch.clone() });
        let closed = TaskPatch { merge: Some(false), ..patch };
        assert_eq!(bound(1, &closed), closed, "nothing is approved");
    }
}
