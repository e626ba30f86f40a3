//! Colours of code: the parts of each line that are keywords, strings or comments. Bounded in size and time, because a file may be written
//! to be slow.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use domain::runs::diff::{Span, SpanKind};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

/// The longest text that is coloured, in bytes.
const MAX_TEXT: usize = 400 * 1024;
/// The longest line that is coloured. Longer ones are generated.
const MAX_LINE: usize = 2_000;
/// The time for one diff, after which the rest stays without colours.
const MAX_TIME: Duration = Duration::from_secs(2);

static SYNTAXES: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The scopes of each kind. Operators are keywords in most grammars, but no reader looks for them.
static SCOPES: LazyLock<Vec<(Scope, Option<SpanKind>)>> = LazyLock::new(|| {
    let named = [
        ("comment", Some(SpanKind::Comment)),
        // Code within a string.
        ("meta.interpolation", None),
        ("meta.template.expression", None),
        ("meta.embedded", None),
        ("string", Some(SpanKind::String)),
        ("constant.character.escape", Some(SpanKind::String)),
        ("keyword.operator.word", Some(SpanKind::Keyword)),
        ("keyword.operator", None),
        ("keyword", Some(SpanKind::Keyword)),
        ("storage", Some(SpanKind::Keyword)),
        ("constant.language", Some(SpanKind::Keyword)),
        ("entity.name.tag", Some(SpanKind::Keyword)),
        ("markup.heading", Some(SpanKind::Keyword)),
    ];
    named.into_iter().filter_map(|(name, kind)| Some((Scope::new(name).ok()?, kind))).collect()
});

/// The spans of each line of a piece of code in a text, whose language is named as in Markdown: `rust`, `sh`. Empty if the language is unknown,
/// or the code is longer than `max_bytes`; the lines after `time` have none.
pub fn code_spans(language: &str, code: &str, max_bytes: usize, deadline: Instant) -> Vec<Vec<Span>> {
    if code.len() > max_bytes {
        return Vec::new();
    }
    let syntax = SYNTAXES.find_syntax_by_token(language).filter(|syntax| syntax.name != "Plain Text");
    syntax.map(|syntax| Highlighter { deadline }.lines(syntax, code, usize::MAX)).unwrap_or_default()
}

/// Loads the grammars, which takes longer than to use them.
pub fn load_syntaxes() {
    LazyLock::force(&SYNTAXES);
}

/// Colours the files of one diff.
pub(super) struct Highlighter {
    deadline: Instant,
}

impl Highlighter {
    pub(super) fn new() -> Self {
        Self { deadline: Instant::now() + MAX_TIME }
    }

    /// The spans of the first `count` lines of a file; fewer if it takes too long, and none if its language is unknown.
    pub(super) fn spans(&self, path: &str, text: &str, count: usize) -> Vec<Vec<Span>> {
        if text.len() > MAX_TEXT {
            return Vec::new();
        }
        syntax(path, text).map(|syntax| self.lines(syntax, text, count)).unwrap_or_default()
    }

    fn lines(&self, syntax: &SyntaxReference, text: &str, count: usize) -> Vec<Vec<Span>> {
        let (mut state, mut stack) = (ParseState::new(syntax), ScopeStack::new());
        let mut lines = Vec::new();
        for line in text.split_inclusive('\n').take(count) {
            if Instant::now() > self.deadline {
                break;
            }
            if line.len() > MAX_LINE {
                lines.push(Vec::new());
                continue;
            }
            let Ok(changes) = state.parse_line(line, &SYNTAXES) else { break };
            let end = line.trim_end_matches(['\n', '\r']).len();
            let (mut spans, mut start) = (Vec::new(), 0);
            for (place, change) in changes {
                push(&mut spans, start, place.min(end), kind(&stack));
                start = place;
                if stack.apply(&change).is_err() {
                    return lines;
                }
            }
            push(&mut spans, start, end, kind(&stack));
            lines.push(spans);
        }
        lines
    }
}

/// The grammar of a file: by its name, its extension or its first line. None for plain text, which has no colours.
fn syntax(path: &str, text: &str) -> Option<&'static SyntaxReference> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    let by_name = SYNTAXES.find_syntax_by_extension(name).or_else(|| SYNTAXES.find_syntax_by_extension(extension));
    let first = || text.lines().next().filter(|line| line.len() <= MAX_LINE).and_then(|line| SYNTAXES.find_syntax_by_first_line(line));
    by_name.or_else(first).filter(|syntax| syntax.name != "Plain Text")
}

/// The kind of a place: that of the innermost scope that has one.
fn kind(stack: &ScopeStack) -> Option<SpanKind> {
    let found = |scope: &Scope| SCOPES.iter().find(|(wanted, _)| wanted.is_prefix_of(*scope)).map(|(_, kind)| *kind);
    // A comment hides everything within it.
    stack.as_slice().iter().rev().find_map(found).flatten()
}

fn push(spans: &mut Vec<Span>, start: usize, end: usize, kind: Option<SpanKind>) {
    let (Some(kind), true) = (kind, start < end) else { return };
    // Lines are shorter than `MAX_LINE`.
    let (start, end) = (start as u32, end as u32);
    match spans.last_mut() {
        Some(last) if last.end == start && last.kind == kind => last.end = end,
        _ => spans.push(Span { start, end, kind }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(path: &str, text: &str) -> Vec<String> {
        let lines = Highlighter::new().spans(path, text, usize::MAX);
        let named = |(line, spans): (&str, Vec<Span>)| {
            let parts = spans.iter().map(|span| format!("{:?} {}", span.kind, &line[span.start as usize..span.end as usize]));
            parts.collect::<Vec<_>>().join(", ")
        };
        text.split_inclusive('\n').zip(lines).map(named).collect()
    }

    #[test]
    fn keywords_strings_and_comments_are_found() {
        let rust = "/* one\ntwo */ let x = \"größe\"; // end\n";
        assert_eq!(shown("a.rs", rust), ["Comment /* one", "Comment two */, Keyword let, String \"größe\", Comment // end"]);
        assert!(shown("a.ts", "export const x = 'a'\n")[0].contains("String 'a'"));
        assert!(shown("a.ts", "export const x = 'a'\n")[0].contains("Keyword const"));
        assert!(shown("x/Dockerfile", "FROM debian\n")[0].contains("Keyword FROM"));
        assert!(shown("run", "#!/bin/sh\nif true; then\n")[1].contains("Keyword if"), "by its first line");
        assert_eq!(shown("notes.txt", "let x\n"), [""; 0]);
    }

    #[test]
    fn code_in_a_text_is_coloured_by_the_name_of_its_language() {
        let later = Instant::now() + Duration::from_secs(20);
        let kinds = |language: &str| code_spans(language, "let a = 1; // x\n", 100, later).concat().iter().map(|span| span.kind).collect::<Vec<_>>();
        assert_eq!(kinds("rust"), [SpanKind::Keyword, SpanKind::Comment]);
        assert_eq!(kinds("rs"), kinds("rust"));
        assert!(kinds("text").is_empty() && kinds("no such language").is_empty());
        assert!(code_spans("rust", "let a = 1;\n", 3, later).is_empty(), "too long");
        assert!(code_spans("rust", "let a = 1;\n", 100, Instant::now() - Duration::from_secs(1)).is_empty(), "too late");
    }

    #[test]
    fn work_is_bounded() {
        let long = format!("let a = \"{}\";\nlet b = 1;\n", "x".repeat(MAX_LINE));
        let spans = Highlighter::new().spans("a.rs", &long, usize::MAX);
        assert_eq!((spans[0].len(), spans[1].len()), (0, 1), "a long line is left out");
        assert_eq!(Highlighter::new().spans("a.rs", &"let a = 1;\n".repeat(MAX_TEXT / 10), 5), Vec::<Vec<Span>>::new(), "and so is a large file");
        assert_eq!(Highlighter::new().spans("a.rs", "let a = 1;\nlet b = 2;\n", 1).len(), 1);
        let late = Highlighter { deadline: Instant::now() };
        std::thread::sleep(Duration::from_millis(1));
        assert_eq!(late.spans("a.rs", "let a = 1;\n", 1), Vec::<Vec<Span>>::new());
    }
}
