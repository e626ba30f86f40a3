//! The review of a task on a full page: files, changes, the reviewer's verdict, and the decision.
//!
//! Must not know how lines are drawn.

use domain::board::review::Decisions;
use domain::id::TaskId;
use domain::runs::diff::{Conflict, Diff, DiffSize, FileDiff};
use domain::runs::evidence::short;
use domain::wire::ReviewView;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use web_sys::HtmlElement;

use crate::client::{Client, Failure};
use crate::components::bar::Bar;
use crate::components::board::review::conflict::Conflicts;
use crate::components::board::review::decision::DecisionBar;
use crate::components::board::review::file::{FileBox, first_open, focus_file};
use crate::components::board::review::state::Review;
use crate::components::board::review::tree::FileTree;
use crate::components::board::review::verdict::Beside;
use crate::components::dialog::focused;
use crate::components::inline_code::{InlineCode, sentence};
use crate::keys::{ReviewKey, listen_in_review};
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::store::Store;

/// The answer to a request, or the reason why there is none.
type Answer<T> = RwSignal<Option<Result<T, String>>>;

#[component]
pub(crate) fn ReviewPage(task: TaskId) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let review = Review::provide(task.clone());
    let page = RwSignal::new(None::<Result<ReviewView, String>>);
    let diff = RwSignal::new(None::<Result<Diff, String>>);
    // Requests the page again when the card changes.
    let card = store.card(&task);
    let changed = Memo::new(move |_| card.as_ref().map(|card| card.with(|card| (card.updated_at, card.comments, card.run.is_some()))));
    let again = RwSignal::new(0_u32);
    let shown_task = task.clone();
    Effect::new(move || {
        // A memo follows the card only once it is read.
        let _version = changed.get();
        again.track();
        let request = client.review(shown_task.clone());
        spawn_local(async move {
            let found = answered(request.await);
            if let Some(found) = found.filter(|_| !page.is_disposed()) {
                page.set(Some(found));
            }
        });
    });
    let reload = RwSignal::new(0_u32);
    let diff_task = task.clone();
    Effect::new(move || {
        reload.track();
        let request = client.review_diff(diff_task.clone(), review.since.get());
        spawn_local(async move {
            let found = answered(request.await);
            if let Some(found) = found.filter(|_| !diff.is_disposed()) {
                if let Ok(diff) = &found {
                    review.head.set(diff.head.clone());
                }
                diff.set(Some(found));
            }
        });
    });

    let home = Route::Board { project, task: Some(task.clone()) };
    let back = home.clone();
    listen_in_review(move |key| match key {
        ReviewKey::Next => step(1),
        ReviewKey::Previous => step(-1),
        ReviewKey::Comment => comment_here(),
        ReviewKey::Viewed => press_in_file("input[type=checkbox]"),
        ReviewKey::LineDown => step_line(1),
        ReviewKey::LineUp => step_line(-1),
        ReviewKey::Close => navigation.go(back.clone()),
    });

    let title = Memo::new(move |_| loaded(page, |page| page.title.clone()).unwrap_or_default());
    let decisions = Memo::new(move |_| {
        let none = Decisions { approve: false, send_back: false, why_not: None };
        loaded(page, |page| page.decisions.clone()).unwrap_or(none)
    });
    let paths = Memo::new(move |_| loaded(diff, |diff| diff.files.iter().map(|file| file.path.clone()).collect::<Vec<_>>()).unwrap_or_default());
    let has_files = Memo::new(move |_| paths.with(|paths| !paths.is_empty()));
    // A newer commit is offered, because the reader is in the middle of this one.
    let newer = Memo::new(move |_| {
        let head = loaded(page, |page| page.head.clone())??;
        review.head.with(|shown| is_newer(&head, shown)).then_some(head)
    });
    let conflicts = Memo::new(move |_| loaded(page, |page| page.conflicts.clone()).unwrap_or_default());
    let task_name = task.to_string();
    let back_link = home.path();
    view! {
        <Bar title=title>
            <a class="faint" href=back_link on:click=move |event| navigation.follow(&event, home.clone())>{task_name}</a>
            <div class="bar-tools">
                <Size diff=diff />
                <Range page=page />
                <Layout />
            </div>
        </Bar>
        {move || newer.get().map(|head| view! {
            <section class="banner" data-tone="warn" aria-label="Newer version">
                <strong role="status">{format!("A newer version is available: {}.", short(&head))}</strong>
                <button type="button" class="button small" on:click=move |_| reload.update(|count| *count += 1)>"Show it"</button>
            </section>
        })}
        {move || {
            conflicts.with(|conflicts| conflicting(conflicts)).map(|paths| view! {
                <section class="banner" data-tone="bad" aria-label="Conflicts">
                    <strong>"Conflicts with merged work:"</strong>
                    <span>{paths}</span>
                    <span>"The coder has to resolve them before the work can be merged."</span>
                </section>
            })
        }}
        <main class="review" data-empty=move || (!has_files.get()).then_some("")>
            <Show when=move || has_files.get()>
                <nav class="review-files" aria-label="Changed files">{move || loaded(diff, |diff| diff.files.clone()).map(|files| view! { <Tree files=files /> })}</nav>
            </Show>
            <div class="review-changes" tabindex="0" role="region" aria-label="Changes">
                {move || view! { <Conflicts conflicts=conflicts.get() /> }}
                {move || match diff.get() {
                    None => view! { <p class="soft" role="status">"Loading the changes…"</p> }.into_any(),
                    Some(Err(why)) => view! { <p class="empty soft"><InlineCode text=why /></p> }.into_any(),
                    Some(Ok(diff)) if diff.files.is_empty() => view! { <p class="empty soft">"There are no changes."</p> }.into_any(),
                    Some(Ok(diff)) => view! { <Files diff=diff /> }.into_any(),
                }}
            </div>
            <aside class="review-beside" tabindex="0" aria-label="About the review">
                {move || match page.get() {
                    None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
                    Some(Err(why)) => view! { <p class="notice" data-tone="bad" role="alert"><InlineCode text=why /></p> }.into_any(),
                    Some(Ok(view)) => view! { <Beside view=view /> }.into_any(),
                }}
            </aside>
        </main>
        <DecisionBar decisions=decisions paths=paths outdated=Callback::new(move |()| again.update(|count| *count += 1)) />
    }
}

/// Whether `head` is another commit than the shown one, which is empty until the changes are loaded.
fn is_newer(head: &str, shown: &str) -> bool {
    !shown.is_empty() && shown != head
}

/// The files with conflicts, if there are any.
fn conflicting(conflicts: &[Conflict]) -> Option<String> {
    let paths: Vec<&str> = conflicts.iter().map(|conflict| conflict.path.as_str()).collect();
    (!paths.is_empty()).then(|| paths.join(", "))
}

/// An answer, or why there is none; nothing if the reader has to sign in first.
fn answered<T>(result: Result<T, Failure>) -> Option<Result<T, String>> {
    match result {
        Ok(found) => Some(Ok(found)),
        Err(Failure::Refused(problem)) => Some(Err(format!("{} {}", sentence(&problem.detail), sentence(&problem.hint)))),
        Err(Failure::Unreachable(what)) => Some(Err(what)),
        Err(Failure::SignedOut) => None,
    }
}

/// Reads an answer that arrived.
fn loaded<T: Send + Sync + 'static, R>(answer: Answer<T>, read: impl FnOnce(&T) -> R) -> Option<R> {
    answer.with(|answer| answer.as_ref()?.as_ref().ok().map(read))
}

/// The list of files, which a phone folds.
#[component]
fn Tree(files: Vec<FileDiff>) -> impl IntoView {
    let is_wide = window().match_media("(width >= 62rem)").ok().flatten().is_none_or(|query| query.matches());
    let count = files.len();
    view! {
        <details open=is_wide>
            <summary>{format!("{count} {}", if count == 1 { "file" } else { "files" })}</summary>
            <FileTree files=files />
        </details>
    }
}

#[component]
fn Files(diff: Diff) -> impl IntoView {
    let open = first_open(&diff.files);
    let files = diff.files.into_iter().zip(open).enumerate();
    view! {
        {diff.truncated.then(|| view! { <p class="notice" data-tone="warn">"There are more changes than fit on this page. See the branch for the rest."</p> })}
        {files.map(|(index, (file, open))| view! { <FileBox index=index file=file open=open /> }).collect_view()}
    }
}

#[component]
fn Size(diff: Answer<Diff>) -> impl IntoView {
    let size = move || {
        loaded(diff, |diff| {
            let sum = |number: fn(&FileDiff) -> u32| diff.files.iter().map(number).sum();
            let files = u32::try_from(diff.files.len()).unwrap_or(u32::MAX);
            DiffSize { files, added: sum(|file| file.added), removed: sum(|file| file.removed) }
        })
    };
    move || size().map(|size| view! { <span class="soft small-text tabular review-size">{size.sentence()}</span> })
}

/// The choice between all changes and those since an earlier review.
#[component]
fn Range(page: Answer<ReviewView>) -> impl IntoView {
    let review = Review::from_context();
    let rounds = Memo::new(move |_| {
        let (head, rounds) = loaded(page, |page| (page.head.clone(), page.rounds.clone())).unwrap_or_default();
        rounds.into_iter().filter(|round| Some(&round.sha) != head.as_ref()).map(|round| round.number).collect::<Vec<_>>()
    });
    let option = move |number: u32, last: u32| {
        let label = if number == last { "Since the last review".to_owned() } else { format!("Since round {number}") };
        view! { <option value=number.to_string() selected=move || review.since.get() == Some(number)>{label}</option> }
    };
    move || {
        let numbers = rounds.get();
        let last = *numbers.last()?;
        Some(view! {
            <select class="input review-range" aria-label="Shown changes" on:change:target=move |event| review.since.set(event.target().value().parse().ok())>
                <option value="" selected=move || review.since.get().is_none()>"All changes"</option>
                {numbers.iter().rev().map(|number| option(*number, last)).collect_view()}
            </select>
        })
    }
}

/// The switch between both layouts.
#[component]
fn Layout() -> impl IntoView {
    let review = Review::from_context();
    let button = move |label: &'static str, split: bool| {
        view! {
            <button type="button" aria-pressed=move || (review.is_split() == split).to_string() on:click=move |_| review.set_split(split)>
                {label}
            </button>
        }
    };
    view! { <div class="segment review-layout" role="group" aria-label="Layout">{button("Unified", false)}{button("Split", true)}</div> }
}

fn elements(selector: &str) -> Vec<HtmlElement> {
    let Ok(found) = document().query_selector_all(selector) else { return Vec::new() };
    (0..found.length()).filter_map(|index| found.item(index)?.dyn_into().ok()).collect()
}

/// The index of the file with the focus.
fn current_file(files: &[HtmlElement]) -> Option<usize> {
    let focused = focused()?;
    files.iter().position(|file| file.contains(Some(&focused)))
}

/// Goes to the next or previous file.
fn step(by: isize) {
    let files = elements(".file-box");
    let next = current_file(&files).map_or(Some(0), |index| index.checked_add_signed(by));
    if let Some(next) = next.filter(|next| *next < files.len()) {
        let _found = focus_file(next);
    }
}

/// Presses a control of the file with the focus, or of the first one.
fn press_in_file(selector: &str) {
    let files = elements(".file-box");
    let file = files.get(current_file(&files).unwrap_or_default());
    if let Some(control) = file.and_then(|file| file.query_selector(selector).ok()?).and_then(|control| control.dyn_into::<HtmlElement>().ok()) {
        control.click();
    }
}

/// Opens the field for a comment on the focused line, or on the first changed one of the file.
fn comment_here() {
    match focused().filter(|focused| focused.has_attribute("data-line")) {
        Some(line) => line.click(),
        None => press_in_file("[data-origin='+'] [data-line], [data-origin='-'] [data-line]"),
    }
}

/// Goes to the next or previous line of the file with the focus.
fn step_line(by: isize) {
    let lines = elements(".file-box [data-line]");
    let focused = focused();
    let current = lines.iter().position(|line| Some(line) == focused.as_ref());
    let first = || {
        let file = focused.as_ref().and_then(|focused| focused.closest(".file-box").ok()?);
        lines.iter().position(|line| file.as_ref().is_none_or(|file| file.contains(Some(line))))
    };
    let next = current.map_or_else(first, |index| index.checked_add_signed(by));
    if let Some(line) = next.and_then(|next| lines.get(next)) {
        let _focused = line.focus();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn banner_says_that_a_newer_version_is_there() {
        assert!(is_newer("def", "abc"));
        assert!(!is_newer("abc", "abc") && !is_newer("abc", ""), "nothing is shown yet");
    }

    #[test]
    fn banner_names_the_files_with_conflicts() {
        let conflict = |path: &str| Conflict { path: path.to_owned(), hunks: Vec::new(), why: None };
        assert_eq!(conflicting(&[conflict("a.rs"), conflict("b.rs")]).as_deref(), Some("a.rs, b.rs"));
        assert_eq!(conflicting(&[]), None);
    }
}
