//! Excerpts: the part of a text in which most words of a query stand, on one line, with these words marked.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::word::Place;

/// How many letters before the first word are shown.
const LETTERS_BEFORE: usize = 40;

/// A marked part of a text, in Unicode characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Highlight {
    pub start: u32,
    /// The first character after it.
    pub end: u32,
}

/// A part of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Excerpt {
    pub text: String,
    pub highlights: Vec<Highlight>,
}

/// The part of `text`, of at most `limit` letters, in which most words of the query stand. An ellipsis marks omitted text.
pub fn excerpt(text: &str, places: &[Place], limit: usize) -> Excerpt {
    let first = best_place(places, limit);
    let start = first.map_or(0, |place| start_before(text, place.range.start));
    let mut excerpt = Excerpt::default();
    let mut count = 0;
    let mut marked: Vec<Highlight> = places.iter().map(|_| Highlight { start: 0, end: 0 }).collect();
    if text.get(..start).is_some_and(|before| !before.trim().is_empty()) {
        excerpt.text.push('…');
        count += 1;
    }
    let mut after_space = true;
    let mut end = text.len();
    for (index, letter) in text.char_indices().skip_while(|(index, _)| *index < start) {
        if count as usize >= limit {
            end = index;
            break;
        }
        let is_space = letter.is_whitespace() || letter.is_control();
        for (place, marked) in places.iter().zip(&mut marked) {
            if place.range.contains(&index) {
                let begin = if marked.end == 0 { count } else { marked.start };
                *marked = Highlight { start: begin, end: count + 1 };
            }
        }
        if is_space && after_space {
            continue;
        }
        excerpt.text.push(if is_space { ' ' } else { letter });
        count += 1;
        after_space = is_space;
    }
    if text.get(end..).is_some_and(|rest| !rest.trim().is_empty()) {
        excerpt.text.push('…');
    }
    excerpt.highlights = marked.into_iter().filter(|marked| marked.end > 0).collect();
    excerpt
}

/// The marked parts of a text that is shown as a whole.
pub fn highlights(text: &str, places: &[Place]) -> Vec<Highlight> {
    let count = |range: Range<usize>| text.get(range).map_or(0, |part| u32::try_from(part.chars().count()).unwrap_or_default());
    let of = |place: &Place| {
        let start = count(0..place.range.start);
        Highlight { start, end: start + count(place.range.clone()) }
    };
    places.iter().map(of).collect()
}

/// The place after which most different words of the query stand close together.
fn best_place(places: &[Place], limit: usize) -> Option<&Place> {
    let reach = limit.saturating_sub(LETTERS_BEFORE);
    let different = |index: usize| {
        let near = places.iter().skip(index).take_while(|near| near.range.end <= places[index].range.start + reach);
        near.fold(0_u32, |terms, near| terms | 1 << (near.term % 32)).count_ones()
    };
    (0..places.len()).max_by_key(|index| (different(*index), usize::MAX - index)).and_then(|index| places.get(index))
}

/// The start of the excerpt: the beginning of a word, and of the line if that is near.
fn start_before(text: &str, place: usize) -> usize {
    let before = text.get(..place).unwrap_or_default();
    let cut = before.char_indices().rev().take(LETTERS_BEFORE).last().map_or(place, |(index, _)| index);
    if cut == 0 {
        return 0;
    }
    let near = text.get(cut..place).unwrap_or_default();
    let line = near.rfind('\n').map(|found| found + 1);
    let word = || near.find(char::is_whitespace).map(|found| found + 1);
    cut + line.or_else(word).unwrap_or_default()
}
