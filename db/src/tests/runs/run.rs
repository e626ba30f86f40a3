//! Runs: reservation, progress, end, and which failures count as attempts.

use std::path::PathBuf;

use domain::board::attention::AttentionKind;
use domain::board::comment::AuthorRole;
use domain::board::status::Status;
use domain::board::task::retry::RetryOptions;
use domain::runs::agent_kind::AgentKind;
use domain::runs::backoff::backoff;
use domain::runs::checkout::{KeptNested, KeptWork};
use domain::runs::condition::RunCondition;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::sandbox::SandboxTier;
use domain::runs::usage::Usage;

use crate::tests::store::{MAX_ATTEMPTS, Store, code, head};
use crate::{Caller, NewRun, RunEnd, RunProcess, ShimProcess};

fn new_run(task: &domain::id::TaskId, port: Option<u16>) -> NewRun {
    NewRun {
        task: task.clone(),
        phase: AgentKind::Coder,
        status: Status::Backlog,
        sha: Some("base".to_owned()),
        worktree_path: Some("trees/1".to_owned()),
        runs_root: PathBuf::from("runs"),
        port,
        sandbox: SandboxTier::None,
    }
}

#[tokio::test]
async fn reserved_run_is_on_the_card_before_its_process() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    let reserved = store.db.reserve_run(new_run(&task, Some(4001))).await.unwrap();
    assert_eq!((reserved.run.attempt, reserved.run.port, reserved.run.sha.as_deref()), (1, Some(4001), Some("base")));
    assert!(reserved.run_dir.to_string_lossy().starts_with("runs/RUN-001-"), "{:?}", reserved.run_dir);
    assert_eq!(store.db.run_dir(&reserved.run.id).await.unwrap(), reserved.run_dir);
    assert_eq!(store.kinds_since(seq).await, ["task_moved", "agent_registered", "run_started"]);
    let card = store.card(&task).await;
    assert_eq!((card.status, card.run.map(|live| (live.id, live.stopping))), (Status::InProgress, Some((reserved.run.id.clone(), false))));
    assert_eq!(store.db.live_runs().await.unwrap(), std::slice::from_ref(&reserved.run));
    assert_eq!(store.db.run(&reserved.run.id).await.unwrap(), reserved.run);
    assert_eq!(code(store.db.run(&"RUN-404".parse().unwrap()).await), "not-found");
    assert_eq!(code(store.db.run_dir(&"RUN-404".parse().unwrap()).await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn double_or_misplaced_reservation_is_refused() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let live = store.db.reserve_run(new_run(&task, Some(4001))).await.unwrap().run;
    let other = store.task("Two").await;
    let before = store.dump().await;
    let refused = async |new: NewRun| code(store.db.reserve_run(new).await.map(|_| ()));
    assert_eq!(refused(NewRun { status: Status::InProgress, ..new_run(&task, None) }).await, "run-ending");
    assert_eq!(refused(new_run(&other, Some(4001))).await, "invalid");
    assert_eq!(refused(NewRun { status: Status::InProgress, ..new_run(&other, None) }).await, "not-now");
    assert_eq!(refused(NewRun { phase: AgentKind::Reviewer, ..new_run(&other, None) }).await, "not-now");
    assert_eq!(refused(new_run(&"TASK-404".parse().unwrap(), None)).await, "not-found");
    assert_eq!(store.dump().await, before);
    store.end(&live.id, EndClass::Finished, None).await;
    store.db.reserve_run(new_run(&other, Some(4001))).await.unwrap();
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(refused(NewRun { status: Status::InProgress, ..new_run(&task, None) }).await, "not-now");
    store.cancel(&task, "obsolete").await;
    assert_eq!(refused(NewRun { status: Status::Cancelled, ..new_run(&task, None) }).await, "not-now");
}

#[tokio::test]
async fn only_reviewers_run_in_review_until_approval() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    assert_eq!(code(store.reserve(&task, AgentKind::Coder, "head").await.map(|_| ())), "not-now");
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    store.finish(&reviewer).await;
    assert_eq!(
        store.db.runs(&task).await.unwrap().iter().map(|run| (run.phase, run.attempt)).collect::<Vec<_>>(),
        [(AgentKind::Coder, 1), (AgentKind::Reviewer, 1)]
    );
    store.move_with(&Caller::owner(), &task, Status::InReview, None, head("head")).await.unwrap();
    assert_eq!(code(store.reserve(&task, AgentKind::Reviewer, "head").await.map(|_| ())), "not-now");
    assert_eq!(code(store.db.runs(&"TASK-404".parse().unwrap()).await), "not-found");
}

#[tokio::test]
async fn session_is_kept_for_the_next_attempt_until_cleared() {
    let store = Store::board().await;
    let task = store.task("One").await;
    assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap(), None);
    let run = store.reserve(&task, AgentKind::Coder, "base").await.unwrap().run;
    let seq = store.db.latest();
    store.db.run_session(&run.id, "one").await.unwrap();
    store.db.run_session(&run.id, "one").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["run_session"]);
    assert_eq!(store.db.task(&task).await.unwrap().session_id.as_deref(), Some("one"));
    store.end(&run.id, EndClass::Failed, Some(FailureClass::Crashed)).await;
    store.work(&task).await;
    assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap().as_deref(), Some("session of RUN-002"));
    store.agent(&task, AgentKind::Reviewer).await;
    assert_eq!(store.db.task(&task).await.unwrap().session_id.as_deref(), Some("session of RUN-002"), "a reviewer's session is not the task's");
    let seq = store.db.latest();
    store.db.clear_sessions(&task, AgentKind::Coder).await.unwrap();
    store.db.clear_sessions(&task, AgentKind::Coder).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["run_session"]);
    assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap(), None);
    assert_eq!(store.db.task(&task).await.unwrap().session_id, None);
    assert!(store.db.last_session(&task, AgentKind::Reviewer).await.unwrap().is_some());
}

#[tokio::test]
async fn cost_is_an_event_and_samples_are_not() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    let usage = Usage { cost_micro_usd: 70, input_tokens: 5, output_tokens: 6, context_tokens: Some(7), context_limit: Some(8), turns: 1 };
    store.db.run_usage(&agent.run, usage).await.unwrap();
    store.db.run_usage(&agent.run, Usage { turns: 2, context_tokens: None, context_limit: None, ..usage }).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["run_usage"]);
    let run = store.db.run(&agent.run).await.unwrap();
    assert_eq!((run.turns, run.context_tokens, run.context_limit), (2, Some(7), Some(8)), "missing values keep the earlier ones");
    let end = RunEnd {
        exit_code: Some(0),
        usage: Some(Usage { cost_micro_usd: 90, ..usage }),
        turn_ended: true,
        ..RunEnd::new(EndClass::Finished, MAX_ATTEMPTS)
    };
    store.db.end_run(&agent.run, end).await.unwrap();
    let next = store.agent(&task, AgentKind::Coder).await;
    store.db.run_usage(&next.run, Usage { cost_micro_usd: 10, ..usage }).await.unwrap();
    let card = store.card(&task).await;
    assert_eq!((card.cost_micro_usd, card.runs), (100, 2));
    store.check_fold().await;
}

#[tokio::test]
async fn run_is_reminded_once() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    assert!(store.db.mark_reminded(&agent.run).await.unwrap());
    assert!(!store.db.mark_reminded(&agent.run).await.unwrap());
    assert_eq!(store.kinds_since(seq).await, ["run_nudged"]);
    store.finish(&agent).await;
    let over = store.agent(&task, AgentKind::Coder).await;
    store.finish(&over).await;
    assert!(!store.db.mark_reminded(&over.run).await.unwrap(), "the run has ended");
}

#[tokio::test]
async fn run_ends_once() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.end(&agent.run, EndClass::Failed, Some(FailureClass::Unresponsive)).await;
    let seq = store.db.latest();
    store.end(&agent.run, EndClass::Finished, None).await;
    assert_eq!(store.db.latest(), seq);
    let run = store.db.run(&agent.run).await.unwrap();
    assert_eq!((run.end_class, run.failure, run.exit_code), (Some(EndClass::Failed), Some(FailureClass::Unresponsive), Some(0)));
    assert!(!run.is_live() && store.db.live_runs().await.unwrap().is_empty());
    assert_eq!(store.card(&task).await.run, None);
    store.check_fold().await;
}

#[tokio::test]
async fn failures_back_off_and_then_need_attention() {
    for (failure, kind) in [
        (Some(FailureClass::NoOutcome), AttentionKind::NoOutcome),
        (Some(FailureClass::Checkout), AttentionKind::Repository),
        (Some(FailureClass::Lost), AttentionKind::Failed),
        (None, AttentionKind::Failed),
    ] {
        let store = Store::board().await;
        let task = store.task("One").await;
        for attempt in 1..=MAX_ATTEMPTS {
            let agent = store.agent(&task, AgentKind::Coder).await;
            let before = crate::now();
            store.end(&agent.run, EndClass::Failed, failure).await;
            let state = store.db.snapshot().await.unwrap().tasks.remove(0);
            assert_eq!((state.failures, state.last_failure), (attempt, failure.or(Some(FailureClass::Crashed))));
            if attempt < MAX_ATTEMPTS {
                assert_eq!(state.task.card.attention, None);
                let waits = backoff(attempt, agent.run.number());
                let retry_at = state.retry_at.unwrap();
                assert!(retry_at >= before.after(waits) && retry_at <= crate::now().after(waits), "{attempt}: {retry_at}");
            }
        }
        let card = store.card(&task).await;
        assert_eq!((card.attention.unwrap().kind, card.status), (kind, Status::InProgress));
        store.check_fold().await;
    }
}

/// Each attempt costs money, and the third would fail like the second.
#[tokio::test]
async fn attempt_that_failed_exactly_as_the_one_before_is_not_repeated() {
    for (causes, attempts) in [(["no key", "no key", "no key"], 2), (["no key", "a hook", "a hook"], 3)] {
        let store = Store::board().await;
        let task = store.task("One").await;
        for cause in causes.iter().take(attempts) {
            assert_eq!(store.card(&task).await.attention, None);
            let agent = store.agent(&task, AgentKind::Coder).await;
            let end = RunEnd {
                failure: Some(FailureClass::NoOutcome),
                error: Some(format!("{cause}, it said {}", agent.run)),
                cause: Some((*cause).to_owned()),
                turn_ended: true,
                ..RunEnd::new(EndClass::Failed, 4)
            };
            store.db.end_run(&agent.run, end).await.unwrap();
        }
        let detail = store.card(&task).await.attention.unwrap().detail;
        assert!(detail.starts_with(&format!("{attempts} attempts failed in the same way: the agent ended without moving its card")), "{detail}");
    }
}

#[tokio::test]
async fn environment_failures_use_no_attempt() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let stored = || sqlx::query_scalar::<_, i64>("SELECT failures FROM tasks WHERE id = $1").bind(task.as_str());
    let failures = async || stored().fetch_one(&store.db.readers).await.unwrap();
    for class in [EndClass::Parked, EndClass::Stopped, EndClass::AwaitingAnswer, EndClass::Finished] {
        let agent = store.agent(&task, AgentKind::Coder).await;
        store.end(&agent.run, class, Some(FailureClass::RateLimited)).await;
        assert_eq!(failures().await, 0, "{class}");
        assert_eq!(store.card(&task).await.attention, None);
    }
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.cancel(&task, "obsolete").await;
    store.end(&agent.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
    // A finished task is not scheduled, so its row is read.
    let failures: i64 =
        sqlx::query_scalar("SELECT failures FROM tasks WHERE id = $1").bind(task.as_str()).fetch_one(&store.db.readers).await.unwrap();
    assert_eq!(failures, 0, "the card is finished however its process ends");
}

/// A stop by the human takes precedence over the failure that was detected.
#[tokio::test]
async fn stopped_run_uses_no_attempt() {
    for class in [EndClass::Failed, EndClass::Parked, EndClass::Finished] {
        let store = Store::board().await;
        let task = store.task("One").await;
        let agent = store.agent(&task, AgentKind::Coder).await;
        store.db.stop_task(&Caller::owner(), &task).await.unwrap();
        store.end(&agent.run, class, Some(FailureClass::Crashed)).await;
        let run = store.db.run(&agent.run).await.unwrap();
        assert_eq!((run.end_class, run.failure, run.error), (Some(EndClass::Stopped), None, None), "{class}");
        let known = store.db.snapshot().await.unwrap().tasks.remove(0);
        assert_eq!((known.failures, known.task.card.attention), (0, None), "{class}");
        store.check_fold().await;
    }
}

#[tokio::test]
async fn move_resets_failures() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.end(&agent.run, EndClass::Failed, Some(FailureClass::Crashed)).await;
    store.work(&task).await;
    let state = store.db.snapshot().await.unwrap().tasks.remove(0);
    assert_eq!((state.failures, state.last_failure, state.retry_at), (0, None, None));
}

#[tokio::test]
async fn checkout_is_recorded_before_and_after_creation() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let seq = store.db.latest();
    store.db.checkout_removed(&task, KeptWork::default()).await.unwrap();
    store.db.record_checkout(&task, "vr/TASK-001/work", "trees/1").await.unwrap();
    store.db.record_checkout(&task, "vr/TASK-001/work", "trees/1").await.unwrap();
    let found = store.db.task(&task).await.unwrap();
    assert_eq!((found.branch.as_deref(), found.worktree_path.as_deref()), (Some("vr/TASK-001/work"), Some("trees/1")));
    let nested = KeptNested { path: "lib/inner".to_owned(), reference: "refs/nested".to_owned() };
    let kept = KeptWork { own: Some("refs/vibe-relay/rescue/TASK-001".to_owned()), nested: vec![nested] };
    store.db.checkout_removed(&task, kept).await.unwrap();
    assert_eq!(store.db.task(&task).await.unwrap().branch, None);
    assert_eq!(store.kinds_since(seq).await, ["checkout_made", "comment_added", "checkout_removed"]);
    let told = store.db.comments(&task).await.unwrap().remove(0).content;
    assert!(told.contains("git branch NAME refs/vibe-relay/rescue/TASK-001"), "{told}");
    assert!(told.contains("nested repository `lib/inner`") && told.contains("refs/nested"), "{told}");
    store.check_fold().await;
}

#[tokio::test]
async fn runs_of_the_same_id_in_two_databases_have_different_folders() {
    let mut folders = std::collections::BTreeSet::new();
    for _ in 0..8 {
        let store = Store::board().await;
        let task = store.task("One").await;
        let reserved = store.db.reserve_run(new_run(&task, None)).await.unwrap();
        assert_eq!(reserved.run.id.as_str(), "RUN-001");
        assert_eq!(store.db.run_dir(&reserved.run.id).await.unwrap(), reserved.run_dir);
        folders.insert(reserved.run_dir);
    }
    assert_eq!(folders.len(), 8, "{folders:?}");
}

#[tokio::test]
async fn process_of_a_run_is_recorded_in_two_steps() {
    let store = Store::board().await;
    let run = store.db.reserve_run(new_run(&store.task("One").await, None)).await.unwrap().run.id;
    assert_eq!(store.db.run_process(&run).await.unwrap(), None, "nothing was started");
    store.db.record_launch(&run, "RUN-001.x", Some("boot"), None).await.unwrap();
    let launched = RunProcess { marker: "RUN-001.x".to_owned(), boot_id: Some("boot".to_owned()), shim: None };
    assert_eq!(store.db.run_process(&run).await.unwrap(), Some(launched.clone()));
    let shim = ShimProcess { pid: 42, started: 99 };
    store.db.record_shim(&run, shim).await.unwrap();
    assert_eq!(store.db.run_process(&run).await.unwrap(), Some(RunProcess { shim: Some(shim), ..launched }));
    assert_eq!(code(store.db.run_process(&"RUN-404".parse().unwrap()).await), "not-found");
}

#[tokio::test]
async fn condition_of_a_run_is_recorded_when_it_changes() {
    let store = Store::board().await;
    let run = store.db.reserve_run(new_run(&store.task("One").await, None)).await.unwrap().run.id;
    let condition = async || store.db.run(&run).await.unwrap().condition;
    let unreachable = |detail: &str| Some(RunCondition::Unreachable { detail: detail.to_owned() });
    let (first, later) = (crate::now(), crate::now().after(std::time::Duration::from_secs(9)));
    let quiet = |since| Some(RunCondition::Quiet { since });
    let seq = store.db.latest();
    let changes = [unreachable("its folder was removed"), None, quiet(first), unreachable("its lock cannot be read"), None];
    for change in &changes {
        for _ in 0..2 {
            store.db.set_run_condition(&run, change.clone()).await.unwrap();
            assert_eq!(condition().await, *change);
        }
    }
    assert_eq!(store.kinds_since(seq).await, ["run_condition"; 5], "repeating it records no event");
    store.db.set_run_condition(&run, quiet(first)).await.unwrap();
    store.db.set_run_condition(&run, quiet(later)).await.unwrap();
    assert_eq!(condition().await, quiet(first), "it began earlier");
    store.end(&run, EndClass::Finished, None).await;
    assert_eq!(condition().await, None);
    store.db.set_run_condition(&run, unreachable("late")).await.unwrap();
    assert_eq!(condition().await, None);
    store.check_fold().await;
}

#[tokio::test]
async fn changes_of_control_files_are_told_while_the_run_lives() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.note_for_run(&agent.run, "config has changed").await.unwrap();
    store.finish(&agent).await;
    store.db.note_for_run(&agent.run, "told twice").await.unwrap();
    let told = store.db.comments(&task).await.unwrap();
    assert_eq!(
        told.iter().map(|comment| (comment.author_role, comment.content.as_str())).collect::<Vec<_>>(),
        [(AuthorRole::Runner, "config has changed")]
    );
    assert_eq!(code(store.db.note_for_run(&"RUN-009".parse().unwrap(), "x").await), "not-found");
    store.check_fold().await;
}

#[tokio::test]
async fn failed_setup_asks_the_person_and_uses_neither_an_attempt_nor_a_session() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let run = store.agent(&task, AgentKind::Coder).await.run;
    store.db.run_session(&run, "00000000-0000-0000-0000-000000000001").await.unwrap();
    let end = RunEnd {
        failure: Some(FailureClass::Setup),
        error: Some("`npm ci` ended with exit code 1".to_owned()),
        ..RunEnd::new(EndClass::NotSetUp, 3)
    };
    store.db.end_run(&run, end).await.unwrap();
    let attention = store.card(&task).await.attention.unwrap();
    assert_eq!(attention.kind, AttentionKind::Setup);
    insta::assert_snapshot!(attention.detail, @"No agent started: `npm ci` ended with exit code 1. No attempt was used. Read the end of the attempt's output, fix the setup commands in the settings of the project, then press Retry.");
    assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap(), None, "no session began");
    store.db.retry_task(&Caller::owner(), &task, RetryOptions::default()).await.unwrap();
    let next = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(store.db.run(&next.run).await.unwrap().attempt, 1);
    store.check_fold().await;
}
