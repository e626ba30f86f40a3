//! The words index: which texts hold a word, by SQLite's full-text search, and the vocabulary of all words that were ever indexed. Must not
//! know the texts: they have numbers.
//!
//! The texts are split into words before they come here, so that the vocabulary and the index agree about what a word is. The vocabulary has
//! no counts, because each write would then change a page for each of its words; a bounded look at the index tells how common a word is. A word
//! stays in the vocabulary when its last text goes: it costs a comparison, and finds nothing.

use std::collections::BTreeSet;

use sqlx::{AssertSqlSafe, SqliteConnection};

/// The numbers of the texts that match the expression `$1`, for a query that orders them: the newest come first without sorting.
pub(crate) const MATCHING: &str = "SELECT rowid AS id FROM search_words WHERE search_words MATCH $1";

/// Adds the words of the JSON array `$3`, unless they are known.
const ADD_TO_VOCABULARY: &str = "INSERT INTO search_vocabulary (word) SELECT value FROM json_each($3) WHERE true ON CONFLICT (word) DO NOTHING";

/// The numbers of the messages of sessions that match the expression `$1`, the newest first without sorting.
pub(crate) const MATCHING_MESSAGES: &str = "SELECT rowid AS id FROM search_words_of_sessions WHERE search_words_of_sessions MATCH $1";

/// Adds the words of a text that is not in the index.
pub(crate) async fn add(connection: &mut SqliteConnection, id: i64, words: &BTreeSet<String>) -> sqlx::Result<()> {
    let text = words.iter().map(String::as_str).collect::<Vec<_>>().join(" ");
    insert(connection, "search_words", id, text, words).await
}

/// The word that stands for all public messages of sessions. No text is split into it.
pub(crate) const PUBLIC: &str = "\u{e000}";

/// Adds the words of a message in a session.
pub(crate) async fn add_message(
    connection: &mut SqliteConnection,
    id: i64,
    (session, is_public): (&str, bool),
    words: &BTreeSet<String>,
) -> sqlx::Result<()> {
    let mut text = session_token(session);
    if is_public {
        text.push(' ');
        text += PUBLIC;
    }
    for word in words {
        text.push(' ');
        text += word;
    }
    insert(connection, "search_words_of_sessions", id, text, words).await
}

/// Adds a text to an index and its words to the vocabulary. One call, because each costs a way to the connection's thread.
async fn insert(connection: &mut SqliteConnection, index: &str, id: i64, text: String, words: &BTreeSet<String>) -> sqlx::Result<()> {
    let words = serde_json::to_string(words).map_err(|error| sqlx::Error::Encode(error.into()))?;
    let statements = format!("INSERT INTO {index} (rowid, words) VALUES ($1, $2); {ADD_TO_VOCABULARY}");
    sqlx::query(AssertSqlSafe(statements)).bind(id).bind(text).bind(words).execute(connection).await.map(drop)
}

/// Returns the word that stands for a session. Sessions that share one are told apart by their rows.
pub(crate) fn session_token(session: &str) -> String {
    session.chars().filter(char::is_ascii_alphanumeric).flat_map(char::to_lowercase).collect()
}

pub(crate) async fn remove(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM search_words WHERE rowid = $1").bind(id).execute(connection).await.map(|_| ())
}

/// Removes several texts in one statement.
pub(crate) async fn remove_all(connection: &mut SqliteConnection, ids: &[i64]) -> sqlx::Result<()> {
    let ids = serde_json::to_string(ids).map_err(|error| sqlx::Error::Encode(error.into()))?;
    sqlx::query("DELETE FROM search_words WHERE rowid IN (SELECT value FROM json_each($1))").bind(ids).execute(connection).await.map(|_| ())
}

pub(crate) async fn remove_message(connection: &mut SqliteConnection, id: i64) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM search_words_of_sessions WHERE rowid = $1").bind(id).execute(connection).await.map(|_| ())
}

/// The words that were added after the word with the number `$1`.
pub(crate) const NEWER_WORDS: &str = "SELECT id, word FROM search_vocabulary WHERE id > $1 ORDER BY id";

/// Counts the texts that match each expression, up to a maximum.
pub(crate) async fn count(connection: &mut SqliteConnection, expressions: &[String], most: i64) -> sqlx::Result<Vec<i64>> {
    count_in(connection, "search_words", expressions, most).await
}

/// Counts the messages of sessions that match each expression, up to a maximum.
pub(crate) async fn count_messages(connection: &mut SqliteConnection, expressions: &[String], most: i64) -> sqlx::Result<Vec<i64>> {
    count_in(connection, "search_words_of_sessions", expressions, most).await
}

/// One call, because each costs a way to the connection's thread.
async fn count_in(connection: &mut SqliteConnection, index: &str, expressions: &[String], most: i64) -> sqlx::Result<Vec<i64>> {
    let counts: Vec<String> = (2..)
        .zip(expressions)
        .map(|(place, _)| format!("SELECT COUNT(*) FROM (SELECT 1 FROM {index} WHERE {index} MATCH ${place} LIMIT $1)"))
        .collect();
    let query = sqlx::query_scalar(AssertSqlSafe(counts.join("; "))).bind(most);
    expressions.iter().fold(query, |query, expression| query.bind(expression)).fetch_all(connection).await
}

/// The expression that matches texts with any of the words, or with a word that begins with `beginning`. Each word is quoted, so that none is
/// read as an operator.
pub(crate) fn any_of(words: &[&str], beginning: Option<&str>) -> String {
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
    let words = words.iter().map(|word| quoted(word)).chain(beginning.map(|beginning| format!("{} *", quoted(beginning))));
    format!("({})", words.collect::<Vec<_>>().join(" OR "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_of_an_expression_is_quoted() {
        assert_eq!(any_of(&["or", "a\"b"], Some("near")), r#"("or" OR "a""b" OR "near" *)"#);
        assert_eq!(any_of(&["x"], None), r#"("x")"#);
    }
}
