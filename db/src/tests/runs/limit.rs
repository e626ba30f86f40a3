//! Limits: warned of once, an agent told to hand over, the question to the human, and raises.

use domain::board::attention::AttentionKind;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::{EndClass, FailureClass};
use domain::runs::hand_over::HandOverReason;
use domain::runs::limit::{LimitMeasure, LimitScope, LimitUse, Usd};
use domain::runs::usage::Usage;
use domain::wire::{NewProject, ProjectPatch};

use crate::tests::store::{Agent, MAX_ATTEMPTS, Store, code};
use crate::{Caller, LimitState, LimitSubject, RunEnd};

fn limit(scope: LimitScope) -> LimitUse {
    LimitUse { scope, measure: LimitMeasure::Cost, used: 10, limit: 10 }
}

async fn end_at(store: &Store, agent: &Agent, limit: Option<LimitUse>) {
    let failure = limit.map_or(FailureClass::MaxTurns, |limit| limit.failure());
    let end = RunEnd { failure: Some(failure), limit, turn_ended: true, ..RunEnd::new(EndClass::Limited, MAX_ATTEMPTS) };
    store.db.end_run(&agent.run, end).await.unwrap();
}

#[tokio::test]
async fn warning_is_one_event_until_the_limit_is_raised() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let subjects = [
        LimitSubject::Run { run: agent.run.clone(), task: task.clone() },
        LimitSubject::Task(task.clone()),
        LimitSubject::Project(store.project.clone()),
        LimitSubject::Day("2026-01-31".to_owned()),
    ];
    let seq = store.db.latest();
    for _ in 0..2 {
        for subject in &subjects {
            store.db.warn_of_limit(subject, limit(subject.scope())).await.unwrap();
        }
    }
    assert_eq!(store.kinds_since(seq).await, ["limit_near"; 4]);
    assert_eq!(store.card(&task).await.near_limit.map(|limit| limit.scope), Some(LimitScope::Task), "the last one");
    let seq = store.db.latest();
    store.db.raise_task_limit(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.card(&task).await.near_limit, None);
    store.db.warn_of_limit(&subjects[1], limit(LimitScope::Task)).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["limit_raised", "limit_near"]);
    store.check_fold().await;
}

#[tokio::test]
async fn warning_of_a_run_ends_with_it() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let subject = LimitSubject::Run { run: agent.run.clone(), task: task.clone() };
    store.db.warn_of_limit(&subject, limit(LimitScope::Run)).await.unwrap();
    assert!(store.card(&task).await.near_limit.is_some());
    store.finish(&agent).await;
    assert_eq!(store.card(&task).await.near_limit, None);
    assert_eq!(store.db.snapshot().await.unwrap().limits.len(), 0);
    store.check_fold().await;
}

#[tokio::test]
async fn run_at_its_limit_uses_no_attempt_and_continues_its_session() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    let seq = store.db.latest();
    store.db.request_hand_over(&agent.run, limit(LimitScope::Run)).await.unwrap();
    store.db.request_hand_over(&agent.run, limit(LimitScope::Day)).await.unwrap();
    assert_eq!(store.kinds_since(seq).await, ["run_hand_over_requested"], "it is asked once");
    assert_eq!(store.db.run(&agent.run).await.unwrap().hand_over, Some(HandOverReason::Limit { limit: limit(LimitScope::Run) }));
    end_at(&store, &agent, Some(limit(LimitScope::Run))).await;
    let attention = store.card(&task).await.attention.unwrap();
    assert_eq!((attention.kind, attention.limit), (AttentionKind::Budget, Some(LimitScope::Run)));
    let known = store.db.snapshot().await.unwrap().tasks.remove(0);
    assert_eq!((known.failures, known.retry_at), (0, None));
    let session = store.db.last_session(&task, AgentKind::Coder).await.unwrap();
    assert_eq!(session, Some(format!("session of {}", agent.run)));
    store.db.raise_task_limit(&Caller::owner(), &task).await.unwrap();
    assert_eq!(store.card(&task).await.attention, None);
    let next = store.reserve(&task, AgentKind::Coder, "base").await.unwrap();
    assert_eq!(next.run.attempt, 1);
    store.check_fold().await;
}

#[tokio::test]
async fn full_conversation_is_followed_by_a_new_one_and_the_fifth_by_a_question() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let full = LimitUse { scope: LimitScope::Run, measure: LimitMeasure::Context, used: 151_000, limit: 150_000 };
    for conversation in 1..=5 {
        assert_eq!(store.card(&task).await.attention, None, "before conversation {conversation}");
        assert_eq!(store.db.last_session(&task, AgentKind::Coder).await.unwrap(), None, "a full session is not resumed");
        let agent = store.agent(&task, AgentKind::Coder).await;
        end_at(&store, &agent, Some(full)).await;
        assert!(store.db.run(&agent.run).await.unwrap().session_id.is_some(), "it stays known");
    }
    let attention = store.card(&task).await.attention.unwrap();
    assert_eq!((attention.kind, attention.limit), (AttentionKind::Budget, Some(LimitScope::Run)));
    assert!(attention.detail.starts_with("5 conversations of its coder became full."), "{}", attention.detail);
    assert_eq!(store.db.snapshot().await.unwrap().tasks.remove(0).failures, 0);
    store.db.raise_task_limit(&Caller::owner(), &task).await.unwrap();
    let sixth = store.agent(&task, AgentKind::Coder).await;
    end_at(&store, &sixth, Some(full)).await;
    assert_eq!(store.card(&task).await.attention, None);
    store.check_fold().await;
}

#[tokio::test]
async fn limit_of_the_agent_program_is_asked_about_too() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    end_at(&store, &agent, None).await;
    let attention = store.card(&task).await.attention.unwrap();
    assert!(attention.detail.starts_with("Stopped at a limit of the agent program: the agent used all its requests."), "{}", attention.detail);
}

#[tokio::test]
async fn raised_budget_settles_every_question_about_it() {
    let store = Store::board().await;
    let (one, two, three) = (store.task("One").await, store.task("Two").await, store.task("Three").await);
    for (task, scope) in [(&one, LimitScope::Project), (&two, LimitScope::Task), (&three, LimitScope::Day)] {
        store.db.flag_limit(task, limit(scope)).await.unwrap();
        store.db.flag_limit(task, limit(LimitScope::Run)).await.unwrap();
    }
    let flagged = async || {
        let mut scopes = Vec::new();
        for task in [&one, &two, &three] {
            scopes.extend(store.card(task).await.attention.and_then(|attention| attention.limit));
        }
        scopes
    };
    assert_eq!(flagged().await, [LimitScope::Project, LimitScope::Task, LimitScope::Day], "the first question stays");
    store.db.raise_project_limit(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(flagged().await, [LimitScope::Task, LimitScope::Day]);
    store.db.settle_limit(&three).await.unwrap();
    store.db.settle_limit(&one).await.unwrap();
    assert_eq!(flagged().await, [LimitScope::Task]);
    store.db.flag_limit(&three, limit(LimitScope::Day)).await.unwrap();
    store.db.raise_task_limit(&Caller::owner(), &three).await.unwrap();
    assert_eq!(flagged().await, [LimitScope::Task]);
    store.db.raise_task_limit(&Caller::owner(), &two).await.unwrap();
    let states = store.db.snapshot().await.unwrap().limits;
    let raised = LimitState { raises: 1, warned: false };
    let expected = [
        ((LimitScope::Task, two.to_string()), raised),
        ((LimitScope::Project, store.project.to_string()), raised),
        ((LimitScope::Day, crate::now().day()), raised),
    ];
    assert_eq!(states, expected.into());
    assert_eq!(code(store.db.raise_project_limit(&Caller::Runner, &store.project).await), "human-only");
    store.check_fold().await;
}

#[tokio::test]
async fn budget_of_a_project_replaces_the_configured_one() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let agent = store.agent(&task, AgentKind::Coder).await;
    store.db.run_usage(&agent.run, Usage { cost_micro_usd: 8, ..Usage::default() }).await.unwrap();
    let mut limits = store.config.limits.clone();
    limits.project_cost_usd = Some(Usd::micro(7));
    let budget = async || store.db.usage(&store.project, &limits).await.unwrap().budget.unwrap().limit;
    assert_eq!(budget().await, 7);
    store.db.raise_project_limit(&Caller::owner(), &store.project).await.unwrap();
    assert_eq!(budget().await, 14);
    let edit = async |amount: i64| {
        let patch = ProjectPatch { budget_micro_usd: Some(amount), ..ProjectPatch::default() };
        store.db.edit_project(&Caller::owner(), &store.project, patch, None).await
    };
    assert_eq!(edit(20).await.unwrap().budget_micro_usd, Some(20));
    assert_eq!(budget().await, 20, "a new budget forgets the raises of the old one");
    assert_eq!(edit(0).await.unwrap().budget_micro_usd, None);
    assert_eq!(budget().await, 7);
    assert_eq!(code(edit(-1).await), "invalid");
    let snapshot = store.db.snapshot().await.unwrap();
    assert_eq!((snapshot.spent[&store.project].cost_micro_usd, snapshot.spent_today.cost_micro_usd), (8, 8));
    assert!(snapshot.worked[&agent.run] < std::time::Duration::from_secs(3600) && crate::uptime() > 0);
    let new = NewProject { title: "Other".to_owned(), budget_micro_usd: Some(5), ..NewProject::default() };
    let other = store.db.create_project(&Caller::owner(), new, crate::tests::store::probe()).await.unwrap();
    assert_eq!(other.budget_micro_usd, Some(5));
    store.check_fold().await;
}
