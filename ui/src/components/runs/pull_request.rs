//! The link to a pull request and what is known about it, for a project or a task. Must not know who opened it.

use domain::runs::publication::pull_request::{MAX_SENT_BACK, PullRequestState, PullRequestStatus};
use leptos::prelude::*;

/// Words for the state.
pub(crate) fn state_label(status: &PullRequestStatus) -> String {
    match (status.state, status.sent_back) {
        (PullRequestState::Open, 0) => "open".to_owned(),
        (PullRequestState::Open, sent_back) => format!("open, came back {sent_back} of {MAX_SENT_BACK} times"),
        (PullRequestState::Merged, _) => "merged".to_owned(),
        (PullRequestState::Closed, _) => "closed".to_owned(),
    }
}

/// A program printed the address, so only one of the web becomes a link.
#[component]
pub(crate) fn PullRequestLink(address: String) -> impl IntoView {
    address.starts_with("https://").then(|| {
        view! {
            <a href=address.clone() target="_blank" rel="noopener noreferrer" on:click=|event| event.stop_propagation()>
                {link_label(&address)}
            </a>
        }
    })
}

/// Names a pull request by the number at the end of its address.
fn link_label(address: &str) -> String {
    let number = address.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if number.parse::<u64>().is_ok() { format!("Pull request #{number}") } else { "Pull request".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_has_the_number_of_the_pull_request() {
        assert_eq!(link_label("https://github.com/ann/shop/pull/7"), "Pull request #7");
        assert_eq!(link_label("https://gitlab.com/ann/shop/-/merge_requests/12/"), "Pull request #12");
        assert_eq!(link_label("https://example.org/changes/a1"), "Pull request");
    }

    #[test]
    fn state_says_how_often_findings_came_back() {
        let label = |state, sent_back| state_label(&PullRequestStatus { state, sent_back, ..PullRequestStatus::default() });
        assert_eq!(label(PullRequestState::Open, 0), "open");
        assert_eq!(label(PullRequestState::Open, 1), "open, came back 1 of 2 times");
        assert_eq!(label(PullRequestState::Merged, 1), "merged");
    }
}
