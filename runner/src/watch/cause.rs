//! Says why an agent ended without an outcome: the state of its checkout, the last call that failed, and its last words.
//!
//! It must not change anything or judge the work.

use std::path::Path;

use domain::board::project::Project;
use domain::board::task::Task;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, short};
use domain::runs::failure::FailureClass;
use domain::runs::run::Run;

use crate::runs::checkout::{CheckoutError, checkout_head, with_repository};
use crate::watch::commit_failure::judge;
use crate::watch::output_state::{FailedCall, OutputState};

/// How many paths are named.
const PATHS_SHOWN: usize = 5;

/// The cause of a missing outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cause {
    /// The facts. An attempt that ends with the same facts as the one before failed exactly as that did.
    pub(super) facts: String,
    /// The facts and the agent's last words.
    pub(super) text: String,
    pub(super) failure: FailureClass,
}

/// The state of a coder's checkout.
#[derive(Debug, Default)]
struct CheckoutState {
    text: String,
    has_changes: bool,
    has_hooks: bool,
}

/// Looks at what a run without an outcome left behind.
pub(super) async fn find_cause(project: &Project, task: &Task, run: &Run, output: &OutputState) -> Cause {
    let checkout = if run.phase == AgentKind::Coder { Some(checkout_state(project, task).await) } else { None };
    describe(checkout, output.failed_commit(), output.failed_call(), output.last_words())
}

fn describe(
    checkout: Option<CheckoutState>,
    failed_commit: Option<&FailedCall>,
    failed_call: Option<&FailedCall>,
    last_words: Option<String>,
) -> Cause {
    let judged = checkout.as_ref().zip(failed_commit).and_then(|(checkout, call)| judge(&call.output, checkout.has_changes, checkout.has_hooks));
    // A submission that is refused because nothing was committed only follows from the failed commit.
    let call = failed_commit.filter(|_| judged.is_some()).or(failed_call);
    let call = call.map(|call| format!("{} failed: {}", call.title, call.output.trim_end_matches('.')));
    let facts: Vec<String> = checkout.map(|checkout| checkout.text).into_iter().chain(call).collect();
    let facts = facts.join(". ");
    Cause { text: with_last_words(&facts, last_words), facts, failure: judged.unwrap_or(FailureClass::NoOutcome) }
}

/// Adds what the agent said last, unless `error` contains it: programs print their failure as a text, too.
pub(super) fn with_last_words(error: &str, last_words: Option<String>) -> String {
    let words = last_words.filter(|words| !error.contains(words.as_str()));
    let words = words.map(|words| format!("Its last message: \u{201c}{words}\u{201d}"));
    let parts = Some(error.to_owned()).filter(|error| !error.is_empty()).into_iter().chain(words);
    parts.collect::<Vec<_>>().join(". ")
}

async fn checkout_state(project: &Project, task: &Task) -> CheckoutState {
    let only = |text: String| CheckoutState { text, ..CheckoutState::default() };
    let (Some(branch), Some(path)) = (&task.branch, &task.worktree_path) else { return only("It has no checkout".to_owned()) };
    if !Path::new(path).is_dir() {
        return only(format!("Its checkout {path} was removed"));
    }
    let evidence = evidence(project, branch, path).await;
    match evidence {
        Err(error) => only(error.to_string()),
        Ok((evidence, head, _)) if head.as_ref() != Some(&evidence.head) => {
            let head = head.map_or("nothing".to_owned(), |head| short(&head).to_owned());
            only(format!("Its checkout is at {head} and not at the tip of its branch {branch}"))
        }
        Ok((evidence, _, has_hooks)) => CheckoutState { text: summary(&evidence, branch), has_changes: !evidence.is_clean(), has_hooks },
    }
}

async fn evidence(project: &Project, branch: &str, path: &str) -> Result<(Evidence, Option<String>, bool), CheckoutError> {
    let (branch, path, base) = (branch.to_owned(), path.to_owned(), project.integration_branch.clone());
    with_repository(Path::new(&project.git_dir), move |repository| {
        let path = Path::new(&path);
        let has_hooks = !repository.commit_hooks(path)?.is_empty();
        Ok((repository.evidence(path, &branch, &base, &[])?, checkout_head(repository, path)?, has_hooks))
    })
    .await
}

fn summary(evidence: &Evidence, branch: &str) -> String {
    let committed = match evidence.ahead {
        0 => format!("Nothing is committed on {branch}"),
        _ if evidence.diff_empty => format!("The commits on {branch} change nothing"),
        1 => format!("One commit is on {branch}"),
        ahead => format!("{ahead} commits are on {branch}"),
    };
    if evidence.is_clean() {
        return committed;
    }
    let shown: Vec<&str> = evidence.dirty_paths.iter().take(PATHS_SHOWN).map(String::as_str).collect();
    let more = if evidence.dirty_count as usize > shown.len() { ", …" } else { "" };
    format!("{committed}; uncommitted: {}{more}", shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evidence(ahead: u32, diff_empty: bool, dirty: &[&str]) -> Evidence {
        let dirty_paths: Vec<String> = dirty.iter().map(|path| (*path).to_owned()).collect();
        Evidence {
            head: "a".repeat(40),
            base: "b".repeat(40),
            ahead,
            dirty_count: u32::try_from(dirty.len()).unwrap(),
            dirty_paths,
            diff_empty,
            patch_id: "c".repeat(40),
            changed_paths: Vec::new(),
            nested: Vec::new(),
            protected: None,
        }
    }

    #[test]
    fn checkout_is_summarized() {
        let say = |ahead, diff_empty, dirty: &[&str]| summary(&evidence(ahead, diff_empty, dirty), "vr/TASK-001/work");
        insta::assert_snapshot!(say(0, true, &[]), @"Nothing is committed on vr/TASK-001/work");
        insta::assert_snapshot!(say(0, true, &["a.rs"]), @"Nothing is committed on vr/TASK-001/work; uncommitted: a.rs");
        insta::assert_snapshot!(say(2, true, &[]), @"The commits on vr/TASK-001/work change nothing");
        insta::assert_snapshot!(say(1, false, &["1", "2", "3", "4", "5", "6"]), @"One commit is on vr/TASK-001/work; uncommitted: 1, 2, 3, 4, 5, …");
    }

    #[test]
    fn last_words_are_no_fact() {
        let call = FailedCall { title: "Bash `git commit`".to_owned(), output: "error: gpg failed to sign the data".to_owned() };
        let checkout = || CheckoutState { text: "Nothing is committed on b".to_owned(), has_changes: true, has_hooks: false };
        let cause = describe(Some(checkout()), None, Some(&call), Some("I cannot sign.".to_owned()));
        insta::assert_snapshot!(cause.facts, @"Nothing is committed on b. Bash `git commit` failed: error: gpg failed to sign the data");
        insta::assert_snapshot!(cause.text, @"Nothing is committed on b. Bash `git commit` failed: error: gpg failed to sign the data. Its last message: “I cannot sign.”");
        assert_eq!(describe(None, None, None, None), Cause { facts: String::new(), text: String::new(), failure: FailureClass::NoOutcome });
        assert_eq!(cause.failure, FailureClass::NoOutcome);
        let submission = FailedCall { title: "update_task_status".to_owned(), output: "it has no commits".to_owned() };
        let judged = describe(Some(checkout()), Some(&call), Some(&submission), None);
        assert_eq!((judged.failure, &judged.facts), (FailureClass::CommitSigning, &cause.facts), "the commit is the reason");
        assert_eq!(with_last_words("API Error: 400 bad", Some("API Error: 400".to_owned())), "API Error: 400 bad");
    }
}
