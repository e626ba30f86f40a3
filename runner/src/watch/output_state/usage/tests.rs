//! The sums over requests and turns: from lines of the real program, and from made-up ones.

use domain::runs::run_event::RunEvent;
use proptest::prelude::*;

use super::*;
use crate::backend::decode;
use domain::runs::usage::Price;

const ANSWERS: &str = include_str!("../../../backend/claude/samples/assistant.jsonl");
const TURN_ENDS: &str = include_str!("../../../backend/claude/samples/result.jsonl");
const MODEL: &str = "claude-opus-5-5";

fn fold(prices: &[(&str, i64)], events: &[RunEvent]) -> UsageFold {
    let info = |price: i64| ModelInfo { price: Some(Price::new(price)), context_window: None };
    let models = prices.iter().map(|(model, price)| ((*model).to_owned(), info(*price))).collect();
    let mut fold = UsageFold::new(models);
    for event in events {
        match event {
            RunEvent::Request(request) => fold.add_request(request),
            RunEvent::Usage(usage) => fold.end_turn(usage),
            _ => {}
        }
    }
    fold
}

fn lines(text: &str) -> Vec<RunEvent> {
    text.lines().flat_map(decode).collect()
}

fn request(id: &str, main: bool, output: u64, part: u64) -> RunEvent {
    let tokens = Tokens { input: 10, output, cache_read: 100, cache_write: 0 };
    RunEvent::Request(RequestUsage { id: id.to_owned(), model: MODEL.to_owned(), is_main: main, tokens, part })
}

fn sums(fold: &UsageFold) -> (i64, i64, i64, i64) {
    let usage = fold.usage();
    (usage.turns, usage.input_tokens, usage.output_tokens, usage.cost_micro_usd)
}

/// The three recorded lines are parts of one answer.
#[test]
fn parts_of_one_answer_are_one_request() {
    let events = lines(ANSWERS);
    assert_eq!(events.iter().filter(|event| matches!(event, RunEvent::Request(_))).count(), 3);
    // Nine tokens are the estimate for the input of the tool call.
    assert_eq!(sums(&fold(&[], &events)), (1, 12_591, 9, 0));
}

#[test]
fn cost_of_a_turn_without_end_is_estimated_at_a_known_price() {
    let (_, _, _, cost) = sums(&fold(&[(MODEL, 4_000_000)], &lines(ANSWERS)));
    assert_eq!(cost, (3 * 20 + 12_588 * 25 + 9 * 100) * 4 / 20);
    assert_eq!(sums(&fold(&[("another", 4_000_000)], &lines(ANSWERS))).3, 0);
}

#[test]
fn turn_end_replaces_its_requests_and_prices_the_next() {
    let end = TURN_ENDS.lines().find(|line| line.contains("error_max_turns")).unwrap();
    let mut events = [lines(ANSWERS), lines(end)].concat();
    assert_eq!(sums(&fold(&[(MODEL, 1)], &events)), (2, 12_331, 32, 62_292));
    events.extend(lines(ANSWERS));
    let estimate = (3 * 20 + 12_588 * 25 + 9 * 100) * 4 / 20;
    assert_eq!(sums(&fold(&[], &events)), (3, 12_331 + 12_591, 41, 62_292 + estimate), "the turn showed the price");
}

#[test]
fn output_is_the_count_or_the_parts_whichever_is_more() {
    assert_eq!(sums(&fold(&[], &[request("a", true, 1, 30), request("a", true, 1, 12)])).2, 42);
    assert_eq!(sums(&fold(&[], &[request("a", true, 50, 30), request("a", true, 50, 12)])).2, 50);
}

#[test]
fn helpers_cost_tokens_but_are_not_turns() {
    assert_eq!(sums(&fold(&[], &[request("a", true, 1, 0), request("b", false, 1, 0), request("a", true, 1, 0)])), (1, 220, 2, 0));
}

proptest! {
    /// However many requests a turn makes, each counts once, and only the latest are kept.
    #[test]
    fn endless_turn_is_counted_in_bounded_memory(count in 0_usize..500, parts in 1_usize..4) {
        let events: Vec<RunEvent> = (0..count).flat_map(|number| vec![request(&number.to_string(), true, 5, 0); parts]).collect();
        let folded = fold(&[(MODEL, 1_000_000)], &events);
        let each = i64::try_from(count).unwrap();
        prop_assert_eq!(sums(&folded).0, each);
        prop_assert_eq!(sums(&folded).2, 5 * each);
        prop_assert!(folded.open.len() <= MAX_OPEN_REQUESTS);
    }
}

#[test]
fn size_of_the_conversation_is_compared_with_what_is_known_of_the_model() {
    let info = ModelInfo { price: None, context_window: Some(200_000) };
    let mut fold = UsageFold::new([("large".to_owned(), info)].into());
    let request = |model: &str, is_main| {
        let tokens = Tokens::default();
        RequestUsage { id: model.to_owned(), model: model.to_owned(), is_main, tokens, part: 0 }
    };
    fold.add_request(&request("small", true));
    assert_eq!(fold.usage().context_limit, None, "nothing is known");
    fold.add_request(&request("large", false));
    assert_eq!(fold.usage().context_limit, None, "a helper has its own conversation");
    fold.add_request(&request("large", true));
    assert_eq!(fold.usage().context_limit, Some(200_000));
    fold.set_context(Some(7), Some(1_000_000));
    assert_eq!((fold.usage().context_tokens, fold.usage().context_limit), (Some(7), Some(1_000_000)), "the report of the turn counts");
}
