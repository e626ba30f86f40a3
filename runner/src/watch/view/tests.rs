//! The fold over a run's output, line by line.

use super::*;
use crate::backend::stream::{Init, Tokens, parse};

fn init(status: &str) -> RunLine {
    let board = McpServer { name: "vibe-relay".to_owned(), status: status.to_owned() };
    RunLine::Init(Init { mcp_servers: vec![board], ..Init::default() })
}

fn result(cost_micro_usd: i64, turns: u32) -> RunLine {
    let tokens = Tokens { input: 1, output: 10, cache_read: 100, cache_creation: 1000 };
    RunLine::Result(Box::new(TurnResult { cost_micro_usd, turns, tokens, context_window: Some(200_000), ..TurnResult::default() }))
}

fn context(context_tokens: u64) -> RunLine {
    RunLine::Usage { model: "m".to_owned(), context_tokens }
}

fn limit(status: &str, resets_at_unix: Option<i64>) -> RunLine {
    RunLine::RateLimit { status: status.to_owned(), resets_at_unix, kind: None, utilization: None }
}

fn fold(lines: &[RunLine]) -> View {
    let mut view = View::default();
    lines.iter().for_each(|line| view.take(line));
    view
}

#[test]
fn nothing_is_known_of_a_run_that_said_nothing() {
    let view = fold(&[]);
    assert_eq!((view.result(), view.api_error(), view.servers(), view.limited_until()), (None, None, None, None));
    assert_eq!(view.usage(), Usage::default());
}

#[test]
fn what_the_turns_cost_is_added_up_and_the_context_is_the_last() {
    let view = fold(&[init("connected"), context(500), context(900), result(250, 2), init("connected"), context(1_200), result(50, 1)]);
    let usage =
        Usage { cost_micro_usd: 300, input_tokens: 2_202, output_tokens: 20, context_tokens: Some(1_200), context_limit: Some(200_000), turns: 3 };
    assert_eq!(view.usage(), usage);
}

/// A run is judged by its last turn, also when that turn did not come to its end.
#[test]
fn a_new_turn_forgets_the_result_of_the_one_before() {
    let failed = RunLine::ApiError { error: "server_error".to_owned(), text: String::new() };
    let mut view = fold(&[init("connected"), failed, result(1, 1)]);
    assert!(view.result().is_some());
    assert_eq!(view.api_error(), Some("server_error"));
    view.take(&init("failed"));
    assert_eq!((view.result(), view.api_error()), (None, None));
    assert_eq!(view.servers().unwrap()[0].status, "failed");
    assert_eq!(view.usage().cost_micro_usd, 1, "what it cost stays");
}

#[test]
fn only_a_limit_that_was_hit_counts() {
    assert_eq!(fold(&[limit("allowed_warning", Some(5))]).limited_until(), None);
    assert_eq!(fold(&[limit("rejected", Some(5)), limit("allowed", Some(9))]).limited_until(), Some(5));
    assert_eq!(fold(&[limit("rejected", Some(5)), limit("rejected", None)]).limited_until(), None);
}

#[test]
fn absurd_numbers_do_not_overflow() {
    let view = fold(&[result(i64::MAX, u32::MAX), result(i64::MAX, u32::MAX)]);
    assert_eq!(view.usage().cost_micro_usd, i64::MAX);
}

/// Read again from the start by another server, the output tells the same.
#[test]
fn a_real_stream_is_folded() {
    let samples = concat!(
        include_str!("../../backend/stream/samples/system.jsonl"),
        include_str!("../../backend/stream/samples/assistant.jsonl"),
        include_str!("../../backend/stream/samples/result.jsonl"),
    );
    let lines: Vec<RunLine> = samples.lines().flat_map(parse).collect();
    let view = fold(&lines);
    assert!(view.result().is_some() && view.servers().is_some());
    assert!(view.usage().turns > 0 && view.usage().context_tokens.is_some());
}

#[test]
fn a_turn_that_broke_off_or_failed_has_not_ended() {
    let echo = || RunLine::UserReplay { uuid: None, text: String::new() };
    let failed = || RunLine::Result(Box::new(TurnResult { is_error: true, ..TurnResult::default() }));
    let ended = |lines: &[RunLine]| fold(lines).turn_ended();
    assert!(ended(&[init("connected"), echo(), result(1, 1)]));
    assert!(ended(&[init("connected"), echo(), echo(), result(1, 1), context(1)]), "what was taken up during the turn belongs to it");
    assert!(ended(&[init("connected"), failed(), init("connected"), echo(), result(1, 1)]));
    assert!(!ended(&[]));
    assert!(!ended(&[init("connected"), echo()]));
    assert!(!ended(&[init("connected"), echo(), failed()]));
    assert!(!ended(&[init("connected"), result(1, 1), init("connected")]));
    assert!(!ended(&[init("connected"), result(1, 1), echo()]), "it was taken up for a turn that did not begin");
}
