//! Search in a session: candidates from the words index, which a caller may read, ranked by how alike they are.
//!
//! The candidate statement compares audiences before its limit, so that a message out of reach takes no place and changes no result.

use std::cmp::Ordering;
use std::collections::{BTreeMap, HashMap};

use domain::context::session::visibility::Visibility;
use domain::context::session::{ContextSessionId, SessionHit, SessionMessage, searchable_text, validate_limit};
use domain::likeness::{MAX_QUERY_LETTERS, Query, partial_ratio_above};
use domain::refusal::Refusal;
use sqlx::Connection;

use super::row::{self, Candidate};
use crate::board::search::row::{FEW, MAX_COMMON, expressions};
use crate::caller::Caller;
use crate::engine::dialect::words_index;
use crate::engine::open::Db;
use crate::error::Result;

/// Scores are rounded to hundredths.
const STEP: f64 = 0.01;

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
        let groups: Vec<String> = words.terms.iter().filter_map(|term| self.vocabulary.expression(term)).collect();
        let within: Vec<String> = groups.iter().map(|group| format!("\"{token}\" AND {group}")).collect();
        let counts = words_index::count_messages(&mut snapshot, &within, MAX_COMMON + 1).await?;
        let counted = counts.into_iter().zip(groups).collect();
        let mut candidates = BTreeMap::new();
        for expression in expressions(counted) {
            if candidates.len() >= FEW {
                break;
            }
            let found = row::candidates(&mut snapshot, &session.id, &format!("\"{token}\" AND ({expression})"), &own).await?;
            candidates.extend(found.into_iter().map(|candidate| (candidate.id, candidate)));
        }
        let best = best(query, &words, threshold, candidates.into_values(), limit as usize);
        let ids: Vec<i64> = best.iter().map(|(id, _)| *id).collect();
        let messages = row::some(&mut snapshot, &session.id, &ids, &own).await?;
        snapshot.rollback().await?;
        let mut messages: HashMap<i64, SessionMessage> = messages.into_iter().map(|message| (message.id, message)).collect();
        let hits: Vec<SessionHit> = best.into_iter().filter_map(|(id, score)| Some(SessionHit { message: messages.remove(&id)?, score })).collect();
        self.record_admin_read(caller, &session, hits.iter().map(|hit| &hit.message));
        Ok(hits)
    }
}

/// The numbers and scores of the candidates that are like enough, the likest first.
fn best(query: &SessionSearchQuery, words: &Query, threshold: f64, candidates: impl Iterator<Item = Candidate>, limit: usize) -> Vec<(i64, f64)> {
    let wanted: String = query.text.trim().chars().take(MAX_QUERY_LETTERS).flat_map(char::to_lowercase).collect();
    let texts = candidates.map(|candidate| {
        let metadata = query.metadata.then_some(&candidate.metadata);
        let text = searchable_text(&candidate.sender, &candidate.content, metadata).to_lowercase();
        (f64::from(words.score(&text)), text, candidate.id)
    });
    let mut texts: Vec<(f64, String, i64)> = texts.collect();
    texts.sort_by(|one, other| by_score((one.0, one.2), (other.0, other.2)));
    let mut hits: Vec<(i64, f64)> = Vec::with_capacity(limit + 1);
    for (score, text, id) in texts {
        // Only a score above that of the last result has to be exact.
        let least = if hits.len() < limit { threshold } else { hits.last().map_or(threshold, |last| last.1) };
        // A part of the text knows no other order of words, and the words know no part that is none.
        let score = score.max(partial_ratio_above(&wanted, &text, score.max(least - STEP)));
        let score = (score * 100.0).round() / 100.0;
        if score >= threshold {
            let place = hits.partition_point(|known| by_score((known.1, known.0), (score, id)).is_le());
            hits.insert(place, (id, score));
            hits.truncate(limit);
        }
    }
    hits
}

/// The likest first, and of equal ones the newest.
fn by_score(one: (f64, i64), other: (f64, i64)) -> Ordering {
    other.0.partial_cmp(&one.0).unwrap_or(Ordering::Equal).then(other.1.cmp(&one.1))
}
