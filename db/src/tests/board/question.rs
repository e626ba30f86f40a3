//! Questions: one at a time, answered once, closed when the card moves on.

use domain::board::attention::AttentionKind;
use domain::board::project::PlanApproval;
use domain::board::status::Status;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::EndClass;

use crate::Caller;
use crate::tests::store::{Store, code};

#[tokio::test]
async fn answered_question_becomes_a_comment_answer_first() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    assert!(!store.db.has_asked(&coder.run).await.unwrap());
    let options = vec!["red".to_owned(), "blue".to_owned()];
    let asked = store.db.ask_question(&coder.caller, "Which colour?\nFor the sky.", options.clone(), Some("blue".to_owned())).await.unwrap();
    assert_eq!((asked.options.as_slice(), asked.default.as_deref()), (options.as_slice(), Some("blue")));
    assert_eq!(store.db.open_question(&task).await.unwrap(), Some(asked));
    let attention = store.card(&task).await.attention.unwrap();
    assert_eq!((attention.kind, attention.detail.as_str()), (AttentionKind::NeedsInput, "Which colour?…"));
    store.end(&coder.run, EndClass::AwaitingAnswer, None).await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    assert!(store.card(&task).await.attention.is_some(), "starting again would only ask again");
    assert_eq!(code(store.db.answer(&Caller::owner(), &task, " ").await), "invalid");
    let answered = store.db.answer(&Caller::owner(), &task, "Green").await.unwrap();
    assert_eq!(answered.card.attention, None);
    assert_eq!(store.db.open_question(&task).await.unwrap(), None);
    assert!(store.db.has_asked(&coder.run).await.unwrap(), "answered or not");
    assert_eq!(store.db.comments(&task).await.unwrap()[0].content, "Green\n\n(answer to: Which colour?\nFor the sky.)");
    let kinds = store.kinds_since(seq).await;
    assert_eq!(kinds[..2], ["question_asked", "task_needs_you"]);
    assert_eq!(kinds[kinds.len() - 3..], ["question_answered", "comment_added", "task_settled"]);
    assert_eq!(code(store.db.answer(&Caller::owner(), &task, "Red").await), "no-question");
    store.agent(&task, AgentKind::Coder).await;
    store.check_fold().await;
}

#[tokio::test]
async fn long_question_is_shortened_in_the_answer() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.ask_question(&coder.caller, &format!("Why? {}", "x".repeat(65_000)), Vec::new(), None).await.unwrap();
    store.db.answer(&Caller::owner(), &task, &"y".repeat(60_000)).await.unwrap();
    let content = store.db.comments(&task).await.unwrap().remove(0).content;
    assert!(content.starts_with("yyy") && content.ends_with("x…)") && content.contains("\n\n(answer to: Why? x"), "{}", content.len());
}

#[tokio::test]
async fn permitted_agents_ask_one_question_at_a_time() {
    let (store, planner) = Store::plan(PlanApproval::Auto).await;
    let planning = store.agent(&planner, AgentKind::Planner).await;
    let reviewed = store.in_review("One").await;
    let reviewer = store.agent(&reviewed, AgentKind::Reviewer).await;
    let before = store.dump().await;
    let ask = async |caller: &Caller, options: usize| store.db.ask_question(caller, "Why?", vec!["a".to_owned(); options], None).await;
    assert_eq!(code(ask(&Caller::owner(), 0).await), "invalid");
    assert_eq!(code(ask(&reviewer.caller, 0).await), "not-your-role");
    assert_eq!(code(ask(&planning.caller, 9).await), "invalid");
    assert_eq!(store.dump().await, before);
    ask(&planning.caller, 8).await.unwrap();
    assert_eq!(code(ask(&planning.caller, 0).await), "invalid");
    assert_eq!(code(store.db.answer(&planning.caller, &planner, "I say so").await), "human-only");
}

#[tokio::test]
async fn moved_card_closes_its_question() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    store.db.ask_question(&coder.caller, "Which colour?", Vec::new(), None).await.unwrap();
    store.move_to(&Caller::owner(), &task, Status::Backlog).await.unwrap();
    assert_eq!(store.db.open_question(&task).await.unwrap(), None);
    assert_eq!(code(store.db.answer(&Caller::owner(), &task, "Green").await), "no-question");
    store.end(&coder.run, EndClass::Stopped, None).await;
    store.db.start_task(&Caller::owner(), &task).await.unwrap();
    let again = store.agent(&task, AgentKind::Coder).await;
    store.db.ask_question(&again.caller, "Which colour now?", Vec::new(), None).await.unwrap();
}
