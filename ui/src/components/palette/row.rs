//! One row of the palette: an entry on one line, or a text that was found with its excerpt.
//!
//! Must not know what choosing a row does.

use domain::board::search::{SearchHit, SearchKind};
use domain::likeness::Highlight;
use leptos::prelude::*;

use crate::components::glyph::StateGlyph;
use crate::components::icon::{ALERT, FILE, GRID, Icon, REPLY, ROWS, SPEECH};
use crate::components::palette::entries::{Choice, Entry, Sign};
use crate::palette::{Group, Ranked, parts};
use crate::reader::Reader;
use crate::time::Clock;

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Row {
    pub(crate) group: Group,
    pub(crate) content: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Entry { key: String, title: String, highlights: Vec<Highlight>, detail: String, shortcut: &'static str, sign: Sign, choice: Choice },
    Hit(SearchHit),
}

impl Row {
    pub(crate) fn of_entry(entry: &Entry, ranked: &Ranked) -> Self {
        let content = Content::Entry {
            key: entry.words.key.clone(),
            title: entry.words.title.clone(),
            highlights: ranked.highlights.clone(),
            detail: entry.detail.clone(),
            shortcut: entry.shortcut,
            sign: entry.sign,
            choice: entry.choice.clone(),
        };
        Self { group: ranked.group, content }
    }

    /// The id of the task that an entry opens.
    pub(crate) fn task(&self) -> Option<String> {
        match &self.content {
            Content::Entry { key, .. } => key.strip_prefix("task/").map(str::to_owned),
            Content::Hit(_) => None,
        }
    }
}

/// The id of the element of a row, by which the field names the selected one.
pub(crate) fn id(index: usize) -> String {
    format!("palette-{index}")
}

#[component]
pub(crate) fn RowView(index: usize, row: Row, selected: RwSignal<usize>, choose: Callback<usize>) -> impl IntoView {
    let content = match row.content {
        Content::Entry { title, highlights, detail, shortcut, sign, .. } => view! {
            {draw(sign)}
            <span class="palette-title">{marked(&title, &highlights)}</span>
            <span class="palette-detail">{detail}</span>
            {(!shortcut.is_empty()).then(|| view! { <kbd>{shortcut.to_uppercase()}</kbd> })}
        }
        .into_any(),
        Content::Hit(hit) => view! { <Found hit=hit /> }.into_any(),
    };
    view! {
        <div
            id=id(index)
            class="palette-row"
            role="option"
            aria-selected=move || (selected.get() == index).to_string()
            on:mousemove=move |_| if selected.get_untracked() != index { selected.set(index) }
            on:click=move |_| choose.run(index)
        >
            {content}
        </div>
    }
}

/// A text: its task or project, and below it the words that were found.
#[component]
fn Found(hit: SearchHit) -> impl IntoView {
    let drawing = match hit.kind {
        SearchKind::Task => GRID,
        SearchKind::Comment => SPEECH,
        SearchKind::Message => REPLY,
        SearchKind::Run => ALERT,
        SearchKind::Finding => FILE,
        SearchKind::Memory | SearchKind::Log => ROWS,
    };
    let clock = Clock::from_context();
    let at = hit.at;
    let title = hit.key.clone().or_else(|| hit.task_title.clone()).unwrap_or_else(|| hit.project_title.clone());
    let source = source(&hit);
    view! {
        <Icon drawing=drawing />
        <span class="palette-found">
            <span class="palette-title">{marked(&title, &hit.title_highlights)}</span>
            {(!hit.excerpt.is_empty()).then(|| view! { <span class="palette-excerpt" dir="auto">{marked(&hit.excerpt, &hit.highlights)}</span> })}
            <span class="palette-source">{source} " · " {move || clock.ago(at)}</span>
        </span>
        <span class="palette-detail">{hit.task_id.as_ref().map(ToString::to_string)}</span>
    }
}

/// The kind of a text, its author and its project, in words.
fn source(hit: &SearchHit) -> String {
    let kind = match hit.kind {
        SearchKind::Task => "Task",
        SearchKind::Comment => "Comment",
        SearchKind::Message => "Message",
        SearchKind::Run => "Failure",
        SearchKind::Finding => "Finding",
        SearchKind::Memory => "Memory",
        SearchKind::Log => "Log entry",
    };
    let author = hit.author.as_ref().map(|author| Reader::current().person_label(author).unwrap_or_else(|| author.clone()));
    let by = author.filter(|author| !author.is_empty()).map(|author| format!(" by {author}")).unwrap_or_default();
    format!("{kind}{by} · {}", hit.project_title)
}

fn draw(sign: Sign) -> AnyView {
    match sign {
        Sign::State(glyph, tone, label) => view! { <StateGlyph glyph=glyph tone=tone label=label /> }.into_any(),
        Sign::Icon(drawing) => view! { <Icon drawing=drawing /> }.into_any(),
    }
}

fn marked(text: &str, highlights: &[Highlight]) -> impl IntoView + use<> {
    let part = |(part, marked): (String, bool)| if marked { view! { <mark>{part}</mark> }.into_any() } else { part.into_any() };
    parts(text, highlights).into_iter().map(part).collect_view()
}
