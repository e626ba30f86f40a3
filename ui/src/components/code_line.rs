//! A line of code in a diff: its parts of one colour, and those that changed.

use domain::runs::diff::{DiffLine, SpanKind};
use leptos::prelude::*;

/// A part of a line.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    text: String,
    kind: Option<SpanKind>,
    changed: bool,
}

/// The pieces of a line, in order.
fn pieces(line: &DiffLine) -> Vec<Piece> {
    let end = line.text.len();
    let bounds = line.spans.iter().flat_map(|span| [span.start, span.end]).chain(line.marks.iter().flat_map(|mark| [mark.start, mark.end]));
    let mut bounds: Vec<usize> = bounds.map(|bound| bound as usize).filter(|bound| *bound < end).chain([0, end]).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let piece = |bounds: &[usize]| {
        let (start, end) = (bounds[0], bounds[1]);
        let covers = |from: u32, to: u32| from as usize <= start && end <= to as usize;
        let kind = line.spans.iter().find(|span| covers(span.start, span.end)).map(|span| span.kind);
        let changed = line.marks.iter().any(|mark| covers(mark.start, mark.end));
        // A bound within a character would come from a broken answer.
        line.text.get(start..end).map(|text| Piece { text: text.to_owned(), kind, changed })
    };
    bounds.windows(2).filter_map(piece).collect()
}

/// The text of a line with its colours and changed words.
#[component]
pub(crate) fn CodeLine(line: DiffLine) -> impl IntoView {
    let kind = |kind| match kind {
        SpanKind::Keyword => "keyword",
        SpanKind::String => "string",
        SpanKind::Comment => "comment",
    };
    // Most pieces are plain text, which needs no element.
    let piece = |piece: Piece| match (piece.kind, piece.changed) {
        (None, false) => piece.text.into_any(),
        (found, false) => view! { <span data-kind=found.map(kind)>{piece.text}</span> }.into_any(),
        (found, true) => view! { <mark data-kind=found.map(kind)>{piece.text}</mark> }.into_any(),
    };
    pieces(&line).into_iter().map(piece).collect_view()
}

#[cfg(test)]
mod tests {
    use domain::runs::diff::{Mark, Span};

    use super::*;

    #[test]
    fn colours_and_marks_overlap() {
        let spans = vec![Span { start: 0, end: 3, kind: SpanKind::Keyword }, Span { start: 8, end: 11, kind: SpanKind::String }];
        let line = DiffLine { spans, marks: vec![Mark { start: 2, end: 5 }], ..DiffLine::plain('+', None, Some(1), "let x = 'a';".to_owned()) };
        let found: Vec<_> = pieces(&line).into_iter().map(|piece| (piece.text, piece.kind, piece.changed)).collect();
        let of = |text: &str, kind, changed| (text.to_owned(), kind, changed);
        let expected = [
            of("le", Some(SpanKind::Keyword), false),
            of("t", Some(SpanKind::Keyword), true),
            of(" x", None, true),
            of(" = ", None, false),
            of("'a'", Some(SpanKind::String), false),
            of(";", None, false),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn plain_and_empty_lines_are_whole() {
        let plain = |text: &str| DiffLine::plain(' ', Some(1), Some(1), text.to_owned());
        assert_eq!(pieces(&plain("ab")), [Piece { text: "ab".to_owned(), kind: None, changed: false }]);
        assert_eq!(pieces(&plain("")), []);
        let beyond = DiffLine { marks: vec![Mark { start: 1, end: 9 }], ..plain("ab") };
        assert_eq!(pieces(&beyond).iter().map(|piece| piece.text.as_str()).collect::<String>(), "ab");
    }
}
