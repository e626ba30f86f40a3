//! The decision about a review: approve the shown commit, or send it back with the comments.

use domain::board::review::{Decisions, LineComment};
use domain::runs::evidence::short;
use leptos::prelude::*;

use crate::client::{Client, Failure};
use crate::components::board::review::state::{Place, Review};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, has_text, non_empty};
use crate::components::icon::{DONE, Icon};
use crate::components::toast::Toasts;
use crate::draft::{discard, draft};
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::socket::Live;

#[component]
pub(crate) fn DecisionBar(
    decisions: Memo<Decisions>,
    /// The paths of the changed files.
    paths: Memo<Vec<String>>,
    /// Called when the server has another commit than the page.
    outdated: Callback<()>,
) -> impl IntoView {
    let (client, review, live, toasts) = (Client::from_context(), Review::from_context(), Live::from_context(), Toasts::from_context());
    let leave = Leave::new();
    let busy = RwSignal::new(false);
    let sending_back = RwSignal::new(false);
    let count = Memo::new(move |_| review.comments_to_send().len());
    let viewed = move || paths.with(|paths| paths.iter().filter(|path| review.is_viewed(path)).count());
    let progress = move || {
        let count = paths.with(Vec::len);
        (count > 0).then(|| format!("{} of {count} {} viewed", viewed(), if count == 1 { "file" } else { "files" }))
    };
    let approve = move |_| {
        busy.set(true);
        client.watch(client.approve(review.task(), None, Some(review.head.get_untracked())), move |result| {
            let _page_closed = busy.try_set(false);
            match result {
                Ok(task) => {
                    toasts.success(task.note.unwrap_or_else(|| "Approved.".to_owned()));
                    leave.go(review);
                }
                Err(Failure::Refused(problem)) if problem.status == 409 => outdated.run(()),
                Err(_) => {}
            }
        });
    };
    let can_send_back = move || decisions.with(|decisions| decisions.send_back);
    view! {
        <footer class="review-bar" aria-label="Decision">
            <span class="soft tabular viewed-count">{progress}</span>
            <span class="faint keys">
                <kbd>"j"</kbd>
                <kbd>"k"</kbd>
                " file "
                <kbd>"c"</kbd>
                " comment "
                <kbd>"v"</kbd>
                " viewed"
            </span>
            {move || decisions.with(|decisions| decisions.why_not.clone()).map(|why| view! { <span class="soft small-text" role="status">{why}</span> })}
            <span class="spacer"></span>
            <Show when=move || decisions.with(|decisions| decisions.approve)>
                <button type="button" class="button" class:primary=move || count.get() == 0 disabled=move || busy.get() || live.is_lost() || review.head.with(String::is_empty) on:click=approve>
                    <Icon drawing=DONE />
                    {move || format!("Approve {}", review.head.with(|head| short(head).to_owned()))}
                </button>
            </Show>
            <Show when=can_send_back>
                <button
                    type="button"
                    class="button"
                    class:primary=move || count.get() != 0
                    disabled=move || live.is_lost() || review.head.with(String::is_empty)
                    on:click=move |_| sending_back.set(true)
                >
                    {move || send_back_label(count.get())}
                </button>
            </Show>
        </footer>
        <Show when=move || sending_back.get()>
            <SendBackDialog close=Callback::new(move |()| sending_back.set(false)) outdated=outdated leave=leave />
        </Show>
    }
}

/// Where a decided review leads: to the task on its board.
#[derive(Clone, Copy)]
struct Leave {
    navigation: Navigation,
    project: ProjectData,
}

impl Leave {
    fn new() -> Self {
        Self { navigation: Navigation::from_context(), project: ProjectData::from_context() }
    }

    fn go(self, review: Review) {
        let task = review.task();
        review.remove_all();
        self.navigation.go(Route::Board { project: self.project.project(), task: Some(task) });
    }
}

fn send_back_label(count: usize) -> String {
    match count {
        0 => "Send back…".to_owned(),
        1 => "Send back with 1 comment".to_owned(),
        count => format!("Send back with {count} comments"),
    }
}

#[component]
fn SendBackDialog(close: Callback<()>, outdated: Callback<()>, leave: Leave) -> impl IntoView {
    let (client, review, toasts, sending) = (Client::from_context(), Review::from_context(), Toasts::from_context(), Sending::new());
    let comments = review.comments_to_send();
    let has_comments = !comments.is_empty();
    let key = StoredValue::new(format!("send-back/{}", review.task()));
    let words = draft(&key.get_value());
    let listed = comments.iter().map(listed).collect_view();
    let submit = move |()| {
        let request = client.send_back(review.task(), review.head.get_untracked(), non_empty(words), comments.clone());
        let request = async move {
            let result = request.await;
            if matches!(&result, Err(Failure::Refused(problem)) if problem.status == 409) {
                outdated.run(());
            }
            result
        };
        sending.run(request, move |_| {
            discard(&key.get_value());
            toasts.success("Sent back. The coder continues with your review.");
            close.run(());
            leave.go(review);
        });
    };
    let label = if has_comments { "General comment (optional)" } else { "What to change" };
    view! {
        <Dialog title=format!("Send {} back", review.task()) close=close>
            <Form verb="Send back" ready=Signal::derive(move || has_comments || has_text(words)) sending=sending submit=submit close=close>
                <TextArea id="send-back-words" label=label value=words autofocus=true />
                {has_comments.then(|| view! { <ul class="send-list" aria-label="Comments">{listed}</ul> })}
                <p class="soft small-text">"The coder receives each comment with its file, line and the text of that line."</p>
            </Form>
        </Dialog>
    }
}

fn listed(comment: &LineComment) -> impl IntoView + use<> {
    let commit = comment.sha.as_deref().map(|sha| format!(" at {}", short(sha))).unwrap_or_default();
    view! {
        <li>
            <span class="mono faint">{format!("{}{commit}", Place::of(comment).label())}</span>
            <span>{comment.text.clone()}</span>
        </li>
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn button_counts_the_comments() {
        assert_eq!([0, 1, 2].map(super::send_back_label), ["Send back…", "Send back with 1 comment", "Send back with 2 comments"]);
    }
}
