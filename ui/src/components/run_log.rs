//! The live log of a run: texts in full, tools in one line with a collapsed input.

use domain::id::RunId;
use domain::runs::output::{OutputKind, OutputLine};
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::badge::Tone;
use crate::store::Store;

/// How near to its end, in pixels, a log counts as scrolled to the end.
const NEAR: i32 = 40;

/// The state of reading the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Progress {
    /// The offset of the next request.
    next: u64,
    complete: bool,
    /// Whether a request is in progress.
    reading: bool,
    /// Whether the run was active during the request, so another request follows.
    stale: bool,
}

#[component]
pub(crate) fn RunLog(run: RunId, live: bool) -> impl IntoView {
    let client = Client::from_context();
    let activity = Store::from_context().activity_of(&run);
    // Lines never change, so only their number is a signal.
    let lines = StoredValue::new(Vec::<OutputLine>::new());
    let count = RwSignal::new(0usize);
    let progress = StoredValue::new(Progress::default());
    let loaded = RwSignal::new(false);
    let log = NodeRef::<Div>::new();

    Effect::new(move || {
        // Every activity frame of the run wakes the log, and so does a new connection.
        activity.track();
        let Progress { complete, reading, .. } = progress.get_value();
        if complete || reading {
            progress.update_value(|progress| progress.stale = reading);
            return;
        }
        progress.update_value(|progress| progress.reading = true);
        let run = run.clone();
        spawn_local(async move {
            // A long transcript comes in several pages.
            while let Some(next) = progress.try_get_value().map(|progress| progress.next)
                && let Ok(output) = client.output(&run, next).await
            {
                let at_end = output.complete || output.lines.is_empty();
                let follows = log.try_get_untracked().flatten().is_none_or(|log| is_at_end(&log));
                let known = lines.try_update_value(|lines| {
                    lines.extend(output.lines);
                    lines.len()
                });
                // The log was closed meanwhile.
                let Some(known) = known else { return };
                let _closed = (count.try_set(known), loaded.try_set(true));
                let stale = progress.try_update_value(|progress| {
                    (progress.next, progress.complete) = (output.next, output.complete);
                    std::mem::take(&mut progress.stale)
                });
                if follows {
                    request_animation_frame(move || scroll_to_end(log));
                }
                if at_end && stale != Some(true) {
                    break;
                }
            }
            let _closed = progress.try_update_value(|progress| progress.reading = false);
        });
    });
    let nothing = move || (loaded.get() && count.get() == 0).then_some(if live { "No output yet." } else { "This run had no output." });
    view! {
        <div class="log" node_ref=log role="log" tabindex="0" aria-label="What the agent said and did">
            {move || nothing().map(|words| view! { <p class="note">{words}</p> })}
            <For each=move || 0..count.get() key=|place| *place let:place>
                {lines.with_value(|lines| lines.get(place).cloned()).map(|line| view! { <Entry line=line /> })}
            </For>
        </div>
    }
}

#[component]
fn Entry(line: OutputLine) -> impl IntoView {
    let OutputLine { kind, text, detail, .. } = line;
    match kind {
        OutputKind::Text => view! { <p class="log-text">{text}</p> }.into_any(),
        OutputKind::Thinking => view! { <p class="log-thinking">{text}</p> }.into_any(),
        OutputKind::Message => view! {
            <div class="log-sent">
                <p class="note">"To the agent"</p>
                {match detail {
                    Some(_) => view! { <Folded name="" text=text detail=detail tone=Tone::Neutral /> }.into_any(),
                    None => view! { <p class="log-text">{text}</p> }.into_any(),
                }}
            </div>
        }
        .into_any(),
        OutputKind::ToolUse => view! { <Folded name="" text=text detail=detail tone=Tone::Info /> }.into_any(),
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
                <pre>{detail}</pre>
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

fn is_at_end(log: &HtmlElement) -> bool {
    log.scroll_height() - log.scroll_top() - log.client_height() < NEAR
}

fn scroll_to_end(log: NodeRef<Div>) {
    if let Some(log) = log.try_get_untracked().flatten() {
        log.set_scroll_top(log.scroll_height());
    }
}
