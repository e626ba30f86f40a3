//! How well a text contains another one as a part, whatever stands around it: the measure that RapidFuzz calls partial_ratio.

use super::pattern::{MAX_LETTERS, Pattern};

/// Longer texts are compared up to here.
const MAX_TEXT_LETTERS: usize = 10_000;

/// Returns the best likeness of the shorter text to a window of the longer one that is as wide, or shorter at one of its ends: from 0 to 100,
/// twice the length of their longest common subsequence as a part of both lengths. The shorter text is cut at 128 letters.
pub fn partial_ratio(one: &str, other: &str) -> f64 {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().take(MAX_TEXT_LETTERS).collect(), other.chars().take(MAX_TEXT_LETTERS).collect());
    let (shorter, longer) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if shorter.is_empty() {
        return if longer.is_empty() { 100.0 } else { 0.0 };
    }
    let best = best_window(shorter, longer);
    let best = if shorter.len() == longer.len() { best.max(best_window(longer, shorter)) } else { best };
    best.min(100.0)
}

fn best_window(part: &[char], text: &[char]) -> f64 {
    let part = &part[..part.len().min(MAX_LETTERS)];
    let pattern = Pattern::of_letters(part.iter().copied());
    let width = part.len();
    let score = |common: usize, length: usize| lossy(200 * common) / lossy(width + length);
    // The windows at the beginning, each one letter longer.
    let begun = pattern.subsequences(text.iter().copied().take(width)).zip(1..).map(|(common, length)| score(common, length));
    let mut best = begun.fold(0.0, f64::max);
    for start in 1..text.len() {
        let window = &text[start..text.len().min(start + width)];
        // A window whose outer letter does not occur is no better than a shorter one.
        let outer = if window.len() == width { window.last() } else { window.first() };
        if !outer.is_some_and(|letter| part.contains(letter)) {
            continue;
        }
        let common = pattern.subsequences(window.iter().copied()).last().unwrap_or_default();
        best = best.max(score(common, window.len()));
    }
    best
}

fn lossy(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is a query, a text, and the result of RapidFuzz 3.
    const PAIRS: &str = include_str!("partial_ratio_pairs.jsonl");

    #[test]
    fn result_is_that_of_rapidfuzz_on_200_pairs() {
        let mut count = 0;
        for line in PAIRS.lines() {
            let (query, text, expected): (String, String, f64) = serde_json::from_str(line).unwrap();
            let found = partial_ratio(&query, &text);
            assert!((found - expected).abs() < 0.01, "{query:?} in {text:?}: {found} instead of {expected}");
            count += 1;
        }
        assert_eq!(count, 200);
    }

    #[test]
    fn long_texts_are_cut() {
        assert!((partial_ratio("", "") - 100.0).abs() < 0.01 && partial_ratio("", "a") < 0.01);
        assert!(partial_ratio(&"a".repeat(1_000_000), &"b".repeat(1_000_000)) < 0.01);
        assert!((partial_ratio(&"ab".repeat(200), &"ab".repeat(300)) - 100.0).abs() < 0.01);
    }
}
