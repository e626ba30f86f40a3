//! Checks: results are kept by tree, command and version of the profile, and no merge is recorded without them.

use std::path::PathBuf;
use std::time::Duration;

use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::id::TaskId;
use domain::runs::check::{CheckOutcome, CheckStage, CheckState, TaskChecks};
use domain::runs::profile::Profile;
use domain::runs::profile::checks::{CheckList, Checks};
use domain::wire::ProjectPatch;

use crate::runs::check::{row, write};
use crate::tests::engine::index::plan;
use crate::tests::store::{Store, code, head};
use crate::{Caller, NewCheckResult, Pruned, RetentionLimits};

const BRANCH: &str = "vibe-relay/PROJ-001";

impl Store {
    async fn set_checks(&self, quick: &[&str], full: &[&str]) {
        let list = |lines: &[&str]| CheckList { commands: lines.iter().map(|line| (*line).to_owned()).collect(), ..CheckList::default() };
        let profile = Profile { checks: Checks { quick: list(quick), full: list(full) }, ..Profile::default() };
        let patch = ProjectPatch { profile: Some(profile), ..ProjectPatch::default() };
        self.db.edit_project(&Caller::owner(), &self.project, patch, None).await.unwrap();
    }

    async fn result(&self, command: &str, outcome: CheckOutcome, tree: &str) -> NewCheckResult {
        NewCheckResult {
            tree: tree.to_owned(),
            profile_version: self.project().await.profile_version,
            command: command.to_owned(),
            outcome,
            attempts: 1,
            duration_ms: 12_000,
            tail: "ok".to_owned(),
            output: PathBuf::from("/data/checks/1/output"),
        }
    }

    async fn checked(&self, task: &TaskId, command: &str, outcome: CheckOutcome, tree: &str) {
        let result = self.result(command, outcome, tree).await;
        self.db.record_check_result(&self.project, Some(task), result).await.unwrap();
    }

    async fn approved(&self, title: &str) -> TaskId {
        let task = self.in_review(title).await;
        self.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap();
        task
    }
}

fn checks(stage: CheckStage, state: CheckState) -> TaskChecks {
    TaskChecks { stage, state, sha: "head".to_owned(), tree: "tree".to_owned(), profile_version: 2 }
}

#[tokio::test]
async fn merge_is_refused_until_every_check_passed_on_its_files() {
    let store = Store::board().await;
    store.set_checks(&["lint"], &["build", "test"]).await;
    let task = store.approved("One").await;
    assert!(store.card(&task).await.is_approved(), "checks do not block an approval");
    let merge = async || code(store.db.record_merge(&task, "head", BRANCH, "merge", "tree").await);
    let before = store.dump().await;
    assert_eq!(merge().await, "checks-not-passed");
    assert_eq!(store.dump().await, before);
    store.checked(&task, "build", CheckOutcome::Passed, "tree").await;
    store.checked(&task, "test", CheckOutcome::Passed, "another tree").await;
    assert_eq!(merge().await, "checks-not-passed", "other files passed");
    store.checked(&task, "test", CheckOutcome::Failed, "tree").await;
    assert_eq!(merge().await, "checks-not-passed", "it failed");
    assert!(!store.db.may_record_merge(&task, "head", "tree").await.unwrap());
    store.checked(&task, "test", CheckOutcome::Passed, "tree").await;
    assert!(store.db.may_record_merge(&task, "head", "tree").await.unwrap());
    assert!(!store.db.may_record_merge(&task, "other", "tree").await.unwrap());
    store.set_checks(&["lint"], &["build", "test"]).await;
    assert_eq!(merge().await, "checks-not-passed", "the profile was set again");
    for command in ["build", "test"] {
        store.checked(&task, command, CheckOutcome::Passed, "tree").await;
    }
    let done = store.db.record_merge(&task, "head", BRANCH, "merge", "tree").await.unwrap();
    assert_eq!(done.card.status, Status::Done);
    store.check_fold().await;
}

#[tokio::test]
async fn merges_are_recorded_together_once_the_files_of_the_last_passed() {
    let store = Store::board().await;
    store.set_checks(&[], &["test"]).await;
    let tasks = [store.approved("One").await, store.approved("Two").await, store.approved("Three").await];
    let merge = async |shas: [&str; 3]| {
        let merged = tasks.iter().cloned().zip(shas.map(str::to_owned)).collect();
        store.db.record_merges(merged, BRANCH, "third merge", "third tree").await
    };
    let before = store.dump().await;
    assert_eq!(code(merge(["head"; 3]).await), "checks-not-passed");
    assert_eq!(store.dump().await, before);
    for tree in ["first tree", "third tree"] {
        store.checked(&tasks[0], "test", CheckOutcome::Passed, tree).await;
    }
    let before = store.dump().await;
    assert_eq!(code(merge(["head", "other", "head"]).await), "not-now", "one is not approved at that commit");
    assert_eq!(store.dump().await, before, "so none is recorded");
    let seq = store.db.latest();
    merge(["head"; 3]).await.unwrap();
    let of_each = ["task_merged", "task_moved", "agent_left"];
    let expected: Vec<&str> = ["project_branch_moved"].into_iter().chain(of_each.repeat(3)).chain(["project_completed"]).collect();
    assert_eq!(store.kinds_since(seq).await, expected, "the branch moved once");
    for task in &tasks {
        assert_eq!(store.card(task).await.status, Status::Done);
    }
    assert_eq!(store.project().await.integration_head.as_deref(), Some("third merge"));
    let seq = store.db.latest();
    store.db.record_merges(Vec::new(), BRANCH, "third merge", "third tree").await.unwrap();
    assert_eq!(store.db.latest(), seq);
    store.check_fold().await;
}

#[tokio::test]
async fn branch_that_does_not_move_needs_no_check() {
    let store = Store::board().await;
    let (first, second) = (store.approved("One").await, store.approved("Two").await);
    store.db.record_merge(&first, "head", BRANCH, "merge", "tree").await.unwrap();
    store.set_checks(&[], &["test"]).await;
    assert_eq!(code(store.db.record_merge(&second, "head", BRANCH, "next", "tree").await), "checks-not-passed");
    store.db.record_merge(&second, "head", BRANCH, "merge", "tree").await.unwrap();
}

#[tokio::test]
async fn result_is_kept_once_for_a_tree_a_command_and_a_version() {
    let store = Store::board().await;
    store.set_checks(&["lint"], &[]).await;
    let task = store.in_review("One").await;
    store.checked(&task, "lint", CheckOutcome::Failed, "tree").await;
    store.checked(&task, "lint", CheckOutcome::Passed, "tree").await;
    let results = store.db.check_results(&store.project, &"tree".to_owned(), 2).await.unwrap();
    assert_eq!(results.iter().map(|result| (result.command.as_str(), result.outcome)).collect::<Vec<_>>(), [("lint", CheckOutcome::Passed)]);
    assert_eq!(store.db.check_output(results[0].id).await.unwrap(), PathBuf::from("/data/checks/1/output"));
    assert_eq!(code(store.db.check_output(99).await), "not-found");
    for (tree, version) in [("other", 2), ("tree", 1)] {
        assert_eq!(store.db.check_results(&store.project, &tree.to_owned(), version).await.unwrap(), []);
    }
    store.db.set_task_checks(&task, checks(CheckStage::Quick, CheckState::Passed)).await.unwrap();
    let stages = store.db.task_checks(&task).await.unwrap();
    assert_eq!((stages.len(), &stages[0].checks, &stages[0].results), (1, &checks(CheckStage::Quick, CheckState::Passed), &results));
    store.db.set_task_checks(&task, checks(CheckStage::Full, CheckState::Passed)).await.unwrap();
    assert_eq!(store.db.task_checks(&task).await.unwrap()[1].results, [], "the merge has the same files, and other commands");
}

#[tokio::test]
async fn card_shows_the_checks_of_its_last_submission_and_its_merge() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let shown = async || store.card(&task).await.checks.iter().map(|checks| (checks.stage, checks.state)).collect::<Vec<_>>();
    let seq = store.db.latest();
    for state in [CheckState::Running, CheckState::Passed, CheckState::Passed] {
        store.db.set_task_checks(&task, checks(CheckStage::Quick, state)).await.unwrap();
    }
    assert_eq!(store.kinds_since(seq).await, ["checks_changed", "checks_changed"]);
    store.db.set_task_checks(&task, checks(CheckStage::Full, CheckState::Running)).await.unwrap();
    store.db.set_task_checks(&task, checks(CheckStage::Full, CheckState::Failed)).await.unwrap();
    assert_eq!(shown().await, [(CheckStage::Quick, CheckState::Passed), (CheckStage::Full, CheckState::Failed)]);
    store.db.set_task_checks(&task, checks(CheckStage::Quick, CheckState::Running)).await.unwrap();
    assert_eq!(shown().await, [(CheckStage::Quick, CheckState::Running)], "a new submission begins again");
    store.check_fold().await;
}

#[tokio::test]
async fn failed_quick_checks_send_back_the_submitted_commit_and_count_as_a_round() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let submitted = store.db.submission_in_review(&task).await.unwrap().unwrap();
    assert_eq!(code(store.db.record_failed_checks(&task, "another", "`lint` failed").await), "not-now");
    let back = store.db.record_failed_checks(&task, &submitted, "`lint` failed").await.unwrap();
    assert_eq!((back.card.status, back.review_rounds), (Status::InProgress, 1));
    let comment = store.db.comments(&task).await.unwrap().pop().unwrap();
    assert_eq!((comment.author_role, comment.content.as_str()), (AuthorRole::Runner, "`lint` failed"));
    let rounds = store.db.review_rounds(&task).await.unwrap();
    assert_eq!((rounds.len(), &rounds[0].sha), (1, &submitted));
    assert_eq!(store.db.submission_in_review(&task).await.unwrap(), None);
    assert_eq!(code(store.db.record_failed_checks(&task, &submitted, "`lint` failed").await), "not-now");
    store.check_fold().await;
}

#[tokio::test]
async fn approved_work_is_not_sent_back_by_quick_checks() {
    let store = Store::board().await;
    let task = store.approved("One").await;
    assert_eq!(code(store.db.record_failed_checks(&task, "head", "`lint` failed").await), "not-now");
}

/// The cost of a look-up grows with the commands of one tree, and that of retention with what is removed.
#[tokio::test]
async fn results_are_found_and_removed_by_an_index() {
    let store = Store::board().await;
    let found = plan(&store, row::RESULTS).await;
    assert!(found.contains("(project_id=? AND tree=? AND profile_version=?)"), "{found}");
    let removed = plan(&store, write::REMOVE_OLD).await;
    assert!(removed.contains("check_results_by_age (ended_at<?)"), "{removed}");
}

#[tokio::test]
async fn old_results_are_removed() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    store.checked(&task, "lint", CheckOutcome::Passed, "tree").await;
    let limits = |keep| RetentionLimits { keep, max_events: u32::MAX };
    assert_eq!(store.db.prune(limits(Duration::from_secs(3600))).await.unwrap().check_results, 0);
    let pruned = store.db.prune(limits(Duration::ZERO)).await.unwrap();
    assert_eq!(Pruned { check_results: 1, events: pruned.events, ..Pruned::default() }, pruned);
}
