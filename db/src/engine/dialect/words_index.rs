//! The words index: which texts hold a word, by SQLite's full-text search, and the vocabulary of all words that were ever indexed. Must not
//! know the texts: they have numbers.
//!
//! The texts are split into words before they come here, so that the vocabulary and the index agree about what a word is. The vocabulary has
//! no counts, because each write would then change a page for each of its words; a bounded look at the index tells how common a word is. A word
//! stays in the vocabulary when its last text goes: it costs a comparison, and finds nothing.

use std::collections::BTreeSet;

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

/// The numbers of the texts that match the expression `$1`, for a query that orders them: the newest come first without sorting.
pub(crate) const MATCHING: &str = "SELECT rowid AS id FROM search_words WHERE search_words MATCH $1";

/// How many words one statement adds to the vocabulary.
const BATCH: usize = 500;

/// The numbers of the messages of sessions that match the expression `$1`, the newest first without sorting.
pub(crate) const MATCHING_MESSAGES: &str = "SELECT rowid AS id FROM search_words_of_sessions WHERE search_words_of_sessions MATCH $1";

/// Adds the words of a text that is not in the index.
pub(crate) async fn add(connection: &mut SqliteConnection, id: i64, words: &BTreeSet<String>) -> sqlx::Result<()> {
    let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    sqlx::query("INSERT INTO search_words (rowid, words) VALUES ($1, $2)").bind(id).bind(text).execute(&mut *connection).await?;
    add_to_vocabulary(connection, words).await
}

/// Adds the words of a message in a session.
pub(crate) async fn add_message(connection: &mut SqliteConnection, id: i64, session: &str, words: &BTreeSet<String>) -> sqlx::Result<()> {
    let mut text = session_token(session);
    for word in words {
        text.push(' ');
        text += word;
    }
    sqlx::query("INSERT INTO search_words_of_sessions (rowid, words) VALUES ($1, $2)").bind(id).bind(text).execute(&mut *connection).await?;
    add_to_vocabulary(connection, words).await
}

/// Returns the word that stands for a session. Sessions that share one are told apart by their rows.
pub(crate) fn session_token(session: &str) -> String {
    session.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect()
}

async fn add_to_vocabulary(connection: &mut SqliteConnection, words: &BTreeSet<String>) -> sqlx::Result<()> {
    for batch in words.iter().collect::<Vec<_>>().chunks(BATCH) {
        let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new("INSERT INTO search_vocabulary (word) ");
        insert.push_values(batch, |mut row, word| {
            row.push_bind(word.as_str());
        });
        insert.push(" ON CONFLICT (word) DO NOTHING");
        insert.build().execute(&mut *connection).await?;
    }
    Ok(())
}

pub(crate) async fn remove(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM search_words WHERE rowid = $1").bind(id).execute(connection).await.map(|_| ())
}

pub(crate) async fn remove_message(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM search_words_of_sessions WHERE rowid = $1").bind(id).execute(connection).await.map(|_| ())
}

/// The words that were added after the word with the number `$1`.
pub(crate) const NEWER_WORDS: &str = "SELECT id, word FROM search_vocabulary WHERE id > $1 ORDER BY id";

/// How many texts match, counted to `$2`.
const COUNT: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM search_words WHERE search_words MATCH $1 LIMIT $2) AS matching";

/// Counts the texts that match an expression, up to a maximum.
pub(crate) async fn count(connection: &mut SqliteConnection, expression: &str, most: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar(COUNT).bind(expression).bind(most).fetch_one(connection).await
}

/// How many messages of sessions match, counted to `$2`.
const COUNT_MESSAGES: &str =
    "SELECT COUNT(*) FROM (SELECT 1 FROM search_words_of_sessions WHERE search_words_of_sessions MATCH $1 LIMIT $2) AS matching";

/// Counts the messages of sessions that match an expression, up to a maximum.
pub(crate) async fn count_messages(connection: &mut SqliteConnection, expression: &str, most: i64) -> sqlx::Result<i64> {
    sqlx::query_scalar(COUNT_MESSAGES).bind(expression).bind(most).fetch_one(connection).await
}

/// The expression that matches texts with any of the words, or with a word that begins with `beginning`. Each word is quoted, so that none is
/// read as an operator.
pub(crate) fn any_of(words: &[String], beginning: Option<&str>) -> String {
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
    let words = words.iter().map(|word| quoted(word)).chain(beginning.map(|beginning| format!("{} *", quoted(beginning))));
    format!("({})", words.collect::<Vec<_>>().join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_an_expression_is_quoted() {
        assert_eq!(any_of(&["or".to_owned(), "a\"b".to_owned()], Some("near")), r#"("or" OR "a""b" OR "near" *)"#);
        assert_eq!(any_of(&["x".to_owned()], None), r#"("x")"#);
    }
}
