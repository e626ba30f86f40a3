//! How well a text contains another one as a part, whatever stands around it: the measure that RapidFuzz calls partial_ratio.

use super::pattern::{MAX_LETTERS, Pattern};

/// Longer texts are compared up to here.
const MAX_TEXT_LETTERS: usize = 10_000;

/// Returns the best likeness of the shorter text to a window of the longer one that is as wide, or shorter at one of its ends: from 0 to 100,
/// twice the length of their longest common subsequence as a part of both lengths. The shorter text is cut at 128 letters.
pub fn partial_ratio(one: &str, other: &str) -> f64 {
    partial_ratio_above(one, other, 0.0)
}

/// Returns the same if it is above `least`, and otherwise any number up to `least`, which takes less time the higher `least` is.
pub fn partial_ratio_above(one: &str, other: &str, least: f64) -> f64 {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().take(MAX_TEXT_LETTERS).collect(), other.chars().take(MAX_TEXT_LETTERS).collect());
    let (shorter, longer) = if one.len() <= other.len() { (&one, &other) } else { (&other, &one) };
    if shorter.is_empty() {
        return if longer.is_empty() { 100.0 } else { 0.0 };
    }
    let best = best_window(shorter, longer, least);
    let best = if shorter.len() == longer.len() { best.max(best_window(longer, shorter, best.max(least))) } else { best };
    best.min(100.0)
}

fn best_window(part: &[char], text: &[char], least: f64) -> f64 {
    let part = &part[..part.len().min(MAX_LETTERS)];
    let pattern = Pattern::of_letters(part.iter().copied());
    let width = part.len();
    let score = |common: usize, length: usize| lossy(200 * common) / lossy(width + length);
    // The windows at the beginning, each one letter longer.
    let begun = pattern.subsequences(text.iter().copied().take(width)).zip(1..).map(|(common, length)| score(common, length));
    let mut best = begun.fold(0.0, f64::max);
    let mut shared = SharedLetters::new(part);
    let places: Vec<usize> = text.iter().map(|letter| shared.place(*letter)).collect();
    for place in places.iter().take(width) {
        shared.add(*place);
    }
    for start in 1..text.len() {
        shared.remove(places[start - 1]);
        let end = text.len().min(start + width);
        if start + width <= text.len() {
            shared.add(places[end - 1]);
        }
        // A window whose outer letter does not occur is no better than a shorter one, and none has more in common than its letters.
        let outer = if end - start == width { places[end - 1] } else { places[start] };
        if outer == shared.others() || score(shared.count, end - start) <= best.max(least) {
            continue;
        }
        let common = pattern.subsequences(text[start..end].iter().copied()).last().unwrap_or_default();
        best = best.max(score(common, end - start));
    }
    best
}

/// How many letters of a text a moving window shares with it, in any order.
struct SharedLetters {
    /// The letters of the text, each once. The place after them stands for all others.
    letters: Vec<char>,
    /// The places of letters of one byte.
    ascii: [u8; 128],
    wanted: Vec<usize>,
    seen: Vec<usize>,
    count: usize,
}

impl SharedLetters {
    fn new(part: &[char]) -> Self {
        let mut letters = part.to_vec();
        letters.sort_unstable();
        letters.dedup();
        let others = u8::try_from(letters.len()).unwrap_or(u8::MAX);
        let mut ascii = [others; 128];
        for (letter, place) in letters.iter().zip(0..) {
            if let Some(known) = ascii.get_mut(*letter as usize) {
                *known = place;
            }
        }
        let mut shared = Self { seen: vec![0; letters.len() + 1], wanted: vec![0; letters.len() + 1], ascii, letters, count: 0 };
        for letter in part {
            let place = shared.place(*letter);
            shared.wanted[place] += 1;
        }
        shared
    }

    const fn others(&self) -> usize {
        self.letters.len()
    }

    fn place(&self, letter: char) -> usize {
        match self.ascii.get(letter as usize) {
            Some(place) => usize::from(*place),
            None => self.letters.binary_search(&letter).unwrap_or(self.others()),
        }
    }

    fn add(&mut self, place: usize) {
        self.count += usize::from(self.seen[place] < self.wanted[place]);
        self.seen[place] += 1;
    }

    fn remove(&mut self, place: usize) {
        self.seen[place] -= 1;
        self.count -= usize::from(self.seen[place] < self.wanted[place]);
    }
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
    fn result_is_the_same_above_a_least_score() {
        for line in PAIRS.lines() {
            let (query, text, expected): (String, String, f64) = serde_json::from_str(line).unwrap();
            for least in [0.0, 40.0, 60.0, 80.0, 99.0] {
                let found = partial_ratio_above(&query, &text, least);
                let is_right = if expected > least { (found - expected).abs() < 0.01 } else { found <= least + 0.01 };
                assert!(is_right, "{query:?} in {text:?} above {least}: {found} instead of {expected}");
            }
        }
    }

    #[test]
    fn long_texts_are_cut() {
        assert!((partial_ratio("", "") - 100.0).abs() < 0.01 && partial_ratio("", "a") < 0.01);
        assert!(partial_ratio(&"a".repeat(1_000_000), &"b".repeat(1_000_000)) < 0.01);
        assert!((partial_ratio(&"ab".repeat(200), &"ab".repeat(300)) - 100.0).abs() < 0.01);
    }
}
