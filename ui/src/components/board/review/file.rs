//! One changed file: its name and size, the viewed mark, and its lines or images. Large files are requested when they are opened.

use domain::board::review::Side;
use domain::runs::diff::{FileChange, FileDiff, image_type};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::client::{Client, FileCopy};
use crate::components::badge::change_label;
use crate::components::board::review::lines::Lines;
use crate::components::board::review::state::Review;
use crate::components::icon::{CHEVRON, Icon};

/// Lines of the first files, which are open.
const MAX_OPEN_LINES: usize = 1_200;

/// Which files are open at first: until together they have more lines than a reader wants to draw.
pub(crate) fn first_open(files: &[FileDiff]) -> Vec<bool> {
    let mut lines = 0;
    let open = |file: &FileDiff| {
        lines += file.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>();
        !file.folded && lines <= MAX_OPEN_LINES
    };
    files.iter().map(open).collect()
}

/// The id of a file in the page.
fn element_id(index: usize) -> String {
    format!("file-{index}")
}

/// Scrolls to a file and focuses its button.
pub(crate) fn focus_file(index: usize) -> Option<HtmlElement> {
    let file = document().get_element_by_id(&element_id(index))?;
    let toggle = file.query_selector(".file-toggle").ok().flatten()?.dyn_into::<HtmlElement>().ok()?;
    file.scroll_into_view();
    let _focused = toggle.focus();
    Some(toggle)
}

/// Opens a file and goes to it.
pub(crate) fn open_file(index: usize) {
    let Some(toggle) = focus_file(index) else { return };
    if toggle.get_attribute("aria-expanded").as_deref() == Some("false") {
        toggle.click();
    }
}

#[component]
pub(crate) fn FileBox(index: usize, file: FileDiff, open: bool) -> impl IntoView {
    let (client, review) = (Client::from_context(), Review::from_context());
    let path = StoredValue::new(file.path.clone());
    let viewed = Memo::new(move |_| path.with_value(|path| review.is_viewed(path)));
    let open = RwSignal::new(open && !viewed.get_untracked());
    let name = match &file.old_path {
        Some(old) if *old != file.path => format!("{old} → {}", file.path),
        _ => file.path.clone(),
    };
    let (added, removed, change) = (file.added, file.removed, file.change);
    let loaded = RwSignal::new(Some(file.clone()).filter(|file| !file.folded));
    let file = StoredValue::new(file);
    let load = move || {
        if loaded.with_untracked(Option::is_none) {
            let request = file.with_value(|file| {
                let (head, since) = (review.head.get_untracked(), review.since.get_untracked());
                let file = file.clone();
                async move { client.review_file(review.task(), head, since, &file).await }
            });
            client.act(request, move |file| {
                let _page_closed = loaded.try_set(Some(file));
            });
        }
    };
    Effect::new(move || {
        if open.get() {
            load();
        }
    });
    let label = name.clone();
    let view_label = format!("Viewed: {name}");
    view! {
        <section class="file-box" id=element_id(index) aria-label=label data-open=move || open.get().then_some("")>
            <header>
                <button
                    type="button"
                    class="file-toggle"
                    aria-expanded=move || open.get().to_string()
                    on:click=move |_| open.update(|open| *open = !*open)
                >
                    <Icon drawing=CHEVRON />
                    <span class="path">{name}</span>
                </button>
                <span class="faint small-text">{(change != FileChange::Modified).then(|| change_label(change))}</span>
                <span class="size tabular small-text">
                    <span class="added">{format!("+{added}")}</span>
                    " "
                    <span class="removed">{format!("−{removed}")}</span>
                </span>
                <label class="viewed-mark">
                    <input
                        type="checkbox"
                        aria-label=view_label
                        prop:checked=viewed
                        on:change:target=move |event| {
                            let is_viewed = event.target().checked();
                            path.with_value(|path| review.set_viewed(path, is_viewed));
                            open.set(!is_viewed);
                        }
                    />
                    <span aria-hidden="true">"Viewed"</span>
                </label>
            </header>
            <Show when=move || open.get()>
                {move || match loaded.get() {
                    None => view! { <p class="soft pad" role="status">"Loading a large file…"</p> }.into_any(),
                    Some(file) => view! { <Content file=file /> }.into_any(),
                }}
            </Show>
        </section>
    }
}

/// The lines of a file, both versions of an image, or why there is nothing to see.
#[component]
fn Content(file: FileDiff) -> impl IntoView {
    if !file.hunks.is_empty() {
        return view! { <Lines file=file /> }.into_any();
    }
    if file.binary && image_type(&file.path).is_some() {
        return view! { <Images file=file /> }.into_any();
    }
    let why = if file.binary {
        "This file is binary or larger than 2 MiB."
    } else if file.change == FileChange::Renamed {
        "Renamed without a change."
    } else {
        "No line changed."
    };
    view! { <p class="soft pad">{why}</p> }.into_any()
}

#[component]
fn Images(file: FileDiff) -> impl IntoView {
    let (client, review) = (Client::from_context(), Review::from_context());
    let image = |side: Side, path: &str, label: &'static str| {
        let copy = RwSignal::new(None::<FileCopy>);
        let request = client.image(review.task(), review.head.get_untracked(), review.since.get_untracked(), path.to_owned(), side);
        client.act(request, move |image| {
            let _page_closed = copy.try_set(Some(image));
        });
        let address = move || copy.with(|copy| copy.as_ref().map(FileCopy::address));
        view! {
            <figure>
                <figcaption class="soft small-text">{label}</figcaption>
                <img src=address alt=format!("{label}: {path}") />
            </figure>
        }
    };
    let old_path = file.old_path.clone().unwrap_or_else(|| file.path.clone());
    view! {
        <div class="images">
            {(file.change != FileChange::Added).then(|| image(Side::Old, &old_path, "Before"))}
            {(file.change != FileChange::Removed).then(|| image(Side::New, &file.path, "After"))}
        </div>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::runs::diff::{DiffLine, Hunk};

    use super::*;

    fn file(lines: usize, folded: bool) -> FileDiff {
        let line = DiffLine::plain('+', None, Some(1), String::new());
        let hunks = if folded { Vec::new() } else { vec![Hunk { header: String::new(), lines: vec![line; lines] }] };
        let added = u32::try_from(lines).unwrap();
        FileDiff { path: "a".to_owned(), old_path: None, change: FileChange::Added, added, removed: 0, binary: false, lines: None, folded, hunks }
    }

    #[test]
    fn first_files_are_open_until_there_is_enough_to_read() {
        let files = [file(600, false), file(5_000, true), file(500, false), file(200, false), file(1, false)];
        assert_eq!(first_open(&files), [true, false, true, false, false]);
        assert_eq!(first_open(&[]), [false; 0]);
    }
}
