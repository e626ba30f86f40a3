//! The fold over a run's events, event by event.

use domain::runs::run_event::{SessionStarted, TurnUsage};

use super::*;
use crate::backend::decode;

/// A turn starts while the board's tools are in the given state.
fn starts(status: &str) -> Vec<RunEvent> {
    let board = ToolServer { name: "vibe-relay".to_owned(), connected: status == "connected", status: status.to_owned() };
    vec![RunEvent::SessionStarted(SessionStarted { tool_servers: vec![board], ..SessionStarted::default() }), RunEvent::TurnStarted {}]
}

fn usage(cost_micro_usd: i64, requests: u64) -> TurnUsage {
    TurnUsage {
        scope: UsageScope::Turn,
        input: 1,
        output: 10,
        cache_read: 100,
        cache_write: 1000,
        thinking: None,
        requests,
        cost_micro_usd: Some(cost_micro_usd),
        models: BTreeMap::new(),
    }
}

fn ends(cost_micro_usd: i64, requests: u64) -> Vec<RunEvent> {
    let size = RunEvent::Context { used: None, size: Some(200_000) };
    vec![RunEvent::Usage(usage(cost_micro_usd, requests)), size, RunEvent::TurnEnded { reason: StopReason::EndTurn }]
}

fn context(used: u64) -> Vec<RunEvent> {
    vec![RunEvent::Context { used: Some(used), size: None }]
}

fn limit(state: RateLimitState, resets_at_unix: Option<i64>) -> Vec<RunEvent> {
    vec![RunEvent::RateLimit { state, resets_at_unix, window: None, utilization: None }]
}

fn accepts() -> Vec<RunEvent> {
    vec![RunEvent::MessageAccepted { id: None, text: String::new() }]
}

fn fails(class: ErrorClass) -> Vec<RunEvent> {
    vec![RunEvent::Failed(AgentError::new(class, None, "")), RunEvent::TurnEnded { reason: StopReason::Failed }]
}

fn fold(events: &[Vec<RunEvent>]) -> OutputState {
    let mut state = OutputState::default();
    events.iter().flatten().for_each(|event| state.apply(event));
    state
}

#[test]
fn silent_run_has_an_empty_state() {
    let state = fold(&[]);
    assert_eq!((state.turn_end(), state.error(), state.tool_servers(), state.limited_until()), (None, None, None, None));
    assert_eq!(state.usage(), Usage::default());
}

#[test]
fn usage_of_turns_is_added_and_the_last_context_counts() {
    let events = [starts("connected"), context(500), context(900), ends(250, 2), starts("connected"), context(1_200), ends(50, 1)];
    let sums =
        Usage { cost_micro_usd: 300, input_tokens: 2_202, output_tokens: 20, context_tokens: Some(1_200), context_limit: Some(200_000), turns: 3 };
    assert_eq!(fold(&events).usage(), sums);
}

#[test]
fn usage_of_calls_and_sessions_is_not_added() {
    let scoped = |scope| vec![RunEvent::Usage(TurnUsage { scope, ..usage(5, 1) })];
    assert_eq!(fold(&[scoped(UsageScope::Call), scoped(UsageScope::Session)]).usage(), Usage::default());
}

/// A run is judged by its last turn, even when that turn did not end.
#[test]
fn new_turn_clears_the_end_of_the_last_one() {
    let mut state = fold(&[starts("connected"), fails(ErrorClass::Overloaded)]);
    assert_eq!(state.turn_end(), Some(StopReason::Failed));
    assert_eq!(state.error().map(|error| error.class), Some(ErrorClass::Overloaded));
    starts("failed").iter().for_each(|event| state.apply(event));
    assert_eq!((state.turn_end(), state.error()), (None, None));
    assert_eq!(state.tool_servers().unwrap()[0].status, "failed");
}

#[test]
fn sign_in_error_explains_later_errors_of_its_turn() {
    let class = |events: &[Vec<RunEvent>]| fold(events).error().map(|error| error.class);
    assert_eq!(class(&[fails(ErrorClass::Auth), fails(ErrorClass::Unreachable)]), Some(ErrorClass::Auth));
    assert_eq!(class(&[fails(ErrorClass::Auth), fails(ErrorClass::RateLimit)]), Some(ErrorClass::RateLimit));
    assert_eq!(class(&[fails(ErrorClass::Auth), starts("connected"), fails(ErrorClass::Unreachable)]), Some(ErrorClass::Unreachable));
}

#[test]
fn only_a_rejecting_limit_counts() {
    let until = |events: &[Vec<RunEvent>]| fold(events).limited_until();
    assert_eq!(until(&[limit(RateLimitState::Warning, Some(5))]), None);
    assert_eq!(until(&[limit(RateLimitState::Rejected, Some(5)), limit(RateLimitState::Allowed, Some(9))]), Some(5));
    assert_eq!(until(&[limit(RateLimitState::Rejected, Some(5)), limit(RateLimitState::Rejected, None)]), None);
}

#[test]
fn absurd_numbers_do_not_overflow() {
    let state = fold(&[ends(i64::MAX, u64::MAX), ends(i64::MAX, u64::MAX)]);
    assert_eq!((state.usage().cost_micro_usd, state.usage().turns), (i64::MAX, i64::MAX));
}

/// Another server that reads the output from its start gets the same state.
#[test]
fn real_output_is_folded() {
    let samples = concat!(
        include_str!("../../backend/claude/samples/system.jsonl"),
        include_str!("../../backend/claude/samples/assistant.jsonl"),
        include_str!("../../backend/claude/samples/result.jsonl"),
    );
    let state = fold(&[samples.lines().flat_map(decode).collect()]);
    assert!(state.turn_end().is_some() && state.tool_servers().is_some());
    assert!(state.usage().turns > 0 && state.usage().context_tokens.is_some() && state.usage().context_limit.is_some());
}

#[test]
fn interrupted_or_failed_turn_is_not_completed() {
    let completed = |events: &[Vec<RunEvent>]| fold(events).has_completed_turn();
    let failed = || fails(ErrorClass::Unknown);
    assert!(completed(&[starts("connected"), accepts(), ends(1, 1)]));
    assert!(completed(&[starts("connected"), accepts(), accepts(), ends(1, 1), context(1)]), "a message during the turn belongs to it");
    assert!(completed(&[starts("connected"), failed(), starts("connected"), accepts(), ends(1, 1)]));
    assert!(!completed(&[]));
    assert!(!completed(&[starts("connected"), accepts()]));
    assert!(!completed(&[starts("connected"), accepts(), failed()]));
    assert!(!completed(&[starts("connected"), ends(1, 1), starts("connected")]));
    assert!(!completed(&[starts("connected"), ends(1, 1), accepts()]), "the accepted message belongs to a turn that did not start");
}
