//! The list of everything that needs the human, and the action that settles each item.

use domain::board::attention::{AttentionAction, AttentionKind};
use domain::board::needs_you::{Decision, NeedsYouItem};
use domain::board::project::PlanApproval;
use domain::board::task::retry::RetryOptions;
use domain::board::wait_reason::WaitReason;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::limit::{LimitMeasure, LimitScope, LimitUse};
use domain::runs::permission::{PermissionAnswer, ToolRule};
use domain::team::message::NewMessage;
use domain::team::person::{NewPerson, PersonRole};
use domain::wire::NewPersonToken;

use crate::tests::store::{Store, code, landing};
use crate::{Caller, NewPermission};

async fn items(store: &Store) -> Vec<NeedsYouItem> {
    store.db.needs_you(&Caller::owner()).await.unwrap().items
}

#[tokio::test]
async fn questions_permissions_and_failures_come_with_what_settles_them() {
    let store = Store::board().await;
    let (asks, permits, fails) = (store.task("Asks").await, store.task("Permits").await, store.task("Fails").await);
    let asking = store.agent(&asks, AgentKind::Coder).await;
    let question = store.db.ask_question(&asking.caller, "Red or blue?", vec!["red".to_owned()], Some("red".to_owned())).await.unwrap();
    let permitted = store.agent(&permits, AgentKind::Coder).await;
    let new = |key: &str, rule| NewPermission { key: key.to_owned(), tool: "Bash".to_owned(), input: "make".to_owned(), rule };
    let rule = ToolRule { tool: "Bash".to_owned(), command: Some("make".to_owned()) };
    store.db.ask_permission(&permitted.caller, new("a", Some(rule))).await.unwrap();
    store.db.ask_permission(&permitted.caller, new("b", None)).await.unwrap();
    store.db.request_attention(&fails, AttentionKind::Failed, "3 attempts failed").await.unwrap();

    let listed = items(&store).await;
    let tasks: Vec<&TaskId> = listed.iter().filter_map(|item| item.task_id.as_ref()).collect();
    assert_eq!(tasks, [&asks, &permits, &permits, &fails], "one item for each decision, the oldest first");
    assert!(listed.iter().all(|item| item.agent_waits && item.project_title.as_deref() == Some("Board")));
    assert_eq!((&listed[0].decision, listed[0].since), (&Decision::Question { question: question.clone() }, question.asked_at));
    let choices: Vec<usize> =
        listed.iter().filter_map(|item| if let Decision::Permission { choices, .. } = &item.decision { Some(choices.len()) } else { None }).collect();
    assert_eq!(choices, [3, 2], "what has no rule cannot be allowed for the task");
    let failed = Decision::Attention {
        attention: AttentionKind::Failed,
        detail: "3 attempts failed".to_owned(),
        action: AttentionAction::Retry,
        choices: Vec::new(),
        agent: None,
    };
    assert_eq!(listed[3].decision, failed);

    store.db.answer(&Caller::owner(), &asks, "red").await.unwrap();
    store.db.answer_permission(&Caller::owner(), &permitted.run, 1, PermissionAnswer::Allow, None).await.unwrap();
    store.db.retry_task(&Caller::owner(), &fails, RetryOptions::default()).await.unwrap();
    let left = items(&store).await;
    assert_eq!(left.iter().map(|item| item.task_id.clone().unwrap()).collect::<Vec<_>>(), [permits]);
}

#[tokio::test]
async fn plan_is_one_item_and_complete_work_waits_to_be_landed() {
    let (store, planner) = Store::plan(PlanApproval::Ask).await;
    let planned = store.planned(&planner, &["One", "Two"]).await;
    let listed = items(&store).await;
    assert_eq!((listed.len(), &listed[0].decision, listed[0].agent_waits), (1, &Decision::Plan { tasks: 2 }, false));
    store.db.approve_plan(&Caller::owner(), &store.project).await.unwrap();
    store.complete(&planned[0]).await;
    assert_eq!(items(&store).await, [], "it is not complete");
    store.cancel(&planned[1], "obsolete").await;
    let round = store
        .db
        .snapshot()
        .await
        .unwrap()
        .tasks
        .iter()
        .find(|task| task.task.card.phase == AgentKind::Orchestrator)
        .map(|task| task.task.card.id.clone());
    store.cancel(&round.unwrap(), "obsolete").await;
    let listed = items(&store).await;
    assert_eq!(listed.iter().map(|item| item.decision.clone()).collect::<Vec<_>>(), [Decision::Land { base_branch: "main".to_owned(), tasks: 1 }]);
    let tip = store.project().await.integration_head.unwrap();
    store.db.record_landing(&Caller::owner(), &store.project, landing(&tip, "after")).await.unwrap();
    assert_eq!(items(&store).await, []);
}

#[tokio::test]
async fn message_stays_unread_until_the_person_says_so() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let to_human = |content: &str| NewMessage {
        to: "human".to_owned(),
        content: content.to_owned(),
        cc: Vec::new(),
        task_id: Some(task.clone()),
        reply_to: None,
    };
    let sent = store.db.send(&agent.caller, &store.project, to_human("Who owns the app?")).await.unwrap().message;
    let said = |items: &[NeedsYouItem]| items.iter().filter(|item| matches!(item.decision, Decision::Message { .. })).count();
    store.db.history(&store.project, &crate::HistoryQuery::default()).await.unwrap();
    for _ in 0..2 {
        let listed = items(&store).await;
        let message = Decision::Message { message: sent.id, from: agent.caller.name().unwrap(), excerpt: "Who owns the app?".to_owned() };
        assert_eq!((&listed[0].decision, listed[0].task_title.as_deref()), (&message, Some("One")), "reading the list marks nothing as read");
    }
    store.db.set_owner("owner", "token").await.unwrap();
    let viewer = store.db.add_person(&Caller::owner(), NewPerson { name: "vera".to_owned(), role: Some(PersonRole::Viewer) }).await.unwrap();
    let token = store.db.create_person_token(&Caller::owner(), viewer.id, NewPersonToken::default()).await.unwrap();
    let viewer = store.db.caller(&token).await.unwrap().unwrap();
    assert_eq!(said(&store.db.needs_you(&viewer).await.unwrap().items), 0, "a viewer answers no messages");
    assert_eq!(code(store.db.mark_message_read(&viewer, sent.id).await), "person-role");
    assert_eq!(code(store.db.mark_message_read(&Caller::owner(), 99).await), "not-found");
    let seq = store.db.latest();
    store.db.mark_message_read(&Caller::owner(), sent.id).await.unwrap();
    store.db.mark_message_read(&Caller::owner(), sent.id).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["message_read"], "once");
    assert_eq!(items(&store).await, []);
}

#[tokio::test]
async fn used_up_budget_is_one_item_however_many_tasks_wait() {
    let store = Store::board().await;
    let limit = |scope| LimitUse { scope, measure: LimitMeasure::Cost, used: 9, limit: 8 };
    for (title, scope) in [("One", LimitScope::Project), ("Two", LimitScope::Project), ("Three", LimitScope::Day)] {
        let task = store.task(title).await;
        store.db.set_wait_reasons(vec![(task, Some(WaitReason::OverLimit { limit: limit(scope) }))]).await.unwrap();
    }
    let listed = items(&store).await;
    let scopes: Vec<(LimitScope, bool)> = listed
        .iter()
        .filter_map(|item| if let Decision::Budget { scope, .. } = item.decision { Some((scope, item.project_id.is_some())) } else { None })
        .collect();
    assert_eq!(
        (scopes.len(), scopes.contains(&(LimitScope::Project, true)), scopes.contains(&(LimitScope::Day, false))),
        (2, true, true),
        "{listed:?}"
    );
}
