//! The vocabulary in memory: every word of the index, to find those that are like a word with typing errors. Must not know the texts.
//!
//! Numbers of words only grow and no word is removed, so a search reads what was committed since the last one and nothing else.

use std::sync::{Arc, PoisonError, RwLock};

use domain::likeness::{Term, letters_of};
use sqlx::{Row, SqliteConnection};

use crate::engine::dialect::words_index::{NEWER_WORDS, any_of};
use crate::error::Result;

/// How many words of the vocabulary stand for one of the query.
const MAX_LIKE_WORDS: usize = 32;
/// How many words that begin with one of the query are looked up word by word. To look up a beginning, SQLite collects all texts of all its
/// words first, even if only a few are wanted.
const MAX_BEGUN_WORDS: usize = 24;

#[derive(Debug)]
struct IndexedWord {
    word: Box<str>,
    letters: u64,
}

#[derive(Debug, Default)]
struct Words {
    /// The number of the newest word.
    last: i64,
    known: Vec<IndexedWord>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Vocabulary {
    words: Arc<RwLock<Words>>,
}

impl Vocabulary {
    /// Reads the words that were committed since the last call.
    pub(crate) async fn catch_up(&self, connection: &mut SqliteConnection) -> Result<()> {
        let last = self.words.read().unwrap_or_else(PoisonError::into_inner).last;
        let newer = sqlx::query(NEWER_WORDS).bind(last).fetch_all(connection).await?;
        if newer.is_empty() {
            return Ok(());
        }
        let mut words = self.words.write().unwrap_or_else(PoisonError::into_inner);
        for row in &newer {
            let id: i64 = row.try_get("id")?;
            // Another search may have read the same words.
            if id > words.last {
                let word: &str = row.try_get("word")?;
                words.known.push(IndexedWord { word: word.into(), letters: letters_of(word) });
                words.last = id;
            }
        }
        Ok(())
    }

    /// The expression for the words of the index that are like a word of the query: those that begin with it, and the likest of the others.
    pub(crate) fn expression(&self, term: &Term) -> Option<String> {
        let words = self.words.read().unwrap_or_else(PoisonError::into_inner);
        let (mut begun, mut like) = (Vec::new(), Vec::new());
        for known in &words.known {
            if term.matches_beginnings() && known.word.starts_with(term.text()) {
                begun.push(known.word.as_ref());
            } else if term.can_be_like(known.letters) {
                like.push((term.likeness(&known.word), known.word.as_ref()));
            }
        }
        like.retain(|(likeness, _)| *likeness > 0);
        like.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.len().cmp(&other.1.len())).then(one.1.cmp(other.1)));
        let beginning = (begun.len() > MAX_BEGUN_WORDS).then(|| term.text());
        let begun = begun.into_iter().filter(|_| beginning.is_none());
        let named: Vec<&str> = like.into_iter().take(MAX_LIKE_WORDS).map(|(_, word)| word).chain(begun).collect();
        (beginning.is_some() || !named.is_empty()).then(|| any_of(&named, beginning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vocabulary(count: usize) -> Vocabulary {
        let known = (0..count).map(|number| format!("worker{number}")).map(|word| IndexedWord { letters: letters_of(&word), word: word.into() });
        Vocabulary { words: Arc::new(RwLock::new(Words { last: 0, known: known.collect() })) }
    }

    #[test]
    fn few_words_with_a_beginning_are_named_and_many_are_not() {
        let beginning = Term::new("worker");
        assert_eq!(vocabulary(0).expression(&beginning), None);
        assert_eq!(vocabulary(2).expression(&beginning), Some(r#"("worker0" OR "worker1")"#.to_owned()));
        let most = vocabulary(MAX_BEGUN_WORDS).expression(&beginning).unwrap_or_default();
        assert!(most.ends_with(r#" OR "worker23")"#), "{most}");
        assert_eq!(vocabulary(MAX_BEGUN_WORDS + 1).expression(&beginning), Some(r#"("worker" *)"#.to_owned()));
    }
}
