//! One entry of a run's log: texts in full, tools in one line with a collapsed input, edits as small diffs.

use domain::runs::output::{OutputKind, OutputLine};
use leptos::prelude::*;

use crate::components::badge::Tone;
use crate::components::prose::Prose;

#[component]
pub(super) fn Entry(line: OutputLine) -> impl IntoView {
    let OutputLine { kind, text, detail, .. } = line;
    match kind {
        OutputKind::Text => view! { <Prose text=text /> }.into_any(),
        OutputKind::Thinking => view! { <p class="log-thinking">{text}</p> }.into_any(),
        OutputKind::Message => view! {
            <div class="log-sent">
                <p class="note">"To the agent · ✓ delivered"</p>
                {match detail {
                    Some(_) => view! { <Folded name="" text=text detail=detail tone=Tone::Neutral /> }.into_any(),
                    None => view! { <Prose text=text /> }.into_any(),
                }}
            </div>
        }
        .into_any(),
        OutputKind::ToolUse => view! { <Folded name="" text=text detail=detail tone=Tone::Info /> }.into_any(),
        OutputKind::Edit => view! { <Edit text=text changes=detail.unwrap_or_default() /> }.into_any(),
        OutputKind::ToolResult => view! { <Folded name="got" text=text detail=detail tone=Tone::Neutral /> }.into_any(),
        OutputKind::ToolError => view! { <Folded name="failed" text=text detail=detail tone=Tone::Bad /> }.into_any(),
        OutputKind::Error => view! { <p class="note" data-tone=Tone::Bad.as_str()>{text}</p> }.into_any(),
        OutputKind::Start | OutputKind::Result | OutputKind::Note => view! { <p class="note">{text}</p> }.into_any(),
    }
}

/// A line about something longer, which is behind it. `name` says what the line is, where its words do not.
#[component]
fn Folded(name: &'static str, text: String, detail: Option<String>, tone: Tone) -> impl IntoView {
    let name = (!name.is_empty()).then(|| view! { <b>{name}</b> });
    match detail {
        Some(detail) => view! {
            <details class="tool" data-tone=tone.as_str()>
                <summary>
                    {name}
                    <span>{text}</span>
                </summary>
                <pre tabindex="0">{detail}</pre>
            </details>
        }
        .into_any(),
        None => view! {
            <p class="tool plain" data-tone=tone.as_str()>
                {name}
                <span>{text}</span>
            </p>
        }
        .into_any(),
    }
}

/// Longer edits begin folded.
const MAX_OPEN_LINES: usize = 12;

#[component]
fn Edit(text: String, changes: String) -> impl IntoView {
    let count = |sign: char| changes.lines().filter(|line| line.starts_with(sign)).count();
    let (added, removed) = (count('+'), count('-'));
    let is_short = changes.lines().count() <= MAX_OPEN_LINES;
    let lines = changes.lines().map(|line| {
        let origin = line.chars().next().filter(|sign| matches!(sign, '+' | '-')).map(String::from);
        view! { <span data-origin=origin>{line.to_owned()}</span> }
    });
    view! {
        <details class="tool edit" data-tone=Tone::Info.as_str() open=is_short>
            <summary>
                <span>{text}</span>
                <span class="added tabular">{format!("+{added}")}</span>
                <span class="removed tabular">{format!("−{removed}")}</span>
            </summary>
            <pre tabindex="0">{lines.collect_view()}</pre>
        </details>
    }
}
