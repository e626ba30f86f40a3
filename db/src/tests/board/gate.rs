//! Review gates: submission, verdict and verification, what they store and whom they notify.

use domain::board::stage::Stage;
use domain::board::status::{CancelReason, Status};
use domain::board::task::{Submission, TaskUpdate};
use domain::runs::evidence::EvidenceResult;
use domain::team::role::Role;
use domain::text::BODY_BYTES;

use crate::Caller;
use crate::tests::external_agents::{assigned, completed, crew, leave_result, messages_to, stage, submission, submit, update};
use crate::tests::store::{Store, code, head, refusal};

#[tokio::test]
async fn work_passes_every_gate_and_notifies_participants() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "A page", "ben").await;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let first = Submission { files_changed: Some("a.rs, b.rs".to_owned()), test_results: Some("12 passed".to_owned()), ..submission("It is there") };
    leave_result(&store, &task, &crew.ben).await;
    let submitted = store.db.submit_for_review(&crew.ben, &task, first).await.unwrap();
    insta::assert_snapshot!(submitted.result.unwrap(), @r#"{"summary":"It is there","files":"a.rs, b.rs","test_results":"12 passed"}"#);
    store.db.reject_task(&crew.lena, &task, "The title is missing").await.unwrap();
    store.db.submit_for_review(&crew.ben, &task, submission("With a title")).await.unwrap();
    let approved = store.db.approve_task(&crew.lena, &task, Some("Well done"), EvidenceResult::Nothing).await.unwrap();
    assert_eq!((approved.card.status, approved.card.contributors.approved_by.as_deref()), (Status::Done, Some("lena")));
    assert!(approved.completed_at.is_some());
    store.db.verify_task(&crew.tess, &task, Some("I clicked on it")).await.unwrap();
    let back = store.db.reject_verification(&crew.tess, &task, "It fell over").await.unwrap();
    assert_eq!((back.card.status, back.card.contributors.verified_by, back.completed_at, back.verified_at), (Status::InProgress, None, None, None));
    insta::assert_snapshot!(messages_to(&store, "ben").await.join("\n"), @r"
    human: [ASSIGNED] TASK-001: A page
    lena: [REWORK] TASK-001: A page
    lena: [APPROVED] TASK-001: A page
    tess: [VERIFIED] TASK-001: A page
    tess: [REWORK] TASK-001: A page
    ");
    insta::assert_snapshot!(messages_to(&store, "lena").await.join("\n"), @r"
    human: [ASSIGNED] TASK-001: A page (copy)
    ben: [STARTED] TASK-001: A page
    ben: [REVIEW] TASK-001: A page
    ben: [REVIEW] TASK-001: A page
    ");
    let thread: Vec<String> = store.db.comments(&task).await.unwrap().into_iter().map(|comment| comment.content).collect();
    assert_eq!(thread, ["The title is missing", "Well done", "I clicked on it", "It fell over"]);
    let review: String = sqlx::query_scalar("SELECT content FROM messages WHERE content LIKE '[REVIEW]%' ORDER BY id LIMIT 1")
        .fetch_one(&store.db.readers)
        .await
        .unwrap();
    assert_eq!(review, "[REVIEW] TASK-001: A page\n\nSummary: It is there\nFiles: a.rs, b.rs\nTests: 12 passed");
    store.check_fold().await;
}

#[tokio::test]
async fn human_is_notified_of_reviews_without_external_lead() {
    let store = Store::board().await;
    let ben = store.member("ben", &[Role::Builder]).await;
    let task = assigned(&store, "One", "ben").await;
    submit(&store, &task, &ben).await;
    assert_eq!(messages_to(&store, "human").await, ["ben: [REVIEW] TASK-001: One"]);
    // Unread messages do not block a submission: ben has not read his assignment.
    assert_eq!(store.db.unread(&store.project, "ben").await.unwrap().count, 1);
    store.db.reject_task(&Caller::owner(), &task, "Not yet").await.unwrap();
    stage(&store, &ben, &task, Stage::Failed).await.unwrap();
    assert_eq!(messages_to(&store, "human").await[1..], ["ben: [CANCELLED] TASK-001: One"]);
}

#[tokio::test]
async fn branch_task_is_approved_at_its_tip_and_merged_by_runner() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.in_review("One").await;
    store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), None).await.unwrap();
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "nothing-to-approve");
    let card = store.db.approve_task(&crew.lena, &task, None, head("head")).await.unwrap().card;
    assert_eq!((card.status, Stage::of(&card), card.contributors.approved_by.as_deref()), (Status::InReview, Stage::Approved, Some("lena")));
    store.merge(&task).await;
    let card = store.card(&task).await;
    assert_eq!((card.status, card.contributors.approved_by.as_deref()), (Status::Done, Some("lena")));
    assert_eq!(messages_to(&store, "ben").await[1..], ["lena: [APPROVED] TASK-001: One", "runner: [MERGED] TASK-001: One"]);
    assert_eq!(code(store.db.verify_task(&crew.ben, &task, None).await), "not-independent");
    store.db.verify_task(&crew.tess, &task, None).await.unwrap();
    assert!(store.card(&task).await.is_merged(), "a verified task remains merged");
    store.check_fold().await;
}

#[tokio::test]
async fn only_leads_reassign_failed_tasks() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let failed = TaskUpdate { stage: Some(Stage::Failed), result: Some("The service is gone".to_owned()), assigned_to: None };
    let failed = update(&store, &crew.ben, &task, failed).await.unwrap();
    assert_eq!((Stage::of(&failed.card), failed.card.cancel_reason), (Stage::Failed, Some(CancelReason::Failed)));
    assert_eq!(failed.result.as_deref(), Some("The service is gone"));
    let history = store.db.history(&store.project, &Default::default()).await.unwrap();
    assert_eq!(history.last().unwrap().content, "[CANCELLED] TASK-001: One\n\nThe service is gone");
    assert_eq!(code(stage(&store, &crew.ben, &task, Stage::Assigned).await), "lead-only");
    assert_eq!(code(stage(&store, &crew.ben, &task, Stage::InProgress).await), "illegal-stage");
    let again = stage(&store, &crew.lena, &task, Stage::Assigned).await.unwrap().card;
    assert_eq!((Stage::of(&again), again.contributors.assigned_to.as_deref(), again.held_by), (Stage::Assigned, Some("ben"), None));
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    stage(&store, &crew.ben, &task, Stage::Failed).await.unwrap();
    let to = TaskUpdate { stage: Some(Stage::Assigned), assigned_to: Some("tess".to_owned()), result: None };
    assert_eq!(update(&store, &Caller::owner(), &task, to).await.unwrap().card.contributors.assigned_to.as_deref(), Some("tess"));
    assert_eq!(store.card(&task).await.contributors.built_by, ["ben"]);
    store.cancel(&task, "obsolete").await;
    assert_eq!(code(stage(&store, &crew.lena, &task, Stage::Assigned).await), "illegal-stage");
    store.check_fold().await;
}

#[tokio::test]
async fn refusals_name_the_next_step() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    let refused = refusal(stage(&store, &crew.ben, &task, Stage::Review).await);
    assert_eq!(refused.to_string(), "ben may not change TASK-001 from assigned to review");
    assert_eq!(refused.hint(), "You can change it to in_progress.");
    let refused = refusal(stage(&store, &crew.tess, &task, Stage::InProgress).await);
    assert_eq!(refused.to_string(), "making it in_progress requires the assignee, and TASK-001 is assigned to ben");
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    assert_eq!(refusal(stage(&store, &crew.ben, &task, Stage::Completed).await).hint(), "You can change it to review or failed.");
    let before = store.dump().await;
    assert_eq!(code(update(&store, &crew.ben, &task, TaskUpdate::default()).await), "invalid");
    assert_eq!(code(store.db.submit_for_review(&crew.tess, &task, submission("Mine")).await), "not-assignee");
    assert_eq!(code(store.db.submit_for_review(&crew.lena, &task, submission("Mine")).await), "not-assignee");
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "illegal-stage");
    assert_eq!(code(store.db.reject_task(&crew.lena, &task, "No").await), "illegal-stage");
    assert_eq!(code(store.db.verify_task(&crew.tess, &task, None).await), "illegal-stage");
    assert_eq!(code(store.db.reject_verification(&crew.tess, &task, "No").await), "illegal-stage");
    let missing = "TASK-404".parse().unwrap();
    assert_eq!(code(stage(&store, &crew.lena, &missing, Stage::Assigned).await), "not-found");
    for text in [String::new(), "\0".to_owned(), "x".repeat(BODY_BYTES + 1)] {
        assert_eq!(code(store.db.submit_for_review(&crew.ben, &task, submission(&text)).await), "invalid");
    }
    let result = |text: &str| TaskUpdate { result: Some(text.to_owned()), ..TaskUpdate::default() };
    assert_eq!(code(update(&store, &crew.ben, &task, result("a\0")).await), "invalid");
    assert_eq!(code(update(&store, &crew.tess, &task, result("mine")).await), "not-assignee");
    assert_eq!(store.dump().await, before);
    store.db.submit_for_review(&crew.ben, &task, submission("Now")).await.unwrap();
    leave_result(&store, &task, &crew.ben).await;
    assert_eq!(code(store.db.submit_for_review(&crew.ben, &task, submission("Again")).await), "illegal-stage");
    assert_eq!(code(store.db.approve_task(&crew.tess, &task, None, EvidenceResult::Nothing).await), "lead-only");
    assert_eq!(code(store.db.reject_task(&crew.ben, &task, "Not so fast").await), "lead-only");
    assert_eq!(code(store.db.reject_task(&crew.lena, &task, " ").await), "invalid");
    assert_eq!(code(stage(&store, &crew.lena, &task, Stage::InProgress).await), "comment-needed");
    store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(code(store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await), "illegal-stage");
    assert_eq!(code(store.db.reject_verification(&crew.tess, &task, "").await), "invalid");
    assert_eq!(code(stage(&store, &crew.tess, &task, Stage::InProgress).await), "reason-needed");
}

#[tokio::test]
async fn verdict_does_not_overwrite_the_submission() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    let with = |stage, text: &str| TaskUpdate { stage, result: Some(text.to_owned()), assigned_to: None };
    update(&store, &crew.ben, &task, with(Some(Stage::InProgress), "Begun")).await.unwrap();
    let seq = store.db.latest();
    update(&store, &crew.ben, &task, with(None, "Half of it")).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["result_stored"]);
    update(&store, &crew.ben, &task, with(Some(Stage::Review), "All of it")).await.unwrap();
    let back = update(&store, &crew.lena, &task, with(Some(Stage::InProgress), "A test is missing")).await.unwrap();
    assert_eq!(back.result.as_deref(), Some("All of it"));
    assert_eq!(store.db.comments(&task).await.unwrap()[0].content, "A test is missing");
    assert_eq!(messages_to(&store, "ben").await[1..], ["lena: [REWORK] TASK-001: One"]);
}

#[tokio::test]
async fn untrusted_agent_can_only_act_as_assignee() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let rob = store.guest("rob").await;
    let task = assigned(&store, "One", "rob").await;
    submit(&store, &task, &rob).await;
    assert_eq!(code(store.db.approve_task(&rob, &task, None, EvidenceResult::Nothing).await), "unverified");
    assert_eq!(code(store.db.reject_task(&rob, &task, "I forgot something").await), "unverified");
    store.db.approve_task(&crew.lena, &task, None, EvidenceResult::Nothing).await.unwrap();
    assert_eq!(code(store.db.verify_task(&rob, &task, None).await), "unverified");
    let other = completed(&store, "Two", &crew).await;
    assert_eq!(code(store.db.verify_task(&rob, &other, None).await), "unverified");
    assert_eq!(code(store.db.assign_role_hat(&rob, &other, Role::Builder).await), "unverified");
}

#[tokio::test]
async fn repeated_call_has_its_effect_once() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = assigned(&store, "One", "ben").await;
    stage(&store, &crew.ben, &task, Stage::InProgress).await.unwrap();
    let named = crew.ben.clone().with_call_id(Some("7".to_owned()));
    let first = store.db.submit_for_review(&named, &task, submission("Done")).await.unwrap();
    let seq = store.db.latest();
    assert_eq!(store.db.submit_for_review(&named, &task, submission("Done")).await.unwrap(), first);
    assert_eq!(store.db.latest(), seq);
    assert_eq!(messages_to(&store, "lena").await.iter().filter(|line| line.contains("[REVIEW]")).count(), 1);
}

#[tokio::test]
async fn assignee_work_is_not_approved_by_merging_an_earlier_branch() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    for by_person in [false, true] {
        let task = store.in_review("One").await;
        store.move_with(&Caller::owner(), &task, Status::InProgress, Some("Differently"), EvidenceResult::Nothing).await.unwrap();
        store.db.assign_task(&crew.lena, &task, Some("ben".to_owned()), None).await.unwrap();
        store.db.submit_for_review(&crew.ben, &task, submission("In my own checkout")).await.unwrap();
        leave_result(&store, &task, &crew.ben).await;
        let queued = store.move_with(&Caller::owner(), &task, Status::InReview, None, head("head")).await;
        assert!(refusal(queued).hint().contains("unassign it"));
        let approver = if by_person { &Caller::owner() } else { &crew.lena };
        let card = store.db.approve_task(approver, &task, None, head("head")).await.unwrap().card;
        assert_eq!((card.status, card.is_merged(), card.approved_sha), (Status::Done, false, None));
        let note = store.db.comments(&task).await.unwrap().pop().unwrap().content;
        assert_eq!(note, format!("Closed without a merge: ben did not work on `vr/{task}/work`. Its unmerged commits are kept."));
        assert!(store.db.task(&task).await.unwrap().worktree_path.is_some(), "the runner needs it to rescue the work");
    }
    store.check_fold().await;
}

#[tokio::test]
async fn approved_task_cannot_be_assigned() {
    let store = Store::board().await;
    let crew = crew(&store).await;
    let task = store.in_review("One").await;
    store.db.approve_task(&crew.lena, &task, None, head("head")).await.unwrap();
    assert_eq!(code(store.db.assign_task(&Caller::owner(), &task, Some("ben".to_owned()), None).await), "not-now");
    store.merge(&task).await;
}
