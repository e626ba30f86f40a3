//! The live log of a run. Only the part near the visible one is drawn.

mod entry;
mod window;

use domain::id::RunId;
use domain::runs::output::OutputLine;
use leptos::html::Div;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::HtmlElement;

use crate::client::Client;
use crate::components::run_log::entry::Entry;
use crate::components::run_log::window::Window;
use crate::store::Store;

/// How near to its end, in pixels, a log counts as scrolled to the end.
const NEAR: i32 = 40;
/// Entries that are drawn or removed together, so that a log of hours stays as fast as one of minutes.
const BLOCK_SIZE: usize = 50;
/// The height of an entry that was never drawn, in pixels.
const ESTIMATED_HEIGHT: usize = 26;

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
    let window = StoredValue::new_local(Window::new());
    on_cleanup(move || {
        let _closed = window.try_with_value(Window::close);
    });

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
            <For each=move || 0..count.get().div_ceil(BLOCK_SIZE) key=|index| *index let:index>
                <Block index=index lines=lines count=count window=window log=log />
            </For>
        </div>
    }
}

/// A part of the log. It is drawn while it is near the visible part; the end always is.
#[component]
fn Block(
    index: usize,
    lines: StoredValue<Vec<OutputLine>>,
    count: RwSignal<usize>,
    window: StoredValue<Window, LocalStorage>,
    log: NodeRef<Div>,
) -> impl IntoView {
    let near = window.with_value(|window| window.is_near(index));
    let drawn = Memo::new(move |_| near.get() || (index + 2) * BLOCK_SIZE > count.get());
    let last = Memo::new(move |_| count.get().min((index + 1) * BLOCK_SIZE));
    let block = NodeRef::<Div>::new();
    Effect::new(move || {
        if let (Some(log), Some(block)) = (log.get(), block.get()) {
            window.with_value(|window| window.observe(&log, &block));
        }
    });
    let height = (!drawn.get_untracked()).then(|| format!("{}px", BLOCK_SIZE * ESTIMATED_HEIGHT));
    view! {
        <div class="log-block" data-block=index.to_string() node_ref=block style:min-height=height>
            <Show when=move || drawn.get()>
                <For each=move || index * BLOCK_SIZE..last.get() key=|place| *place let:place>
                    {lines.with_value(|lines| lines.get(place).cloned()).map(|line| view! { <Entry line=line /> })}
                </For>
            </Show>
        </div>
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
