//! The context that agents have left: measured or reported, and what an old report blocks.

use std::time::Duration;

use domain::runs::agent_kind::AgentKind;
use domain::runs::usage::Usage;
use domain::team::agent::Registration;
use domain::team::role::Role;
use domain::time::Timestamp;
use domain::warroom::class::AgentClass;
use domain::warroom::context_left::{Condition, ContextReport};
use domain::warroom::transport::Transport;

use crate::testing::set_time;
use crate::tests::external_agents::{call, named};
use crate::tests::store::{Store, code, refusal};
use crate::{Caller, ReportedContext, now};

fn report(used: i64, limit: i64) -> ContextReport {
    ContextReport { context: "The parser".to_owned(), tokens_used: Some(used), tokens_limit: Some(limit) }
}

fn without_numbers() -> ContextReport {
    ContextReport { context: "The lexer".to_owned(), ..ContextReport::default() }
}

async fn left(store: &Store, name: &str) -> Option<(u64, Condition)> {
    store.db.agent(&store.project, name).await.unwrap().context_left.map(|left| (left.percent, left.condition))
}

#[tokio::test]
async fn report_is_stored_with_its_time_and_repeated_once() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let nothing = ReportedContext { transport: Some(Transport::Terminal), ..ReportedContext::default() };
    assert_eq!((left(&store, "mara").await, store.db.reported_context(&mara).await.unwrap()), (None, nothing));
    let seq = store.db.latest();
    let said = store.db.set_context(&call(&mara, "1"), &store.project, report(118_000, 200_000)).await.unwrap();
    assert_eq!((left(&store, "mara").await, said.context.as_deref()), (Some((41, Condition::Wounded)), Some("The parser")));
    assert_eq!(said.last_report().map(|last| last.class), Some(AgentClass::Coder));
    assert_eq!(store.kinds_since(seq).await, ["agent_context"]);
    store.db.set_context(&call(&mara, "1"), &store.project, report(118_000, 200_000)).await.unwrap();
    assert_eq!(store.kinds_since(seq).await.len(), 1, "a repeated call runs once");
    store.db.set_context(&mara, &store.project, without_numbers()).await.unwrap();
    assert_eq!(left(&store, "mara").await, Some((41, Condition::Wounded)), "omitted numbers stay");
    let reported = store.db.reported_context(&mara).await.unwrap();
    assert_eq!(reported.context_use.map(|left| left.percent_left()), Some(41));
    // An agent that returns has a new context.
    store.leaves(&mara, "mara").await;
    let back = store.db.register(&mara, &store.project, named("mara", &[]), None).await.unwrap().agent;
    assert_eq!((back.context_left, back.context, back.context_reported_at), (None, None, None));
    store.check_fold().await;
}

#[tokio::test]
async fn impossible_reports_write_nothing() {
    let store = Store::board().await;
    let mara = store.member("mara", &[]).await;
    let other = store
        .db
        .create_project(&Caller::owner(), domain::wire::NewProject { title: "Other".to_owned(), ..Default::default() }, crate::tests::store::probe())
        .await
        .unwrap()
        .id;
    store.db.set_context(&mara, &store.project, report(50_000, 200_000)).await.unwrap();
    let before = store.dump().await;
    for (used, limit) in [(-1, 200_000), (200_001, 200_000), (0, 0), (1, 0), (0, -5), (i64::MIN, i64::MAX), (i64::MAX, 1)] {
        let refused = refusal(store.db.set_context(&mara, &store.project, report(used, limit)).await);
        assert_eq!(refused.code(), "invalid", "{used} of {limit}");
        assert!(refused.hint().starts_with("Give "), "{}", refused.hint());
    }
    for bad in ["", " ", "a\0b", "two\nlines", &"x".repeat(1 << 20)] {
        let said = ContextReport { context: bad.to_owned(), ..report(1, 2) };
        assert_eq!(code(store.db.set_context(&mara, &store.project, said).await), "invalid");
    }
    assert_eq!(code(store.db.set_context(&mara, &other, report(1, 2)).await), "not-found");
    for caller in [&Caller::owner(), &Caller::Runner, &store.invite()] {
        assert_eq!(code(store.db.set_context(caller, &store.project, report(1, 2)).await), "not-registered");
    }
    assert_eq!(store.dump().await, before);
    store.leaves(&mara, "mara").await;
    assert_eq!(code(store.db.set_context(&mara, &store.project, report(1, 2)).await), "not-registered");
}

#[tokio::test]
async fn managed_agent_is_measured_while_it_works() {
    let store = Store::board().await;
    let task = store.task("One").await;
    let coder = store.agent(&task, AgentKind::Coder).await;
    assert_eq!(left(&store, "coder-TASK-001").await, None, "nothing is known yet");
    for (used, percent, condition) in [(20_000, 90, Condition::Healthy), (160_000, 20, Condition::Critical), (210_000, 0, Condition::Critical)] {
        let usage = Usage { context_tokens: Some(used), context_limit: Some(200_000), ..Usage::default() };
        store.db.run_usage(&coder.run, usage).await.unwrap();
        assert_eq!(left(&store, "coder-TASK-001").await, Some((percent, condition)));
    }
    assert_eq!(code(store.db.set_context(&coder.caller, &store.project, report(1, 2)).await), "not-registered");
    assert_eq!(store.db.reported_context(&coder.caller).await.unwrap(), ReportedContext::default());
    store.finish(&coder).await;
    assert_eq!(left(&store, "coder-TASK-001").await, None, "the context ended with the run");
}

#[tokio::test]
async fn old_report_blocks_sending_until_the_next_one() {
    let store = Store::board().await;
    let start = now();
    let minutes = |minutes: u64| set_time(start.after(Duration::from_secs(minutes * 60)));
    set_time(start);
    store.member("mara", &[]).await;
    for (name, class, due) in
        [("ben", None, 5), ("bob", Some(AgentClass::Builder), 5), ("rita", Some(AgentClass::Recon), 5), ("olga", Some(AgentClass::Oracle), 30)]
    {
        set_time(start);
        let agent = store.member(name, &[]).await;
        store.db.register(&agent, &store.project, Registration { class, ..named(name, &[]) }, None).await.unwrap();
        store.db.set_context(&agent, &store.project, report(10, 100)).await.unwrap();
        minutes(due);
        store.send(&agent, "mara", "In time").await.unwrap();
        minutes(due + 1);
        let before = store.dump().await;
        let refused = refusal(store.send(&agent, "mara", "Too late").await);
        assert_eq!(refused.code(), "report-due");
        let said = refused.to_string();
        assert!(
            said.starts_with("BLOCKED: ") && said.contains(&format!("is {} minutes old", due + 1)) && said.ends_with(&format!("every {due}")),
            "{said}"
        );
        assert_eq!(refused.hint(), "Call set_context with tokens_used and tokens_limit, then send again.");
        assert_eq!(store.dump().await, before);
        store.db.set_context(&agent, &store.project, without_numbers()).await.unwrap();
        store.send(&agent, "mara", "Again in time").await.unwrap();
    }
    set_time(start);
    let lena = store.member("lena", &[Role::Lead]).await;
    store.db.set_context(&lena, &store.project, report(10, 100)).await.unwrap();
    minutes(15);
    store.inbox(&lena).await;
    store.send(&lena, "mara", "In time").await.unwrap();
    minutes(16);
    assert_eq!(code(store.send(&lena, "mara", "Too late").await), "report-due");
}

#[tokio::test]
async fn agents_that_never_reported_managed_agents_and_persons_are_not_blocked() {
    let store = Store::board().await;
    let start = now();
    set_time(start);
    store.member("mara", &[]).await;
    let (ben, task) = (store.member("ben", &[]).await, store.task("One").await);
    let coder = store.agent(&task, AgentKind::Coder).await;
    let usage = Usage { context_tokens: Some(1), context_limit: Some(2), ..Usage::default() };
    store.db.run_usage(&coder.run, usage).await.unwrap();
    set_time(Timestamp::from_milliseconds(start.milliseconds() + 3 * 3_600_000));
    for caller in [&ben, &coder.caller, &Caller::owner()] {
        store.send(caller, "mara", "Hello").await.unwrap();
    }
}
