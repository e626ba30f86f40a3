//! Search over the texts of all projects: candidates from the words index, ranked by how alike their words are.
//!
//! A search costs what its words and a bounded number of candidates cost, however much is finished: the index yields the newest matches, and
//! words that most texts hold are left out.

pub(crate) mod row;
pub(crate) mod write;

use std::cmp::Reverse;
use std::collections::HashMap;

use domain::board::search::{EXCERPT_LETTERS, SearchHit};
use domain::context::session::visibility::{Visibility, audiences};
use domain::id::ProjectId;
use domain::likeness::{Found, MAX_BEHIND, MIN_SCORE, Place, Query, excerpt, highlights};
use domain::team::person::Right;
use sqlx::Connection;

use crate::board::project::row as projects;
use crate::caller::Caller;
use crate::engine::open::Db;
use crate::error::Result;
use crate::now;
use row::{Candidate, finding};

/// The words to look for, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchQuery {
    pub text: String,
    /// Only texts of this project.
    pub project: Option<ProjectId>,
    pub limit: u32,
}

impl Db {
    /// Finds texts with the words of the query, the likest first, then the newest. A query without a word finds nothing. A person may read every
    /// project. The memory of agents is for the owner of the board.
    ///
    /// # Errors
    /// When the caller is not a person, or the project does not exist.
    pub async fn search(&self, caller: &Caller, query: &SearchQuery) -> Result<Vec<SearchHit>> {
        caller.person(Right::Read, "searching the board")?;
        let reader = caller.reader()?;
        let audience = audiences(&reader, query.project.as_ref()).into_iter().find(|audience| audience.visibility == Visibility::Public);
        let words = Query::new(&query.text);
        let mut connection = self.readers.acquire().await?;
        let mut snapshot = connection.begin().await?;
        if let Some(project) = &query.project {
            projects::read(&mut snapshot, project).await?;
        }
        self.vocabulary.catch_up(&mut snapshot).await?;
        let groups: Vec<String> = words.terms.iter().filter_map(|term| self.vocabulary.expression(term)).collect();
        let ids = row::candidates(&mut snapshot, &groups, query.project.as_ref(), reader.is_admin().then(now)).await?;
        let mut candidates = row::read(&mut snapshot, &ids).await?;
        if let Some(audience) = audience {
            let ids = finding::candidates(&mut snapshot, &groups, query.project.as_ref(), &audience).await?;
            candidates.extend(finding::read(&mut snapshot, &ids).await?);
        }
        snapshot.rollback().await?;
        drop(connection);
        Ok(best(&words, candidates, query.limit as usize))
    }
}

/// The candidates that are like enough, also beside the best one, the likest first.
fn best(query: &Query, candidates: Vec<Candidate>, limit: usize) -> Vec<SearchHit> {
    // The same words return in text after text.
    let mut known: Vec<HashMap<String, u8>> = query.terms.iter().map(|_| HashMap::new()).collect();
    let mut ranked: Vec<(Candidate, Found)> = Vec::new();
    for candidate in candidates {
        let text = match candidate.title() {
            Some(title) => format!("{title}\n{}", candidate.body),
            None => candidate.body.clone(),
        };
        let found = query.find_by(&text, |term, word| {
            let (Some(known), Some(term)) = (known.get_mut(term), query.terms.get(term)) else { return 0 };
            if let Some(likeness) = known.get(word) {
                return *likeness;
            }
            let likeness = term.likeness(word);
            known.insert(word.to_owned(), likeness);
            likeness
        });
        if found.score >= MIN_SCORE {
            ranked.push((candidate, found));
        }
    }
    let best = ranked.iter().map(|(_, found)| found.score).max().unwrap_or_default();
    ranked.retain(|(_, found)| found.score + MAX_BEHIND >= best);
    ranked.sort_by_key(|(candidate, found)| Reverse((found.score, is_in_title(candidate, found), found.phrase, candidate.at, candidate.id)));
    ranked.into_iter().take(limit).map(|(candidate, found)| hit(candidate, found)).collect()
}

/// Whether the first word that was found stands in the title of a task, or in the key of an entry of memory.
fn is_in_title(candidate: &Candidate, found: &Found) -> bool {
    candidate.title().zip(found.places.first()).is_some_and(|(title, place)| place.range.end <= title.len())
}

fn hit(candidate: Candidate, found: Found) -> SearchHit {
    let title = candidate.title();
    let title_end = title.map_or(0, |title| title.len() + 1);
    let (in_title, in_body): (Vec<Place>, Vec<Place>) = found.places.into_iter().partition(|place| place.range.end < title_end);
    let in_body: Vec<Place> =
        in_body.into_iter().map(|place| Place { range: place.range.start - title_end..place.range.end - title_end, ..place }).collect();
    let shown = excerpt(&candidate.body, &in_body, EXCERPT_LETTERS);
    let title_highlights = title.map(|title| highlights(title, &in_title)).unwrap_or_default();
    SearchHit {
        kind: candidate.kind,
        id: candidate.reference,
        project_id: candidate.project_id,
        project_title: candidate.project_title,
        task_id: candidate.task_id,
        task_title: candidate.task_title,
        session_id: candidate.session_id,
        key: candidate.key,
        title_highlights,
        excerpt: shown.text,
        highlights: shown.highlights,
        author: candidate.author,
        at: candidate.at,
        score: found.score,
    }
}
