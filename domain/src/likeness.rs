//! Likeness: how well the words of a query are found in a text, with typing errors, unfinished words and words in another order.
//!
//! The server and the browser rank with it. Must not know what a text is for.

mod excerpt;
mod partial;
mod pattern;
mod word;

pub use excerpt::{Excerpt, Highlight, excerpt, highlights};
pub use partial::{partial_ratio, partial_ratio_above};
pub use word::{MAX_WORD_BYTES, Place, Term, Word, letters_of, split_words};

use std::cmp::Reverse;

use pattern::Pattern;

/// How many letters of a query count.
pub const MAX_QUERY_LETTERS: usize = 128;
/// How many words of a query count.
pub const MAX_TERMS: usize = 8;
/// The least score of a text that is a result.
pub const MIN_SCORE: u8 = 60;
/// A text that scores so much less than the best one is left out.
pub const MAX_BEHIND: u8 = 20;
/// In how many places the order of the words is compared.
const MAX_PHRASES: usize = 64;

/// The words that someone looks for.
#[derive(Debug, Clone)]
pub struct Query {
    pub terms: Vec<Term>,
    phrase: Pattern,
}

/// How well a query was found in a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// From 0 to 100: the best likeness of each word, weighted by its length.
    pub score: u8,
    /// From 0 to 100: how well the words stand together in their order. It ranks texts with the same score.
    pub phrase: u8,
    /// Whether every word of the query was found.
    pub is_complete: bool,
    pub places: Vec<Place>,
}

impl Query {
    /// Reads a query. A long one is cut.
    pub fn new(text: &str) -> Self {
        let cut: String = text.chars().take(MAX_QUERY_LETTERS).collect();
        let mut terms: Vec<Term> = Vec::new();
        for word in split_words(&cut) {
            if terms.len() < MAX_TERMS && terms.iter().all(|known| known.text() != word.text) {
                terms.push(Term::new(&word.text));
            }
        }
        let phrase = terms.iter().map(Term::text).collect::<Vec<_>>().join(" ");
        Self { terms, phrase: Pattern::new(&phrase) }
    }

    /// Whether it has no word to look for.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Looks for the words in a text.
    pub fn find(&self, text: &str) -> Found {
        self.find_by(text, |term, word| self.terms.get(term).map_or(0, |term| term.likeness(word)))
    }

    /// Returns the score of [`Self::find`], without the places.
    pub fn score(&self, text: &str) -> u8 {
        let mut best = vec![0; self.terms.len()];
        for word in split_words(text) {
            let likest = self.terms.iter().enumerate().map(|(place, term)| (term.likeness(&word.text), Reverse(place))).max();
            if let Some((score, Reverse(place))) = likest
                && let Some(best) = best.get_mut(place)
            {
                *best = score.max(*best);
            }
        }
        self.mean(&best)
    }

    /// The mean of the scores of the words, by their length.
    fn mean(&self, scores: &[u8]) -> u8 {
        let weights: usize = self.terms.iter().map(Term::len).sum();
        let sum: usize = self.terms.iter().zip(scores).map(|(term, score)| term.len() * usize::from(*score)).sum();
        u8::try_from(sum.checked_div(weights).unwrap_or_default()).unwrap_or(100)
    }

    /// Looks for the words in a text. `likeness` is that of a word of the query, by its number, to a word of the text.
    pub fn find_by(&self, text: &str, mut likeness: impl FnMut(usize, &str) -> u8) -> Found {
        let mut best = vec![0; self.terms.len()];
        let mut found: Vec<(Place, u8)> = Vec::new();
        let mut starts: Vec<usize> = Vec::new();
        for word in split_words(text) {
            let likest = (0..self.terms.len()).map(|term| (likeness(term, &word.text), term)).max_by_key(|(score, term)| (*score, usize::MAX - term));
            let Some((score, term)) = likest.filter(|(score, _)| *score > 0) else { continue };
            if let Some(best) = best.get_mut(term) {
                *best = score.max(*best);
            }
            if starts.len() < MAX_PHRASES {
                starts.push(word.range.start);
            }
            let range = self.terms.get(term).map_or(word.range.clone(), |term| term.part_of(text, &word));
            found.push((Place { term, range }, score));
        }
        // A worse match of a word is no place of it where a better one exists.
        let places = found.into_iter().filter(|(place, score)| best.get(place.term).is_some_and(|best| score + 15 >= *best));
        let phrase = starts.iter().filter_map(|start| text.get(*start..)).map(|rest| self.phrase.likeness(rest)).max().unwrap_or_default();
        Found {
            score: self.mean(&best),
            phrase,
            is_complete: !best.is_empty() && best.iter().all(|best| *best > 0),
            places: places.map(|(place, _)| place).collect(),
        }
    }
}

#[cfg(test)]
mod tests;
