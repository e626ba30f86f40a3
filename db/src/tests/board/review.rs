//! Reviews: a verdict covers one commit, comes from another session than the author's, and rounds are counted.

use domain::board::comment::AuthorRole;
use domain::board::review::{LineComment, SendBack, Side};
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::evidence::{Evidence, EvidenceResult};

use crate::Caller;
use crate::tests::store::{Store, clean, code, head, refusal};

#[tokio::test]
async fn reviewer_done_approves_the_reviewed_commit() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    let before = store.dump().await;
    let done = async |found: EvidenceResult| store.move_with(&reviewer.caller, &task, Status::Done, None, found).await;
    assert_eq!(code(done(EvidenceResult::Nothing).await), "nothing-to-approve");
    assert_eq!(refusal(done(head("newer")).await).to_string(), "TASK-001 is now at newer, but the review is of head");
    assert_eq!(store.dump().await, before);
    let card = done(head("head")).await.unwrap().card;
    assert_eq!((card.status, card.approved_sha.as_deref()), (Status::InReview, Some("head")));
    assert!(store.dump().await.iter().any(|row| row.starts_with("verdicts")), "the verdict is kept");
    store.check_fold().await;
}

#[tokio::test]
async fn author_session_cannot_review() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let wrote = store.db.run(&coder.run).await.unwrap().session_id.unwrap();
    store.finish(&coder).await;
    store.work(&task).await;
    assert_ne!(store.db.task(&task).await.unwrap().session_id.as_ref(), Some(&wrote), "a later attempt has another session");
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    store.db.run_session(&reviewer.run, &wrote).await.unwrap();
    assert_eq!(code(store.move_with(&reviewer.caller, &task, Status::Done, None, head("head")).await), "own-work");
    store.db.run_session(&reviewer.run, "a session of its own").await.unwrap();
    store.move_with(&reviewer.caller, &task, Status::Done, None, head("head")).await.unwrap();
}

#[tokio::test]
async fn newer_commit_revokes_the_approval() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    store.move_with(&Caller::owner(), &task, Status::InReview, None, head("head")).await.unwrap();
    let seq = store.db.latest();
    store.db.revoke_approval(&task, "another").await.unwrap();
    assert!(store.card(&task).await.is_approved());
    store.db.revoke_approval(&task, "head").await.unwrap();
    store.db.revoke_approval(&task, "head").await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["approval_voided"]);
    assert!(!store.card(&task).await.is_approved());
    let branch = store.project().await.integration_branch;
    assert_eq!(code(store.db.record_merge(&task, "head", &branch, "merge", "tree").await), "not-now");
    store.review_and_merge(&task).await;
    assert_eq!(store.status(&task).await, Status::Done);
}

#[tokio::test]
async fn rejection_needs_a_comment_of_this_review() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    let back = async |reason: Option<&str>| store.move_with(&reviewer.caller, &task, Status::InProgress, reason, EvidenceResult::Nothing).await;
    assert_eq!(code(back(None).await), "comment-needed");
    assert_eq!(code(back(Some("  ")).await), "comment-needed");
    store.db.add_comment(&reviewer.caller, &task, "a.rs:3 is wrong", Some(AuthorRole::Reviewer)).await.unwrap();
    assert_eq!(back(None).await.unwrap().review_rounds, 1);
    store.finish(&reviewer).await;
    store.work(&task).await;
    let second = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    assert_eq!(code(store.move_to(&second.caller, &task, Status::InProgress).await), "comment-needed");
    let task = store.move_with(&second.caller, &task, Status::InProgress, Some("Still wrong"), EvidenceResult::Nothing).await.unwrap();
    assert_eq!((task.review_rounds, task.card.comments), (2, 2));
    store.check_fold().await;
}

#[tokio::test]
async fn human_decision_resets_review_round_count() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let rounds = async || store.db.task(&task).await.unwrap().review_rounds;
    let again = async || {
        let tip = store.head(&task).await;
        store.move_with(&Caller::owner(), &task, Status::InReview, None, head(&tip)).await.unwrap();
        store.db.record_merge_failure(&task, &tip, "It conflicts in a.rs").await.unwrap();
        store.work(&task).await;
    };
    again().await;
    again().await;
    assert_eq!(rounds().await, 2);
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some("Try it so"), EvidenceResult::Nothing).await.unwrap();
    assert_eq!(rounds().await, 0);
    store.work(&task).await;
    again().await;
    assert_eq!(rounds().await, 1);
    store.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    assert_eq!(rounds().await, 0);
}

#[tokio::test]
async fn same_changes_and_findings_are_counted_until_a_person_decides() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let round = async |sha: &str, patch: &str, findings: &str| {
        let coder = store.agent(&task, AgentKind::Coder).await;
        store.db.record_checkout(&task, "vr/TASK-001/work", "worktrees/TASK-001").await.unwrap();
        let found = EvidenceResult::Evidence(Evidence { head: sha.to_owned(), patch_id: patch.to_owned(), ..clean() });
        store.move_with(&coder.caller, &task, Status::InReview, None, found).await.unwrap();
        store.finish(&coder).await;
        let reviewer = store.agent_at(&task, AgentKind::Reviewer, sha).await;
        store.db.add_comment(&reviewer.caller, &task, findings, Some(AuthorRole::Reviewer)).await.unwrap();
        store.move_with(&reviewer.caller, &task, Status::InProgress, None, EvidenceResult::Nothing).await.unwrap();
        store.finish(&reviewer).await;
        store.db.snapshot().await.unwrap().tasks[0].repeated_rounds
    };
    assert_eq!(round("1", "a", "The last line is missing").await, 1);
    assert_eq!(round("2", "b", "The last line is wrong now").await, 1);
    assert_eq!(round("3", "a", "The last line is missing, as before").await, 2);
    store.db.retry_task(&Caller::owner(), &task, Default::default()).await.unwrap();
    assert_eq!(store.db.snapshot().await.unwrap().tasks[0].repeated_rounds, 0);
    assert_eq!(round("4", "a", "The last line is missing").await, 3, "the earlier rounds stay known");

    let rounds = store.db.review_rounds(&task).await.unwrap();
    let last = &rounds[3];
    assert_eq!((last.number, last.sha.as_str(), last.patch_id.as_deref()), (4, "4", Some("a")));
    assert_eq!(last.by.to_string(), "reviewer-TASK-001");
    assert_eq!((rounds.len(), rounds[2].findings.as_str()), (4, "The last line is missing, as before"));
    store.check_fold().await;
}

#[tokio::test]
async fn round_of_another_commit_than_the_submitted_one_repeats_nothing() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "committed later").await;
    store.move_with(&reviewer.caller, &task, Status::InProgress, Some("Not so"), EvidenceResult::Nothing).await.unwrap();
    let round = store.db.review_rounds(&task).await.unwrap().remove(0);
    assert_eq!((round.patch_id, round.findings.as_str()), (None, "Not so"));
    assert_eq!(store.db.snapshot().await.unwrap().tasks[0].repeated_rounds, 0);
}

#[tokio::test]
async fn commit_that_was_sent_back_is_not_submitted_again() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let submit = async |caller: &Caller, sha: &str| {
        let found = EvidenceResult::Evidence(Evidence { head: sha.to_owned(), ..clean() });
        store.move_with(caller, &task, Status::InReview, None, found).await
    };
    let send_back = async |caller: &Caller| store.move_with(caller, &task, Status::InProgress, Some("Not so"), EvidenceResult::Nothing).await;
    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "head").await;
    send_back(&reviewer.caller).await.unwrap();
    store.finish(&reviewer).await;

    let coder = store.agent(&task, AgentKind::Coder).await;
    let refused = refusal(submit(&coder.caller, "head").await);
    assert_eq!((refused.code(), refused.to_string()), ("already-sent-back", "TASK-001 was already sent back at head".to_owned()));
    submit(&coder.caller, "newer").await.unwrap();
    store.finish(&coder).await;
    send_back(&Caller::owner()).await.unwrap();

    let coder = store.agent(&task, AgentKind::Coder).await;
    for sha in ["head", "newer"] {
        assert_eq!(code(submit(&coder.caller, sha).await), "already-sent-back", "a person's rejection counts too");
    }
    submit(&Caller::owner(), "newer").await.unwrap();
    store.finish(&coder).await;
    assert_eq!(store.status(&task).await, Status::InReview, "a person may override the review");

    let reviewer = store.agent_at(&task, AgentKind::Reviewer, "newer").await;
    store.move_with(&reviewer.caller, &task, Status::Done, None, head("newer")).await.unwrap();
    store.finish(&reviewer).await;
    store.db.record_merge_failure(&task, "newer", "It conflicts in a.rs").await.unwrap();
    let coder = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(code(submit(&coder.caller, "newer").await), "already-sent-back", "merging it again would conflict again");
    store.check_fold().await;
}

#[tokio::test]
async fn review_of_a_person_reaches_the_next_coder_and_the_next_review() {
    let store = Store::board().await;
    let task = store.in_review("One").await;
    let submitted = store.head(&task).await;
    assert_eq!(store.db.review_facts(&task).await.unwrap().verdict, None);
    let comments = vec![LineComment { path: "a.rs".to_owned(), line: 3, side: Side::New, since: None, sha: None, text: "Why?".to_owned() }];
    let review = SendBack { sha: submitted.clone(), words: Some("Nearly.".to_owned()), comments };
    let reason = review.markdown(&[Some("let x = 2;".to_owned())]);
    store.move_with(&Caller::owner(), &task, Status::InProgress, Some(&reason), EvidenceResult::Nothing).await.unwrap();
    let facts = store.db.review_facts(&task).await.unwrap();
    let told = &facts.comments.last().unwrap();
    assert_eq!((told.author_role, told.content.as_str()), (AuthorRole::Human, reason.as_str()));
    for part in ["Nearly.", "`a.rs:3`", "    let x = 2;", "Why?"] {
        assert!(told.content.contains(part), "{part}: {}", told.content);
    }
    let verdict = facts.verdict.unwrap();
    assert_eq!((verdict.approved, verdict.sha, verdict.by), (false, submitted.clone(), Caller::owner().actor()));
    assert_eq!((facts.rounds.len(), facts.rounds[0].sha.as_str(), facts.rounds[0].findings.as_str()), (1, submitted.as_str(), reason.as_str()));
    store.work(&task).await;
    store.move_with(&Caller::owner(), &task, Status::InReview, None, head("head")).await.unwrap();
    let verdict = store.db.review_facts(&task).await.unwrap().verdict.unwrap();
    assert_eq!((verdict.approved, verdict.sha.as_str()), (true, "head"));
    store.check_fold().await;
}
