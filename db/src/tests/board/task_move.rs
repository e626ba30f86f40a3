//! Moves of tasks: the whole transition table and each requirement.

use domain::board::attention::AttentionKind;
use domain::board::project::PlanApproval;
use domain::board::status::{CancelReason, HeldBy, Status};
use domain::board::transition::{Mover, rule};
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceRequest, EvidenceResult, HeadEvidence};
use domain::runs::protected_paths::ProtectedChange;

use crate::engine::tx::NoEventReason;
use crate::tests::store::{Store, clean, code, evidence, head, refusal};
use crate::{Caller, MoveRequest};

/// Forces a task into a status, with its run current again.
async fn force(store: &Store, task: &TaskId, phase: AgentKind, status: Status) {
    let task = task.clone();
    let work = store.db.write(move |tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            sqlx::query("UPDATE tasks SET phase = $2, status = $3, held_by = NULL, approved_sha = NULL, attention = NULL WHERE id = $1")
                .bind(task.as_str())
                .bind(phase.as_str())
                .bind(status.as_str())
                .execute(&mut tx.connection)
                .await?;
            sqlx::query("UPDATE agent_runs SET stop_requested_at = NULL").execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    work.await.unwrap();
}

#[tokio::test]
async fn store_allows_exactly_the_transition_table() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let Caller::Run(run) = store.agent(&task, AgentKind::Coder).await.caller else { panic!("an agent is a run") };
    let agents = AgentKind::ALL.iter().map(|phase| Caller::Run(crate::RunCaller { phase: *phase, ..run.clone() }));
    let callers: Vec<Caller> = [Caller::owner(), Caller::Runner].into_iter().chain(agents).collect();
    for phase in AgentKind::ALL {
        for from in Status::ALL {
            // A refused move leaves everything as the next one needs it.
            let mut unchanged = None;
            for caller in &callers {
                for to in Status::ALL {
                    let before = match unchanged.take() {
                        Some(before) => before,
                        None => {
                            force(&store, &task, *phase, *from).await;
                            store.dump().await
                        }
                    };
                    let mover = caller.mover().unwrap();
                    let approves = mover == Mover::Reviewer && *to == Status::Done;
                    let legal = rule(*phase, *from, if approves { Status::InReview } else { *to }, mover).is_some();
                    let done = store.move_to(caller, &task, *to).await;
                    let what = format!("{} moves a {phase} task {from} -> {to}: {done:?}", mover);
                    if done.is_err() {
                        assert_eq!(code(done) == "illegal-move", !legal, "{what}");
                        assert_eq!(store.dump().await, before, "{what}");
                        unchanged = Some(before);
                    } else {
                        assert!(legal, "{what}");
                    }
                }
            }
        }
    }
}

#[tokio::test]
async fn refused_move_lists_legal_moves() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let refused = refusal(store.move_to(&Caller::owner(), &task, Status::Done).await);
    assert_eq!(refused.to_string(), "you may not move TASK-001 from backlog to done");
    let allowed: Vec<Status> = refused.allowed().into_iter().map(|target| target.to).collect();
    assert_eq!(allowed, [Status::InProgress, Status::InProgress, Status::InProgress, Status::Cancelled, Status::Cancelled]);
    assert_eq!(code(store.move_to(&Caller::owner(), &"TASK-404".parse().unwrap(), Status::Done).await), "not-found");
}

#[tokio::test]
async fn review_needs_evidence() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let before = store.dump().await;
    let to_review = async |found: EvidenceResult| store.move_with(&coder.caller, &task, Status::InReview, None, found).await;
    let found = |evidence: Evidence| EvidenceResult::Evidence(evidence);
    let dirty = Evidence { dirty_count: 31, dirty_paths: vec!["a.rs".to_owned()], ..clean() };
    let empty = Evidence { diff_empty: true, ..clean() };
    let nothing = Evidence { ahead: 0, diff_empty: true, ..clean() };
    assert_eq!(code(to_review(EvidenceResult::Nothing).await), "no-commits");
    assert_eq!(code(to_review(head("head")).await), "no-commits");
    let refused = refusal(to_review(found(dirty.clone())).await);
    assert_eq!(refused.to_string(), "TASK-001 has 31 uncommitted files: a.rs");
    let nested = Evidence { nested: vec!["lib/inner".to_owned()], ..clean() };
    assert_eq!(code(to_review(found(nested)).await), "nested-repository");
    assert_eq!(code(to_review(found(nothing.clone())).await), "no-commits");
    assert_eq!(code(to_review(found(empty.clone())).await), "empty-diff");
    assert_eq!(store.dump().await, before);
    // A comment of another author does not justify this run's empty diff.
    store.db.add_comment(&Caller::owner(), &task, "Well?", None).await.unwrap();
    assert_eq!(code(to_review(found(empty.clone())).await), "empty-diff");
    store.db.add_comment(&coder.caller, &task, "Nothing had to change.", None).await.unwrap();
    assert_eq!(code(to_review(found(dirty)).await), "not-clean");
    to_review(found(nothing)).await.unwrap();
    assert_eq!(store.status(&task).await, Status::InReview);
    store.check_fold().await;
}

#[tokio::test]
async fn empty_diff_passes_with_a_comment_of_the_run() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let first = store.agent(&task, AgentKind::Coder).await;
    store.db.add_comment(&first.caller, &task, "I looked.", None).await.unwrap();
    store.finish(&first).await;
    let second = store.agent(&task, AgentKind::Coder).await;
    let empty = || EvidenceResult::Evidence(Evidence { diff_empty: true, ..clean() });
    assert_eq!(code(store.move_with(&second.caller, &task, Status::InReview, None, empty()).await), "empty-diff");
    store.db.add_comment(&second.caller, &task, "It is there already.", None).await.unwrap();
    store.move_with(&second.caller, &task, Status::InReview, None, empty()).await.unwrap();
}

#[tokio::test]
async fn agents_move_only_their_own_task() {
    let store = Store::board().await;
    let (own, other) = (store.task("Own").await, store.task("Other").await);
    let coder = store.agent(&own, AgentKind::Coder).await;
    assert_eq!(code(store.move_to(&coder.caller, &other, Status::InReview).await), "not-your-task");
    let elsewhere = domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() };
    let elsewhere = store.db.create_project(&Caller::owner(), elsewhere, crate::tests::store::probe()).await.unwrap().id;
    let hidden = store.db.create_task(&Caller::owner(), &elsewhere, crate::tests::store::new_task("Hidden")).await.unwrap().card.id;
    assert_eq!(code(store.move_to(&coder.caller, &hidden, Status::InReview).await), "not-found");
}

#[tokio::test]
async fn human_overrides_dependencies_and_holds_runner_does_not() {
    let store = Store::board().await;
    let first = store.task("One").await;
    let second = store.task_after("Two", &[&first]).await;
    assert_eq!(code(store.move_to(&Caller::Runner, &second, Status::InProgress).await), "dependencies-open");
    assert_eq!(code(store.reserve(&second, AgentKind::Coder, "base").await.map(|_| ())), "dependencies-open");
    store.db.stop_task(&Caller::owner(), &first).await.unwrap();
    assert_eq!(code(store.move_to(&Caller::Runner, &first, Status::InProgress).await), "not-now");
    let moved = store.move_to(&Caller::owner(), &second, Status::InProgress).await.unwrap();
    assert_eq!(moved.card.status, Status::InProgress);
    store.cancel(&first, "obsolete").await;
    let third = store.task_after("Three", &[&first]).await;
    store.move_to(&Caller::Runner, &third, Status::InProgress).await.unwrap();
}

#[tokio::test]
async fn cancellation_needs_a_listed_reason_and_can_be_undone() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    store.move_with(&Caller::owner(), &task, Status::InReview, None, head("head")).await.unwrap();
    assert!(store.card(&task).await.is_approved());
    assert_eq!(code(store.move_to(&Caller::owner(), &task, Status::Cancelled).await), "reason-needed");
    assert_eq!(code(store.move_with(&Caller::owner(), &task, Status::Cancelled, Some("tired"), EvidenceResult::Nothing).await), "invalid");
    store.cancel(&task, " abandoned\n").await;
    assert_eq!(store.card(&task).await.cancel_reason, Some(CancelReason::Abandoned));
    let back = store.move_to(&Caller::owner(), &task, Status::Backlog).await.unwrap().card;
    assert_eq!((back.held_by, back.cancel_reason), (Some(HeldBy::Human), None));
    assert_eq!(back.approved_sha, None, "cancelling revokes the approval");
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    store.work(&task).await;
    assert!(!store.card(&task).await.is_approved());
    store.check_fold().await;
}

#[tokio::test]
async fn human_done_approves_the_tip_or_closes() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let seq = store.db.latest();
    let card = store.move_with(&Caller::owner(), &task, Status::Done, None, head("head")).await.unwrap().card;
    assert_eq!((card.status, card.approved_sha.as_deref()), (Status::InReview, Some("head")));
    assert_eq!(store.kinds_since(seq).await, ["task_approved"]);
    store.merge(&task).await;
    assert_eq!(store.status(&task).await, Status::Done);

    let closed = store.in_review("Two").await;
    assert_eq!(code(store.move_to(&Caller::owner(), &closed, Status::Done).await), "nothing-to-approve");
    let request = MoveRequest { merge: false, ..MoveRequest::to(Status::Done) };
    let card = store.db.move_task(&Caller::owner(), &closed, request, head("head")).await.unwrap().card;
    assert_eq!((card.status, card.approved_sha), (Status::Done, None));

    let bare = store.task("No branch").await;
    store.move_to(&Caller::owner(), &bare, Status::InProgress).await.unwrap();
    assert_eq!(store.move_to(&Caller::owner(), &bare, Status::Done).await.unwrap().card.status, Status::Done);
    let again = store.move_with(&Caller::owner(), &bare, Status::InProgress, Some("Not yet"), EvidenceResult::Nothing).await.unwrap().card;
    assert_eq!((again.status, again.comments), (Status::InProgress, 1));
    assert_eq!(code(store.move_to(&Caller::owner(), &task, Status::InProgress).await), "reason-needed");
    store.check_fold().await;
}

#[tokio::test]
async fn runner_finishes_only_approved_tasks() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    assert_eq!(code(store.move_to(&Caller::Runner, &task, Status::Done).await), "not-now");
}

#[tokio::test]
async fn empty_plan_needs_a_reason_and_attention() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let agent = store.agent(&planner, AgentKind::Planner).await;
    assert_eq!(code(store.move_to(&agent.caller, &planner, Status::Done).await), "empty-plan");
    let done = store.move_with(&agent.caller, &planner, Status::Done, Some("It is all there"), EvidenceResult::Nothing).await.unwrap().card;
    let attention = done.attention.unwrap();
    assert_eq!((done.status, attention.kind), (Status::Done, AttentionKind::EmptyPlan));
    assert_eq!(attention.detail, "The planner created no tasks: It is all there");
    assert_eq!(store.db.comments(&planner).await.unwrap()[0].content, "It is all there");
    store.finish(&agent).await;
    let again = store.move_with(&Caller::owner(), &planner, Status::InProgress, Some("It is not"), EvidenceResult::Nothing).await.unwrap().card;
    assert_eq!(again.attention, None);
    let closed = store.move_with(&Caller::owner(), &planner, Status::Done, Some("Accepted"), EvidenceResult::Nothing).await.unwrap().card;
    assert_eq!(closed.attention, None, "the human closed it");
    store.check_fold().await;
}

#[tokio::test]
async fn required_evidence_depends_on_the_move() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let look = async |caller: &Caller, to| store.db.required_evidence(caller, &task, to).await.unwrap();
    assert_eq!(look(&coder.caller, Status::InReview).await, EvidenceRequest::Nothing, "the task has no branch yet");
    store.db.record_checkout(&task, "vr/TASK-001/work", "trees/1").await.unwrap();
    let (git_dir, branch) = ("/home/ann/site/.git".to_owned(), "vr/TASK-001/work".to_owned());
    let evidence_of = EvidenceRequest::Evidence {
        git_dir: git_dir.clone(),
        worktree: "trees/1".to_owned(),
        branch: branch.clone(),
        base: "vibe-relay/PROJ-001".to_owned(),
        protected: store.config.protected_paths.clone(),
    };
    let tip = EvidenceRequest::Head { git_dir, branch, base: "vibe-relay/PROJ-001".to_owned(), protected: store.config.protected_paths.clone() };
    assert_eq!(look(&coder.caller, Status::InReview).await, evidence_of);
    assert_eq!(look(&coder.caller, Status::Done).await, EvidenceRequest::Nothing, "an illegal move needs no evidence");
    assert_eq!(look(&Caller::owner(), Status::Done).await, tip);
    store.move_with(&coder.caller, &task, Status::InReview, None, evidence()).await.unwrap();
    store.finish(&coder).await;
    let reviewer = store.agent(&task, AgentKind::Reviewer).await;
    assert_eq!(look(&reviewer.caller, Status::Done).await, tip);
    assert_eq!(look(&reviewer.caller, Status::InProgress).await, EvidenceRequest::Nothing);
    assert_eq!(code(store.db.required_evidence(&Caller::owner(), &"TASK-404".parse().unwrap(), Status::Done).await), "not-found");
}

#[tokio::test]
async fn card_names_the_protected_paths_of_its_last_commit() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let change = |path: &str| ProtectedChange::find([path.to_owned()], &store.config.protected_paths);
    let (instructions, workflow) = (change("CLAUDE.md"), change(".github/workflows/ci.yml"));
    let submit = async |head: &str, protected: Option<ProtectedChange>| {
        let coder = store.agent(&task, AgentKind::Coder).await;
        store.db.record_checkout(&task, "vr/TASK-001/work", "trees/1").await.unwrap();
        let found = EvidenceResult::Evidence(Evidence { head: head.to_owned(), protected, ..clean() });
        store.move_with(&coder.caller, &task, Status::InReview, None, found).await.unwrap();
        store.finish(&coder).await;
    };
    submit("one", instructions.clone()).await;
    assert_eq!(store.card(&task).await.protected_paths, instructions);
    store.check_fold().await;
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("Leave CLAUDE.md alone"), EvidenceResult::Nothing).await.unwrap();
    submit("two", None).await;
    assert_eq!(store.card(&task).await.protected_paths, None, "a new commit counts for itself");

    // Someone committed once more before the reviewer started.
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "three").await;
    let found = EvidenceResult::Head(HeadEvidence { sha: "three".to_owned(), protected: workflow.clone() });
    store.move_with(&reviewer.caller, &task, Status::Done, None, found).await.unwrap();
    let approved = store.card(&task).await;
    assert_eq!((&approved.protected_paths, approved.lacks_approval_of_a_person()), (&workflow, true));
    let found = EvidenceResult::Head(HeadEvidence { sha: "three".to_owned(), protected: workflow.clone() });
    store.move_with(&Caller::owner(), &task, Status::Done, None, found).await.unwrap();
    let approved = store.card(&task).await;
    assert_eq!((&approved.protected_paths, approved.lacks_approval_of_a_person(), approved.is_approved()), (&workflow, false, true));
    store.check_fold().await;
}
