//! The list of projects.

use domain::board::project::summary::ProjectSummary;
use domain::runs::evidence::short;
use domain::runs::usage::money;
use leptos::prelude::*;

use crate::components::bar::Bar;
use crate::components::board::archive::ArchivedProjects;
use crate::components::board::new_project::NewProjectDialog;
use crate::components::board::report::AbsenceReport;
use crate::components::icon::{Icon, PLUS};
use crate::components::inline_code::sentence;
use crate::components::progress::ProgressBar;
use crate::components::prose::Prose;
use crate::components::runs::pause::PauseAll;
use crate::components::sidebar::{segments, state};
use crate::keys::{Key, listen};
use crate::notifications::tab_title;
use crate::overview::Overview;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route, Section, SettingsTab};
use crate::time::Clock;

/// Characters of the goal of a project.
const GOAL_CHARACTERS: usize = 160;

#[component]
pub(crate) fn ProjectsPage(
    /// Whether the address belongs to no page.
    unknown: bool,
) -> impl IntoView {
    let list = Overview::from_context().projects.watch();
    let creating = RwSignal::new(false);
    let (navigation, may_write) = (Navigation::from_context(), Reader::may_write());
    listen(move |key| match key {
        Key::New if may_write => creating.set(true),
        Key::Settings => navigation.go(Route::Settings { tab: SettingsTab::default() }),
        _ => {}
    });
    tab_title(String::new);

    let content = move || match (list.value.get(), list.failure.get()) {
        (None, Some(what)) => view! {
            <div class="empty" role="alert">
                <h2>"Could not load the projects"</h2>
                <p>{what}</p>
                <button type="button" class="button" on:click=move |_| list.refetch()>"Try again"</button>
            </div>
        }
        .into_any(),
        (None, None) => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        (Some(projects), _) if projects.is_empty() && !may_write => view! {
            <div class="empty">
                <h2>"No projects yet"</h2>
                <p>{READ_ONLY}</p>
            </div>
        }
        .into_any(),
        (Some(projects), _) if projects.is_empty() => view! { <Welcome creating=creating /> }.into_any(),
        (Some(projects), _) => {
            let rows = projects.into_iter().map(|summary| view! { <li><ProjectRow summary=summary /></li> }).collect_view();
            view! { <ul class="projects">{rows}</ul> }.into_any()
        }
    };
    let has_projects = Memo::new(move |_| list.value.with(|projects| projects.as_ref().is_some_and(|projects| !projects.is_empty())));
    view! {
        <Bar title="Projects">
            <div class="bar-tools">
                <Show when=move || may_write && has_projects.get()>
                    <PauseAll />
                    <NewProjectButton creating=creating />
                </Show>
            </div>
        </Bar>
        <main class="scroll">
            <AbsenceReport />
            <div class="page">
                {unknown.then(|| view! {
                    <div class="notice" data-tone="warn" role="status">"This page does not exist. Here are your projects."</div>
                })}
                {content}
                <ArchivedProjects />
            </div>
        </main>
        <Show when=move || creating.get()>
            <NewProjectDialog close=Callback::new(move |()| creating.set(false)) />
        </Show>
    }
}

#[component]
fn ProjectRow(summary: ProjectSummary) -> impl IntoView {
    let (navigation, clock) = (Navigation::from_context(), Clock::from_context());
    let state = state(&summary);
    let ProjectSummary { project, tasks, needs_you, cost_micro_usd, last_event, .. } = summary;
    let route = Route::Board { project: project.id.clone(), task: None };
    let activity = Section::Activity.route(project.id.clone());
    let about = match &project.description {
        Some(goal) => view! { <div class="soft brief"><Prose text=domain::text::excerpt(goal, GOAL_CHARACTERS) /></div> }.into_any(),
        None => view! { <p class="soft">{project.repo_path.clone()}</p> }.into_any(),
    };
    let landed = project.landed.map(|landed| format!("Landed on {} at {}", landed.base_branch, short(&landed.sha)));
    let cost = money(cost_micro_usd);
    view! {
        <div class="project-row">
            <div>
                <h2>
                    <a class="project-open" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{project.title}</a>
                </h2>
                {about}
            </div>
            <div class="tabular">
                <p class="row small-text">
                    <ProgressBar segments=segments(&tasks) wide=true />
                    {format!("{} of {} done", tasks.done, tasks.total)}
                </p>
                <p class="faint small-text">{[Some(state), cost].into_iter().flatten().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ")}</p>
            </div>
            <div class="small-text">
                {last_event.map(|event| view! {
                    <p>
                        <a class="last-event" href=activity.path() on:click=move |event| navigation.follow(&event, activity.clone())>
                            {sentence(&event.sentence)}
                        </a>
                    </p>
                    <p class="faint tabular">{move || clock.ago(event.at)}</p>
                })}
            </div>
            <div class="state">
                {(needs_you > 0).then(|| view! { <span class="badge" data-tone="warn">{format!("{needs_you} {} you", if needs_you == 1 { "needs" } else { "need" })}</span> })}
                {landed.map(|landed| view! { <span class="badge" data-tone="good">{landed}</span> })}
            </div>
        </div>
    }
}

#[component]
fn NewProjectButton(creating: RwSignal<bool>) -> impl IntoView {
    view! {
        <button type="button" class="button primary" on:click=move |_| creating.set(true)>
            <Icon drawing=PLUS />
            "New project"
        </button>
    }
}

/// The page before the first project.
#[component]
fn Welcome(creating: RwSignal<bool>) -> impl IntoView {
    view! {
        <div class="empty">
            <h2>"Create your first project"</h2>
            <p>
                "Name a repository and a goal. A planner breaks the goal into tasks, and coders work on them in parallel, each in its own worktree. "
                "A reviewer checks every change, and approved work is merged into a project branch. Your checkout stays unchanged."
            </p>
            <NewProjectButton creating=creating />
            <p class="small-text keys">"Or press " <kbd>"n"</kbd></p>
        </div>
    }
}
