//! The contents of a landing: its tasks, commits and files with their combined diff, and the tasks that stay open.

use domain::runs::agent_kind::AgentKind;
use domain::runs::diff::{DiffSize, FileDiff};
use domain::runs::evidence::short;
use domain::runs::land::preview::{LandingCommit, LandingPreview, LandingTask, OpenTask};
use leptos::prelude::*;

use super::check::{counted, squares};
use crate::client::{Client, Failure};
use crate::components::badge::card_state::CardState;
use crate::components::badge::team::reviewer_heading;
use crate::components::badge::{Tone, status_tone};
use crate::components::diff_view::Files;
use crate::components::glyph::{Glyph, StateGlyph};
use crate::components::inline_code::sentence;
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::local_time;

/// With more commits than this, the list starts collapsed.
const MAX_OPEN_COMMITS: usize = 12;

/// `diff` holds whether the combined diff is shown, so that it stays open while the preview changes.
#[component]
pub(crate) fn LandingContents(preview: LandingPreview, diff: RwSignal<bool>) -> impl IntoView {
    let landing = preview.landing.as_ref().map(|landing| landing.id);
    let LandingPreview { change, tasks, open, open_total, .. } = preview;
    view! {
        <LandedTasks tasks=tasks />
        <Commits commits=change.commits total=change.commits_total />
        <ChangedFiles files=change.files size=change.size landing=landing diff=diff />
        {(open_total > 0 && landing.is_none()).then(|| view! { <OpenTasks open=open total=open_total /> })}
    }
}

#[component]
fn LandedTasks(tasks: Vec<LandingTask>) -> impl IntoView {
    let all_reviewed = tasks.iter().all(|task| task.contributors.approved_by.is_some());
    let about = format!("{}{}", tasks.len(), if all_reviewed && !tasks.is_empty() { ", all reviewed" } else { "" });
    let empty = tasks.is_empty().then(|| view! { <p class="soft small-text pad">"No task of the board: the commits came from elsewhere."</p> });
    let rows = tasks.into_iter().map(|task| view! { <LandedTask task=task /> }).collect_view();
    view! {
        <section class="box" aria-label="Tasks">
            <header>
                <h3>"Tasks"</h3>
                <span class="faint">{about}</span>
            </header>
            {empty}
            <ul class="box-list">{rows}</ul>
        </section>
    }
}

#[component]
fn LandedTask(task: LandingTask) -> impl IntoView {
    let (navigation, project) = (Navigation::from_context(), ProjectData::from_context().project());
    let LandingTask { id, title, phase, contributors, commits, .. } = task;
    let reviewer = contributors.approved_by.map(|name| reviewer_heading(&name));
    let commits = match commits {
        Some(count) => counted(usize::try_from(count).unwrap_or(usize::MAX), "commit"),
        None if phase == AgentKind::Coder => String::new(),
        None => "no commits".to_owned(),
    };
    let (name, route) = (id.to_string(), Route::Board { project, task: Some(id) });
    view! {
        <li>
            <StateGlyph glyph=Glyph::Done tone=Tone::Good label="Done" />
            <a class="task-link grow" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{title}</a>
            <span class="faint wide-only">{reviewer}</span>
            <span class="faint tabular wide-only">{commits}</span>
            <span class="faint tabular">{name}</span>
        </li>
    }
}

#[component]
fn Commits(commits: Vec<LandingCommit>, total: u32) -> impl IntoView {
    let hidden = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(commits.len());
    let open = commits.len() <= MAX_OPEN_COMMITS;
    let rows = commits
        .into_iter()
        .map(|commit| {
            let about = format!("{} · {}", commit.author, local_time(commit.at));
            view! {
                <li>
                    <code>{short(&commit.sha).to_owned()}</code>
                    <span class="grow">{commit.subject}</span>
                    <span class="faint tabular wide-only">{about}</span>
                </li>
            }
        })
        .collect_view();
    view! {
        <details class="box" open=open>
            <summary>
                <h3>"Commits"</h3>
                <span class="faint">{total}</span>
            </summary>
            <ul class="box-list">
                {rows}
                {(hidden > 0).then(|| view! { <li class="faint">{format!("and {hidden} older")}</li> })}
            </ul>
        </details>
    }
}

#[component]
fn ChangedFiles(files: Vec<FileDiff>, size: DiffSize, landing: Option<i64>, diff: RwSignal<bool>) -> impl IntoView {
    let total = usize::try_from(size.files).unwrap_or(usize::MAX);
    let hidden = total.saturating_sub(files.len());
    let has_files = !files.is_empty();
    let list = StoredValue::new(files);
    let body = move || {
        if diff.get() {
            return view! { <CombinedDiff landing=landing /> }.into_any();
        }
        let rows = list.get_value().into_iter().map(|file| view! { <ChangedFile file=file /> }).collect_view();
        view! {
            <ul class="box-list">
                {rows}
                {(hidden > 0).then(|| view! { <li class="faint">{format!("and {hidden} more files")}</li> })}
            </ul>
        }
        .into_any()
    };
    view! {
        <section class="box" aria-label="Files">
            <header>
                <h3>"Files"</h3>
                <span class="faint">{total}</span>
                <span class="spacer tabular">
                    <span class="added">{format!("+{}", size.added)}</span>
                    " "
                    <span class="removed">{format!("−{}", size.removed)}</span>
                </span>
                {has_files.then(|| view! {
                    <button
                        type="button"
                        class="button quiet small"
                        aria-expanded=move || diff.get().to_string()
                        on:click=move |_| diff.update(|diff| *diff = !*diff)
                    >
                        {move || if diff.get() { "List the files" } else { "Read the full diff" }}
                    </button>
                })}
            </header>
            {body}
        </section>
    }
}

#[component]
fn ChangedFile(file: FileDiff) -> impl IntoView {
    let (green, red) = squares(file.added, file.removed);
    let squares = (0..green).map(|_| Tone::Good).chain((0..red).map(|_| Tone::Bad));
    let squares = squares.map(|tone| view! { <i data-tone=tone.as_str()></i> }).collect_view();
    let path = match file.old_path {
        Some(old) if old != file.path => format!("{old} → {}", file.path),
        _ => file.path,
    };
    view! {
        <li>
            <code class="grow">{path}</code>
            <span class="tabular">
                <span class="added">{format!("+{}", file.added)}</span>
                " "
                <span class="removed">{format!("−{}", file.removed)}</span>
            </span>
            <span class="squares" aria-hidden="true">{squares}</span>
        </li>
    }
}

/// The combined change, requested when it is opened.
#[component]
fn CombinedDiff(landing: Option<i64>) -> impl IntoView {
    let (client, project) = (Client::from_context(), ProjectData::from_context().project());
    let diff = LocalResource::new(move || {
        let project = project.clone();
        async move { client.landing_diff(project, landing).await }
    });
    move || match diff.get() {
        None => view! { <p class="soft pad" role="status">"Loading…"</p> }.into_any(),
        Some(Ok(diff)) => view! { <div class="box-diff"><Files diff=diff /></div> }.into_any(),
        Some(Err(Failure::Refused(problem))) => view! { <p class="soft pad">{sentence(&problem.detail)}</p> }.into_any(),
        Some(Err(Failure::Unreachable(what))) => view! { <p class="soft pad">{what}</p> }.into_any(),
        Some(Err(Failure::SignedOut)) => ().into_any(),
    }
}

/// The tasks that do not land, each with the reason.
#[component]
fn OpenTasks(open: Vec<OpenTask>, total: u32) -> impl IntoView {
    let (store, navigation, project) = (Store::from_context(), Navigation::from_context(), ProjectData::from_context().project());
    let hidden = usize::try_from(total).unwrap_or(usize::MAX).saturating_sub(open.len());
    let row = |task: OpenTask| {
        let state = store.card_now(&task.id).map(|card| CardState::of(&card));
        let glyph = match state {
            Some(state) => view! { <StateGlyph glyph=state.glyph() tone=state.tone() label=state.label() /> }.into_any(),
            None => view! { <StateGlyph glyph=Glyph::Ring tone=status_tone(task.status) label="Open" /> }.into_any(),
        };
        let route = Route::Board { project: project.clone(), task: Some(task.id.clone()) };
        view! {
            <li>
                {glyph}
                <a class="task-link grow" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{task.title}</a>
                <span class="faint why">{task.why}</span>
                <span class="faint tabular">{task.id.to_string()}</span>
            </li>
        }
    };
    let rows = open.into_iter().map(row).collect_view();
    view! {
        <section class="box" aria-label="Stays open">
            <header>
                <h3>"Stays open"</h3>
                <span class="faint">{if total == 1 { "1 task; it continues and can land later".to_owned() } else { format!("{total} tasks; they continue and can land later") }}</span>
            </header>
            <ul class="box-list">
                {rows}
                {(hidden > 0).then(|| view! { <li class="faint">{format!("and {hidden} more")}</li> })}
            </ul>
        </section>
    }
}
