//! Colours the blocks of code of a text: keywords, strings and comments, as elements with a class of their own.
//!
//! Bounded in size and time, because anyone may write a text, and many are rendered at once.

use std::time::{Duration, Instant};

use domain::runs::diff::{Span, SpanKind};
use pulldown_cmark::{CodeBlockKind, CowStr, Event};

/// The longest block that is coloured, in bytes.
const MAX_CODE: usize = 16 * 1024;
/// The time for the blocks of one text, after which the rest stays without colours.
const MAX_TIME: Duration = Duration::from_millis(40);

/// The classes of coloured parts, which a text may contain.
pub(super) const CLASSES: [&str; 3] = ["code-keyword", "code-string", "code-comment"];

/// Collects the lines of a block of code, which arrive in parts, and colours them.
#[derive(Default)]
pub(super) struct CodeBlocks {
    /// The language and the code of the open block.
    open: Option<(String, String)>,
    deadline: Option<Instant>,
}

impl CodeBlocks {
    /// Remembers a block that begins, if its language is named.
    pub(super) fn begin(&mut self, kind: &CodeBlockKind<'_>) {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split([' ', ',', '{']).next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        self.open = (!language.is_empty()).then(|| (language.to_owned(), String::new()));
    }

    /// Takes a part of the open block; returns whether there is one.
    pub(super) fn take(&mut self, text: &str) -> bool {
        if let Some((_, code)) = &mut self.open {
            code.push_str(text);
        }
        self.open.is_some()
    }

    /// The open block with its colours, now that it ends.
    pub(super) fn end(&mut self) -> Option<Vec<Event<'static>>> {
        let (language, code) = self.open.take()?;
        let deadline = *self.deadline.get_or_insert_with(|| {
            repo::load_syntaxes();
            Instant::now() + MAX_TIME
        });
        let spans = repo::code_spans(&language, &code, MAX_CODE, deadline);
        let mut events = Vec::new();
        for (index, line) in code.split_inclusive('\n').enumerate() {
            coloured(line, spans.get(index).map_or(&[], Vec::as_slice), &mut events);
        }
        Some(events)
    }
}

/// A line as plain and coloured parts.
fn coloured(line: &str, spans: &[Span], events: &mut Vec<Event<'static>>) {
    let mut push = |start: usize, end: usize, class: Option<&str>| {
        let Some(text) = line.get(start..end).filter(|text| !text.is_empty()) else { return };
        let text = Event::Text(CowStr::from(text.to_owned()));
        match class {
            Some(class) => {
                let open = Event::InlineHtml(CowStr::from(format!("<span class=\"{class}\">")));
                events.extend([open, text, Event::InlineHtml(CowStr::Borrowed("</span>"))]);
            }
            None => events.push(text),
        }
    };
    let mut place = 0;
    for span in spans {
        push(place, span.start as usize, None);
        push(span.start as usize, span.end as usize, Some(class(span.kind)));
        place = span.end as usize;
    }
    push(place, line.len(), None);
}

const fn class(kind: SpanKind) -> &'static str {
    match kind {
        SpanKind::Keyword => CLASSES[0],
        SpanKind::String => CLASSES[1],
        SpanKind::Comment => CLASSES[2],
    }
}
