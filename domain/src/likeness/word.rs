//! Words: how a text is split into them, and how alike two of them are.

use std::ops::Range;

use super::pattern::{Pattern, ratio};

/// Longer words are split, so that a line of base64 or a text without spaces does not make one huge word.
pub const MAX_WORD_BYTES: usize = 40;

/// The likeness of a word that begins with the one that was typed, and of one that contains it.
const BEGINNING: u8 = 95;
const PART: u8 = 80;
/// Typing errors are worth less than what was typed in full.
const MAX_WITH_ERRORS: u8 = 94;
const UNFINISHED_WITH_ERRORS: u8 = 5;

/// A word of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Word {
    /// In lower case.
    pub text: String,
    /// Its place in the text, in bytes.
    pub range: Range<usize>,
}

/// A place in a text where a word of the query was found, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The number of the word in the query.
    pub term: usize,
    pub range: Range<usize>,
}

/// Splits a text into its words: runs of letters and digits. A pictograph is a word of its own.
pub fn split_words(text: &str) -> impl Iterator<Item = Word> {
    let mut letters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while letters.next_if(|(_, letter)| !is_letter(*letter) && !is_pictograph(*letter)).is_some() {}
        let (start, first) = letters.next()?;
        let mut word = Word { text: first.to_lowercase().collect(), range: start..start + first.len_utf8() };
        if is_pictograph(first) {
            return Some(word);
        }
        while let Some((place, letter)) = letters.next_if(|(_, letter)| is_letter(*letter) && word.text.len() + 4 <= MAX_WORD_BYTES) {
            word.text.extend(letter.to_lowercase());
            word.range.end = place + letter.len_utf8();
        }
        Some(word)
    })
}

/// Combining marks belong to the letter before them.
fn is_letter(letter: char) -> bool {
    (letter.is_alphanumeric() && !is_pictograph(letter)) || matches!(letter, '\u{300}'..='\u{36f}')
}

fn is_pictograph(letter: char) -> bool {
    matches!(letter, '\u{2600}'..='\u{27bf}' | '\u{1f000}'..='\u{1faff}')
}

/// A set of the letters of a word. Two letters can share a place.
pub fn letters_of(word: &str) -> u64 {
    word.chars().fold(0, |set, letter| set | 1 << (u32::from(letter) % 64))
}

/// A word that someone looks for.
#[derive(Debug, Clone)]
pub struct Term {
    text: String,
    pattern: Pattern,
    letters: u64,
    is_number: bool,
}

impl Term {
    /// `word` is one of [`split_words`].
    pub fn new(word: &str) -> Self {
        let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
        Self { text: word.to_owned(), pattern: Pattern::new(word), letters: letters_of(word), is_number }
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The number of its letters.
    pub const fn len(&self) -> usize {
        self.pattern.len()
    }

    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether other words that begin with it are like it. A single letter of an alphabet begins too many.
    pub fn matches_beginnings(&self) -> bool {
        self.len() > 1 || !self.text.is_ascii()
    }

    /// How many letters may be too many or missing: two for one wrong letter, or for two that changed places.
    const fn max_errors(&self) -> usize {
        match self.len() {
            0..=2 => 0,
            3..=8 => 2,
            _ => 4,
        }
    }

    /// Whether a word can be like this one, judged by [`letters_of`] it alone.
    pub fn can_be_like(&self, letters: u64) -> bool {
        self.is_number || (self.letters & !letters).count_ones() as usize <= self.max_errors()
    }

    /// How alike a word is, from 0 to 100: equal, begun, contained, or with typing errors.
    pub fn likeness(&self, word: &str) -> u8 {
        if word == self.text {
            return 100;
        }
        if self.is_number {
            // TASK-012 is found by 12.
            let (own, other) = (self.text.trim_start_matches('0'), word.trim_start_matches('0'));
            return if own == other { 100 } else { BEGINNING * u8::from(word.starts_with(&self.text)) };
        }
        if word.starts_with(&self.text) {
            return BEGINNING;
        }
        if (self.len() > 3 || !self.text.is_ascii()) && word.contains(&self.text) {
            return PART;
        }
        self.with_errors(word)
    }

    /// The likeness of a word with typing errors, or of one whose beginning was typed with them.
    fn with_errors(&self, word: &str) -> u8 {
        let (own, most, count) = (self.len(), self.max_errors(), word.chars().count());
        if most == 0 || count + most < own || !self.can_be_like(letters_of(word)) {
            return 0;
        }
        let errors = |length: usize, common: usize| own + length - 2 * common;
        // The fewer letters of a word were typed, the more words begin almost like it.
        let most_unfinished = if own < 6 { most.min(1) } else { most };
        let mut best = 0;
        for (length, common) in (1..).zip(self.pattern.subsequences(word.chars().take(own + most))) {
            let score = ratio(common, own + length).min(MAX_WITH_ERRORS);
            if length == count && errors(length, common) <= most {
                best = score.max(best);
            } else if own > 3 && length.abs_diff(own) < 2 && errors(length, common) <= most_unfinished {
                best = score.saturating_sub(UNFINISHED_WITH_ERRORS).max(best);
            }
        }
        best
    }

    /// The part of a word of `text` that is like this one: its beginning if that is what was typed, or all of it.
    pub(super) fn part_of(&self, text: &str, word: &Word) -> Range<usize> {
        let written = text.get(word.range.clone()).unwrap_or_default();
        if !word.text.starts_with(&self.text) {
            return word.range.clone();
        }
        let end = written.char_indices().nth(self.len()).map_or(word.range.end, |(place, _)| word.range.start + place);
        word.range.start..end
    }
}
