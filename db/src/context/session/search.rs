//! Search in a session: candidates from the words index, which a caller may read, ranked by how alike they are.
//!
//! The candidate statement compares audiences before its limit, so that a message out of reach takes no place and changes no result.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, SessionHit, SessionMessage, validate_limit};
use domain::likeness::{MAX_QUERY_LETTERS, Query, partial_ratio};
use domain::refusal::Refusal;
use sqlx::Connection;

use super::row;
use crate::board::search::row::expressions;
use crate::caller::Caller;
use crate::engine::dialect::words_index;
use crate::engine::open::Db;
use crate::error::Result;

/// How few candidates call for a wider expression.
const FEW: usize = 10;

/// The words that a caller looks for in a session, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionSearchQuery {
    pub text: String,
    /// The least score of a result, from 0 to 100. 60 by default.
    pub threshold: Option<f64>,
    /// 10 by default, at most 100.
    pub limit: Option<u32>,
    /// Whether words of the metadata count.
    pub metadata: bool,
    /// Only messages of this visibility.
    pub visibility: Option<Visibility>,
}

impl Db {
    /// Finds messages of a session that the caller may read, the likest first, then the newest.
    ///
    /// # Errors
    /// When the session does not exist for the caller, the query is blank, or a number is out of range.
    pub async fn search_session(&self, caller: &Caller, session: &ContextSessionId, query: &SessionSearchQuery) -> Result<Vec<SessionHit>> {
        let limit = validate_limit(query.limit, 10, 100)?;
        let threshold = query.threshold.unwrap_or(60.0);
        if !(0.0..=100.0).contains(&threshold) {
            return Err(
                Refusal::invalid("fuzzy_threshold", format!("{threshold} is not between 0 and 100"), "Give 0 to 100; 60 is the default.").into()
            );
        }
        if query.text.trim().is_empty() {
            return Err(Refusal::invalid("query", "it is empty", "Name a word that the message contains.").into());
        }
        let words = Query::new(&query.text);
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        let (session, reader) = row::read_for(&mut snapshot, caller, session).await?;
        let own = row::audience_words(&reader, &session, query.visibility);
        self.vocabulary.catch_up(&mut snapshot).await?;
        let token = words_index::session_token(session.id.as_str());
        let mut counted = Vec::new();
        for group in words.terms.iter().filter_map(|term| self.vocabulary.expression(term)) {
            let within = format!("\"{token}\" AND {group}");
            counted.push((words_index::count_messages(&mut snapshot, &within, row::MAX_COMMON + 1).await?, group));
        }
        let mut ids = BTreeSet::new();
        for expression in expressions(counted) {
            if ids.len() >= FEW {
                break;
            }
            ids.extend(row::candidates(&mut snapshot, &session.id, &format!("\"{token}\" AND ({expression})"), &own).await?);
        }
        let mut candidates = Vec::with_capacity(ids.len());
        for id in ids {
            candidates.push(row::message(&mut snapshot, id).await?);
        }
        snapshot.rollback().await?;
        drop(connection);
        Ok(best(query, &words, threshold, candidates, limit as usize))
    }
}

/// The candidates that are like enough, the likest first.
fn best(query: &SessionSearchQuery, words: &Query, threshold: f64, candidates: Vec<SessionMessage>, limit: usize) -> Vec<SessionHit> {
    let wanted: String = query.text.trim().chars().take(MAX_QUERY_LETTERS).flat_map(char::to_lowercase).collect();
    let mut hits: Vec<SessionHit> = candidates
        .into_iter()
        .map(|message| {
            let text = message.searchable_text(query.metadata).to_lowercase();
            // A part of the text knows no other order of words, and the words know no part that is none.
            let score = partial_ratio(&wanted, &text).max(f64::from(words.find(&text).score));
            SessionHit { message, score: (score * 100.0).round() / 100.0 }
        })
        .filter(|hit| hit.score >= threshold)
        .collect();
    hits.sort_by(|one, other| other.score.partial_cmp(&one.score).unwrap_or(Ordering::Equal).then(other.message.id.cmp(&one.message.id)));
    hits.truncate(limit);
    hits
}
