//! A task's change: files, folded when there are many, with their lines.

use domain::id::TaskId;
use domain::runs::diff::{Diff, FileDiff, Hunk};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::badge::change_word;
use crate::components::coded::{Coded, sentence};

/// Up to so many files are open at first, and files up to so many lines.
const OPEN_FILES: usize = 8;
const OPEN_LINES: u32 = 400;

#[component]
pub(crate) fn Changes(
    task: TaskId,
    /// Changes whenever the work may have.
    #[prop(into)]
    version: Signal<u64>,
) -> impl IntoView {
    let client = Client::here();
    let diff = RwSignal::new(None::<Result<Diff, String>>);
    Effect::new(move || {
        // Read and not only tracked: a memo follows nothing before it was read.
        version.with(|_| ());
        let request = client.diff(task.clone());
        spawn_local(async move {
            let answer = match request.await {
                Ok(found) => Ok(found),
                Err(Failure::Refused(problem)) => Err(format!("{} {}", sentence(&problem.detail), sentence(&problem.hint))),
                Err(Failure::Unreachable(what)) => Err(what),
                Err(Failure::SignedOut) => return,
            };
            let _closed_meanwhile = diff.try_set(Some(answer));
        });
    });
    move || match diff.get() {
        None => view! { <p class="soft" role="status">"Reading the change…"</p> }.into_any(),
        Some(Err(why)) => view! { <p class="soft"><Coded text=why /></p> }.into_any(),
        Some(Ok(diff)) if diff.files.is_empty() => view! { <p class="soft">"Nothing was changed yet."</p> }.into_any(),
        Some(Ok(diff)) => view! { <Files diff=diff /> }.into_any(),
    }
}

#[component]
fn Files(diff: Diff) -> impl IntoView {
    let (added, removed) = diff.files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let count = diff.files.len();
    let short = |sha: &str| sha.chars().take(7).collect::<String>();
    let range = format!("{}…{}", short(&diff.base), short(&diff.head));
    let files = diff.files.into_iter().map(|file| view! { <File file=file open=count <= OPEN_FILES /> }).collect_view();
    view! {
        <p class="row small-text soft tabular">
            <span>{format!("{count} {}", if count == 1 { "file" } else { "files" })}</span>
            <span class="plus">{format!("+{added}")}</span>
            <span class="minus">{format!("−{removed}")}</span>
            <span class="mono faint push">{range}</span>
        </p>
        {diff.truncated.then(|| view! {
            <p class="notice" data-tone="warn">"The change is larger than this page shows. Look at the branch for all of it."</p>
        })}
        {files}
    }
}

#[component]
fn File(file: FileDiff, open: bool) -> impl IntoView {
    let open = open && file.added + file.removed <= OPEN_LINES;
    let path = match &file.old_path {
        Some(old) if *old != file.path => format!("{old} → {}", file.path),
        _ => file.path.clone(),
    };
    let word = change_word(file.change);
    let body = if file.binary {
        view! { <p class="small-text soft pad">"A binary file."</p> }.into_any()
    } else if file.hunks.is_empty() {
        view! { <p class="small-text soft pad">"No line was changed."</p> }.into_any()
    } else {
        view! { <Hunks hunks=file.hunks label=format!("Changes of {path}") /> }.into_any()
    };
    view! {
        <details class="diff-file" open=open>
            <summary>
                <span class="path">{path}</span>
                <span class="faint small-text">{word}</span>
                <span class="push"></span>
                {(file.added > 0).then(|| view! { <span class="plus tabular">{format!("+{}", file.added)}</span> })}
                {(file.removed > 0).then(|| view! { <span class="minus tabular">{format!("−{}", file.removed)}</span> })}
            </summary>
            {body}
        </details>
    }
}

/// The changed lines of one text.
#[component]
pub(crate) fn Hunks(hunks: Vec<Hunk>, label: String) -> impl IntoView {
    let hunks = hunks.into_iter().map(|hunk| view! { <Lines hunk=hunk /> }).collect_view();
    view! {
        <div class="diff-scroll" tabindex="0" role="region" aria-label=label>
            <table class="diff-lines">{hunks}</table>
        </div>
    }
}

#[component]
fn Lines(hunk: Hunk) -> impl IntoView {
    let number = |line: Option<u32>| line.map(|line| line.to_string()).unwrap_or_default();
    let rows = hunk
        .lines
        .into_iter()
        .map(|line| {
            view! {
                <tr data-origin=line.origin.to_string()>
                    <td class="number">{number(line.old_line)}</td>
                    <td class="number">{number(line.new_line)}</td>
                    <td>{format!("{} {}", line.origin, line.text.trim_end_matches('\n'))}</td>
                </tr>
            }
        })
        .collect_view();
    view! {
        <tbody>
            <tr class="hunk">
                <td class="number"></td>
                <td class="number"></td>
                <td>{hunk.header}</td>
            </tr>
            {rows}
        </tbody>
    }
}
