//! The changed lines of a file: unified or side by side, with colours, changed words, notes, and buttons for more context.

use domain::runs::diff::{DiffLine, FileDiff};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::board::review::blocks::{Block, Gap, LinePlace, Row, STEP, fill, place_of, rows};
use crate::components::board::review::comment::{Note, line_name};
use crate::components::board::review::state::Review;
use crate::components::code_line::CodeLine;
use crate::reader::Reader;

/// Lines that are shown by one press at most.
const MAX_LINES: u32 = 500;

#[component]
pub(crate) fn Lines(file: FileDiff) -> impl IntoView {
    let review = Review::from_context();
    let blocks = RwSignal::new(file.hunks.iter().cloned().map(Block::of).collect::<Vec<_>>());
    let total = file.lines;
    let label = format!("Changes of {}", file.path);
    let file = StoredValue::new(FileDiff { hunks: Vec::new(), ..file });
    let notes = Memo::new(move |_| file.with_value(|file| review.notes_of(file)));
    let split = Memo::new(move |_| review.is_split());
    let shown = move || blocks.with(|blocks| notes.with(|notes| rows(blocks, total, split.get(), notes)));
    view! {
        <table class="code-lines" class:split=split aria-label=label>
            // The first row may be one cell, and the columns need their widths.
            {move || if split.get() {
                view! { <colgroup><col class="number" /><col /><col class="number" /><col /></colgroup> }.into_any()
            } else {
                view! { <colgroup><col class="number" /><col class="number" /><col class="sign" /><col /></colgroup> }.into_any()
            }}
            <tbody>
                <For each=shown key=Row::key let:row>
                    {match row {
                        Row::Gap(gap, context) => view! { <GapRow gap=gap context=context file=file blocks=blocks total=total /> }.into_any(),
                        Row::Line(line) => view! { <UnifiedRow line=line file=file /> }.into_any(),
                        Row::Pair(old, new) => view! { <SplitRow old=old new=new file=file /> }.into_any(),
                        Row::Note(place) => view! {
                            <tr class="note-row">
                                <td colspan="4"><Note place=file.with_value(|file| review.place(file, place)) /></td>
                            </tr>
                        }
                        .into_any(),
                    }}
                </For>
            </tbody>
        </table>
    }
}

#[component]
fn UnifiedRow(line: DiffLine, file: StoredValue<FileDiff>) -> impl IntoView {
    let sign = match line.origin {
        '+' => "+",
        '-' => "−",
        _ => "",
    };
    let (place, origin) = (place_of(&line), line.origin.to_string());
    let (old, new) = if line.origin == '-' {
        (view! { <Number number=line.old_line place=place file=file /> }.into_any(), ().into_any())
    } else {
        (line.old_line.into_any(), view! { <Number number=line.new_line place=place file=file /> }.into_any())
    };
    view! {
        <tr data-origin=origin>
            <td class="number">{old}</td>
            <td class="number">{new}</td>
            <td class="sign">{sign}</td>
            <td class="text"><CodeLine line=line /></td>
        </tr>
    }
}

#[component]
fn SplitRow(old: Option<DiffLine>, new: Option<DiffLine>, file: StoredValue<FileDiff>) -> impl IntoView {
    let removed = old.as_ref().filter(|line| line.origin == '-').and_then(place_of);
    let added = new.as_ref().and_then(place_of);
    let origin = |line: &Option<DiffLine>| line.as_ref().map_or_else(|| "none".to_owned(), |line| line.origin.to_string());
    let (old_origin, new_origin) = (origin(&old), origin(&new));
    let old_number = match removed {
        Some(place) => view! { <Number number=old.as_ref().and_then(|line| line.old_line) place=Some(place) file=file /> }.into_any(),
        None => old.as_ref().and_then(|line| line.old_line).into_any(),
    };
    view! {
        <tr>
            <td class="number" data-origin=old_origin.clone()>{old_number}</td>
            <td class="text" data-origin=old_origin>{old.map(|line| view! { <CodeLine line=line /> })}</td>
            <td class="number" data-origin=new_origin.clone()>
                <Number number=new.as_ref().and_then(|line| line.new_line) place=added file=file />
            </td>
            <td class="text" data-origin=new_origin>{new.map(|line| view! { <CodeLine line=line /> })}</td>
        </tr>
    }
}

/// The number of a line, which opens the field for a comment.
#[component]
fn Number(number: Option<u32>, place: Option<LinePlace>, file: StoredValue<FileDiff>) -> impl IntoView {
    let review = Review::from_context();
    let (Some(number), Some(place)) = (number, place) else { return ().into_any() };
    if !Reader::may_write() {
        return number.into_any();
    }
    let place = file.with_value(|file| review.place(file, place));
    view! {
        <button
            type="button"
            class="line-number"
            tabindex="-1"
            data-line=line_name(&place)
            aria-label=format!("Comment on {}", place.label())
            on:click=move |_| review.open_editor(place.clone())
        >
            {number}
        </button>
    }
    .into_any()
}

/// Buttons that show lines between two blocks.
#[component]
fn GapRow(gap: Gap, context: String, file: StoredValue<FileDiff>, blocks: RwSignal<Vec<Block>>, total: Option<u32>) -> impl IntoView {
    let (client, review) = (Client::from_context(), Review::from_context());
    let count = gap.last + 1 - gap.first;
    let show = move |from: u32, to: u32| {
        let (path, head) = (file.with_value(|file| file.path.clone()), review.head.get_untracked());
        client.act(client.review_lines(review.task(), head, path, from, to), move |found| {
            let _page_closed = blocks.try_update(|blocks| fill(blocks, found.lines));
        });
    };
    let button = move |label: String, name: String, from: u32, to: u32| {
        view! { <button type="button" class="button quiet small" aria-label=name on:click=move |_| show(from, to)>{label}</button> }
    };
    let is_last = total.is_some_and(|total| gap.last == total) && blocks.with_untracked(Vec::len) == gap.before;
    let down = (count > STEP && gap.before > 0)
        .then(|| button(format!("↓ {STEP} lines"), format!("Show {STEP} lines from line {}", gap.first), gap.first, gap.first + STEP - 1));
    let up = (count > STEP && !is_last)
        .then(|| button(format!("↑ {STEP} lines"), format!("Show {STEP} lines up to line {}", gap.last), gap.last + 1 - STEP, gap.last));
    let all = (count <= MAX_LINES).then(|| {
        let lines = if count == 1 { "1 line".to_owned() } else { format!("{count} lines") };
        button(format!("Show {lines}"), format!("Show {lines} from line {}", gap.first), gap.first, gap.last)
    });
    view! {
        <tr class="gap-row">
            <td colspan="4">
                <div class="row">
                    {down}
                    {up}
                    {all}
                    <span class="context">{context}</span>
                </div>
            </td>
        </tr>
    }
}
