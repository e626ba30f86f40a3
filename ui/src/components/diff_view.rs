//! The diff of a task: its files and their changed lines.

use domain::id::TaskId;
use domain::runs::diff::{Diff, FileDiff, Hunk};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::{Client, Failure};
use crate::components::badge::change_label;
use crate::components::code_line::CodeLine;
use crate::components::inline_code::{InlineCode, sentence};

/// With more files than this, all start collapsed.
const MAX_OPEN_FILES: usize = 8;
/// A file with more changed lines starts collapsed.
const MAX_OPEN_LINES: u32 = 400;

#[component]
pub(crate) fn Changes(
    task: TaskId,
    /// Changes whenever the diff may have changed.
    #[prop(into)]
    version: Signal<u64>,
    /// The review round whose changes are shown instead of the current ones.
    #[prop(optional)]
    round: Option<Signal<u32>>,
) -> impl IntoView {
    let client = Client::from_context();
    let diff = RwSignal::new(None::<Result<Diff, String>>);
    Effect::new(move || {
        // Read, not only tracked: a memo tracks nothing before its first read.
        version.with(|_| ());
        let (task, round) = (task.clone(), round.map(|round| round.get()));
        spawn_local(async move {
            let found = match round {
                Some(round) => client.review_round_diff(task, round).await,
                None => client.diff(task).await,
            };
            let answer = match found {
                Ok(found) => Ok(found),
                Err(Failure::Refused(problem)) => Err(format!("{} {}", sentence(&problem.detail), sentence(&problem.hint))),
                Err(Failure::Unreachable(what)) => Err(what),
                Err(Failure::SignedOut) => return,
            };
            let _panel_closed = diff.try_set(Some(answer));
        });
    });
    move || match diff.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(Err(why)) => view! { <p class="soft"><InlineCode text=why /></p> }.into_any(),
        Some(Ok(diff)) if diff.files.is_empty() => view! { <p class="soft">"No changes yet."</p> }.into_any(),
        Some(Ok(diff)) => view! { <Files diff=diff /> }.into_any(),
    }
}

/// The files of a diff with their changed lines.
#[component]
pub(crate) fn Files(diff: Diff) -> impl IntoView {
    let (added, removed) = diff.files.iter().fold((0, 0), |(added, removed), file| (added + file.added, removed + file.removed));
    let count = diff.files.len();
    let short = |sha: &str| sha.chars().take(7).collect::<String>();
    let range = format!("{}…{}", short(&diff.base), short(&diff.head));
    let files = diff.files.into_iter().map(|file| view! { <File file=file open=count <= MAX_OPEN_FILES /> }).collect_view();
    view! {
        <p class="row small-text soft tabular">
            <span>{format!("{count} {}", if count == 1 { "file" } else { "files" })}</span>
            <span class="added">{format!("+{added}")}</span>
            <span class="removed">{format!("−{removed}")}</span>
            <span class="mono faint spacer">{range}</span>
        </p>
        {diff.truncated.then(|| view! {
            <p class="notice" data-tone="warn">"The diff is too large to show in full. See the branch for the rest."</p>
        })}
        {files}
    }
}

#[component]
fn File(file: FileDiff, open: bool) -> impl IntoView {
    let open = open && file.added + file.removed <= MAX_OPEN_LINES;
    let path = match &file.old_path {
        Some(old) if *old != file.path => format!("{old} → {}", file.path),
        _ => file.path.clone(),
    };
    let change = change_label(file.change);
    let body = if file.binary {
        view! { <p class="small-text soft pad">"Binary file"</p> }.into_any()
    } else if file.hunks.is_empty() {
        view! { <p class="small-text soft pad">"No changed lines"</p> }.into_any()
    } else {
        view! { <Hunks hunks=file.hunks label=format!("Changes of {path}") /> }.into_any()
    };
    view! {
        <details class="diff-file" open=open>
            <summary>
                <span class="path">{path}</span>
                <span class="faint small-text">{change}</span>
                <span class="spacer"></span>
                {(file.added > 0).then(|| view! { <span class="added tabular">{format!("+{}", file.added)}</span> })}
                {(file.removed > 0).then(|| view! { <span class="removed tabular">{format!("−{}", file.removed)}</span> })}
            </summary>
            {body}
        </details>
    }
}

/// The changed lines of one file.
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
            let (old, new, origin) = (number(line.old_line), number(line.new_line), line.origin);
            view! {
                <tr data-origin=origin.to_string()>
                    <td class="number">{old}</td>
                    <td class="number">{new}</td>
                    <td>{format!("{origin} ")} <CodeLine line=line /></td>
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
