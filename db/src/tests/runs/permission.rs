//! Permission requests: the card asks for each, the first answer counts, and an answer for the task covers the same again.

use domain::board::attention::{AttentionAction, AttentionKind};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::permission::{PermissionAnswer, ToolRule};

use crate::tests::store::{Agent, Store, code, refusal};
use crate::{Caller, NewPermission, PermissionDelivery};

fn new(key: &str, command: &str) -> NewPermission {
    let rule = ToolRule { tool: "Bash".to_owned(), command: Some(command.to_owned()) };
    NewPermission { key: key.to_owned(), tool: "Bash".to_owned(), input: command.to_owned(), rule: Some(rule) }
}

async fn board() -> (Store, domain::id::TaskId, Agent) {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    (store, task, agent)
}

async fn answer(store: &Store, agent: &Agent, request: i64, answer: PermissionAnswer) -> crate::Result<()> {
    store.db.answer_permission(&Caller::owner(), &agent.run, request, answer, None).await.map(drop)
}

#[tokio::test]
async fn request_needs_the_human_until_it_is_answered_and_taken() {
    let (store, task, agent) = board().await;
    let seq = store.db.latest();
    store.db.ask_permission(&agent.caller, new("a", "rm -rf target")).await.unwrap();
    store.db.ask_permission(&agent.caller, new("a", "rm -rf target")).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["permission_asked", "task_needs_you"], "once");
    let card = store.card(&task).await;
    let attention = card.attention.unwrap();
    assert_eq!((attention.kind, attention.action(card.status)), (AttentionKind::Permission, AttentionAction::Permit));
    assert_eq!(attention.detail, "Its coder asks to use Bash: rm -rf target");
    let open = store.db.open_permissions(&task).await.unwrap().remove(0);
    assert_eq!((open.tool.as_str(), open.input.as_str(), open.answer), ("Bash", "rm -rf target", None));
    assert_eq!(store.db.permission_answers(&agent.run).await.unwrap(), []);
    store.check_fold().await;

    let denied = store.db.answer_permission(&Caller::owner(), &agent.run, open.id, PermissionAnswer::Deny, Some("Keep it.")).await.unwrap();
    assert_eq!((denied.reason.as_deref(), denied.answered_by.as_deref()), (Some("Keep it."), Some("human")));
    assert_eq!((store.card(&task).await.attention, store.db.open_permissions(&task).await.unwrap()), (None, Vec::new()));
    let delivery =
        PermissionDelivery { key: "a".to_owned(), tool: "Bash".to_owned(), answer: PermissionAnswer::Deny, reason: Some("Keep it.".to_owned()) };
    assert_eq!(store.db.permission_answers(&agent.run).await.unwrap(), [delivery], "also for a server that starts now");
    store.db.close_permission(&agent.run, "a").await.unwrap();
    store.db.close_permission(&agent.run, "a").await.unwrap();
    assert_eq!(store.db.permission_answers(&agent.run).await.unwrap(), []);
    assert_eq!(store.kinds_since(seq).await[2..], ["permission_answered", "task_settled", "permission_closed"].map(str::to_owned));
    store.check_fold().await;
}

#[tokio::test]
async fn first_answer_counts() {
    let (store, _, agent) = board().await;
    store.db.ask_permission(&agent.caller, new("a", "make")).await.unwrap();
    assert_eq!(code(store.db.answer_permission(&agent.caller, &agent.run, 1, PermissionAnswer::Allow, None).await), "human-only");
    answer(&store, &agent, 1, PermissionAnswer::Deny).await.unwrap();
    let second = refusal(answer(&store, &agent, 1, PermissionAnswer::Allow).await);
    assert_eq!((second.code(), second.to_string().as_str()), ("permission-answered", "request 1 was already answered: deny"));
    assert_eq!(code(answer(&store, &agent, 2, PermissionAnswer::Allow).await), "not-found");
    assert_eq!(code(store.db.ask_permission(&Caller::owner(), new("b", "make")).await), "invalid");
}

#[tokio::test]
async fn answer_for_the_task_covers_the_same_in_later_runs_of_it_alone() {
    let (store, task, agent) = board().await;
    store.db.ask_permission(&agent.caller, new("a", "make")).await.unwrap();
    answer(&store, &agent, 1, PermissionAnswer::Always).await.unwrap();
    store.end(&agent.run, EndClass::Parked, None).await;
    let later = store.agent(&task, AgentKind::Coder).await;
    store.db.ask_permission(&later.caller, new("a", "make")).await.unwrap();
    assert_eq!(store.card(&task).await.attention, None);
    let answers = store.db.permission_answers(&later.run).await.unwrap();
    assert_eq!((answers.len(), answers[0].answer), (1, PermissionAnswer::Always));
    store.db.ask_permission(&later.caller, new("b", "make install")).await.unwrap();
    assert_eq!(store.db.open_permissions(&task).await.unwrap()[0].input, "make install", "it is not exactly the same");

    let other = store.task("Two").await;
    let other = store.agent(&other, AgentKind::Coder).await;
    store.db.ask_permission(&other.caller, new("a", "make")).await.unwrap();
    assert_eq!(store.db.permission_answers(&other.run).await.unwrap(), []);
}

#[tokio::test]
async fn request_without_a_rule_is_allowed_only_once() {
    let (store, _, agent) = board().await;
    store.db.ask_permission(&agent.caller, NewPermission { rule: None, ..new("a", "make") }).await.unwrap();
    assert_eq!(code(answer(&store, &agent, 1, PermissionAnswer::Always).await), "invalid");
    answer(&store, &agent, 1, PermissionAnswer::Allow).await.unwrap();
}

#[tokio::test]
async fn card_asks_for_one_request_after_the_other() {
    let (store, task, agent) = board().await;
    for (key, command) in [("a", "one"), ("b", "two")] {
        store.db.ask_permission(&agent.caller, new(key, command)).await.unwrap();
    }
    let asked = async || store.card(&task).await.attention.map(|attention| attention.detail);
    assert_eq!(asked().await.as_deref(), Some("Its coder asks to use Bash: one"));
    answer(&store, &agent, 2, PermissionAnswer::Allow).await.unwrap();
    assert_eq!(asked().await.as_deref(), Some("Its coder asks to use Bash: one"));
    answer(&store, &agent, 1, PermissionAnswer::Allow).await.unwrap();
    assert_eq!(asked().await, None);

    store.db.ask_question(&agent.caller, "Which colour?", Vec::new(), None).await.unwrap();
    store.db.ask_permission(&agent.caller, new("c", "three")).await.unwrap();
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::NeedsInput);
    store.db.answer(&Caller::owner(), &task, "Red").await.unwrap();
    assert_eq!(asked().await.as_deref(), Some("Its coder asks to use Bash: three"));
    store.check_fold().await;
}

#[tokio::test]
async fn request_ends_with_its_run() {
    let (store, task, agent) = board().await;
    store.db.ask_permission(&agent.caller, new("a", "make")).await.unwrap();
    store.db.stop_task(&Caller::owner(), &task).await.unwrap();
    assert_eq!(code(answer(&store, &agent, 1, PermissionAnswer::Allow).await), "permission-closed");
    store.end(&agent.run, EndClass::Stopped, None).await;
    assert_eq!((store.card(&task).await.attention, store.db.open_permissions(&task).await.unwrap()), (None, Vec::new()));
    assert_eq!(code(answer(&store, &agent, 1, PermissionAnswer::Allow).await), "permission-closed");
    store.check_fold().await;
}

#[tokio::test]
async fn limit_that_ends_a_waiting_run_asks_for_a_raise() {
    let (store, task, agent) = board().await;
    store.db.ask_permission(&agent.caller, new("a", "make")).await.unwrap();
    store.end(&agent.run, EndClass::Limited, Some(FailureClass::MaxTurns)).await;
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::Budget);
}

#[tokio::test]
async fn interrupt_replaces_the_request_on_the_card() {
    let (store, task, agent) = board().await;
    store.db.ask_permission(&agent.caller, new("a", "make")).await.unwrap();
    store.db.interrupt_run(&Caller::owner(), &agent.run, None).await.unwrap();
    store.db.close_permission(&agent.run, "a").await.unwrap();
    assert_eq!(store.card(&task).await.attention.unwrap().kind, AttentionKind::Interrupted);
}
