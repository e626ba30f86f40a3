//! The header of a board: title, progress, filter and the actions on the whole project.

use domain::board::project::Project;
use domain::runs::limit::{LimitScope, LimitUse};
use domain::runs::usage::consumption;
use domain::wire::ProjectUsage;
use leptos::html;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::{Badge, Tone, project_badge};
use crate::components::board::edit_project::EditProjectDialog;
use crate::components::board::flow::FlowLine;
use crate::components::board::goal_strip::GoalStrip;
use crate::components::icon::{Icon, PLUS};
use crate::components::inline_code::sentence;
use crate::components::runs::land::Land;
use crate::components::runs::pause::{PauseProject, PausedBadge};
use crate::components::section_nav::MoreSections;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::now;

#[component]
pub(crate) fn ProjectHeader(query: RwSignal<String>, filter: NodeRef<html::Input>, new_task: Callback<()>, help: Callback<()>) -> impl IntoView {
    let (store, may_write) = (Store::from_context(), Reader::may_write());
    // Outside of what each event redraws, so that the dialog keeps the typed text.
    let editing = RwSignal::new(None::<Project>);
    let close = Callback::new(move |()| editing.set(None));
    view! {
        <div class="project-header">
            <div class="row">
                {move || store.project.get().map(|project| view! { <Title project=project /> })}
                <span class="spacer"></span>
                <Progress />
            </div>
            {move || {
                let goal = store.project.with(|project| project.as_ref().and_then(|project| project.description.clone()))?;
                let short = domain::text::excerpt(&goal, 160);
                Some(view! { <p class="goal" title=goal>{short}</p> })
            }}
            <FlowLine />
            <div class="tools">
                {may_write.then(|| view! {
                    <button type="button" class="button primary" on:click=move |_| new_task.run(())>
                        <Icon drawing=PLUS />
                        "New task"
                    </button>
                })}
                <input
                    class="input filter"
                    type="search"
                    placeholder="Filter  /"
                    aria-label="Filter cards"
                    node_ref=filter
                    bind:value=query
                />
                {if may_write {
                    view! { <PauseProject /> <Land /> }.into_any()
                } else {
                    view! { <span class="soft small-text">{READ_ONLY}</span> }.into_any()
                }}
                <span class="spacer"></span>
                {move || store.project.get().map(|project| view! { <Branches project=project editing=editing /> })}
                <MoreSections />
                <button type="button" class="button quiet icon keys" aria-label="Keyboard shortcuts" on:click=move |_| help.run(())>"?"</button>
            </div>
            <GoalStrip query=query />
        </div>
        <BudgetBanner />
        <PlanBanner />
        {move || editing.get().map(|project| view! { <EditProjectDialog project=project close=close /> })}
    }
}

#[component]
fn Title(project: Project) -> impl IntoView {
    let (label, tone) = project_badge(project.status);
    view! {
        <h1>{project.title}</h1>
        <Badge label=label tone=tone />
        {project.paused_at.map(|_| view! { <PausedBadge /> })}
    }
}

/// The repository, the base branch and the project branch, and the button that changes them.
#[component]
fn Branches(project: Project, editing: RwSignal<Option<Project>>) -> impl IntoView {
    let edited = project.clone();
    view! {
        <p class="facts">
            <span class="mono path">{project.repo_path}</span>
            <span class="mono">{format!("{} → {}", project.base_branch, project.integration_branch)}</span>
        </p>
        {Reader::may_write().then(|| view! {
            <button type="button" class="button quiet small" on:click=move |_| editing.set(Some(edited.clone()))>"Edit"</button>
        })}
    }
}

/// The consumption of the project's agents in total, and today in UTC.
fn spent(cost_micro_usd: i64, usage: Option<&ProjectUsage>) -> Vec<String> {
    let day = now().day();
    let today = usage.and_then(|usage| usage.by_day.iter().find(|known| known.day == day));
    let today = today.and_then(|today| consumption(today.sums.cost_micro_usd, today.sums.tokens()));
    let total = consumption(cost_micro_usd, usage.map_or(0, |usage| usage.total.tokens()));
    let today = today.filter(|today| total.as_ref() != Some(today));
    total.into_iter().chain(today.map(|today| format!("{today} today"))).collect()
}

#[component]
fn Progress() -> impl IntoView {
    let totals = Store::from_context().totals;
    let usage = ProjectData::from_context().usage.watch().value;
    let label = move || {
        let totals = totals.get();
        let mut parts = vec![if totals.cards == 0 { "No tasks yet".to_owned() } else { format!("{} of {} done", totals.done, totals.cards) }];
        parts.extend(usage.with(|usage| spent(totals.cost_micro_usd, usage.as_ref())));
        parts.join(" · ")
    };
    let width = move || {
        let totals = totals.get();
        format!("{}%", (100 * totals.done).checked_div(totals.cards).unwrap_or(0))
    };
    view! {
        <span class="row small-text soft tabular">
            {move || {
                let count = totals.with(|totals| totals.needs_you);
                (count > 0).then(|| view! { <Badge label=format!("{count} {} you", if count == 1 { "needs" } else { "need" }) tone=Tone::Warn /> })
            }}
            <span>{label}</span>
            <span class="progress" aria-hidden="true">
                <i data-tone=Tone::Good.as_str() style:width=width></i>
            </span>
        </span>
    }
}

/// The banner about a limit of the project or of the day that is nearly used up or reached.
#[component]
fn BudgetBanner() -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let (usage, may_write) = (ProjectData::from_context().usage.watch().value, Reader::may_write());
    let limits = Memo::new(move |_| {
        let known = usage.with(|usage| usage.as_ref().map(|usage| [usage.budget, usage.today]));
        known.into_iter().flatten().flatten().filter(|limit| limit.is_near() || limit.is_reached()).collect::<Vec<_>>()
    });
    let raise = move |_| {
        if let Some(project) = store.project.with_untracked(|project| project.as_ref().map(|project| project.id.clone())) {
            client.act(client.raise_budget(project), |_| {});
        }
    };
    let banner = move |limit: LimitUse| {
        let can_raise = may_write && limit.scope == LimitScope::Project;
        let heading = if limit.is_reached() { "A limit is reached" } else { "A limit is nearly used up" };
        let rest = match (limit.is_reached(), can_raise) {
            (true, true) => " No agent starts until you raise it.",
            (true, false) => " No agent starts until it is raised on a card.",
            (false, _) => "",
        };
        view! {
            <div class="banner" data-tone="warn" role="status">
                <strong>{heading}</strong>
                <span>{format!("{}{rest}", sentence(&limit.sentence()))}</span>
                {can_raise.then(|| view! { <button type="button" class="button small primary spacer" on:click=raise>"Raise"</button> })}
            </div>
        }
    };
    move || limits.get().into_iter().map(banner).collect_view()
}

/// The banner that links to a plan awaiting approval.
#[component]
fn PlanBanner() -> impl IntoView {
    let (store, navigation) = (Store::from_context(), Navigation::from_context());
    let planned = Memo::new(move |_| store.plan.with(Vec::len));
    let planning = move || matches!(navigation.get(), Route::Plan { .. });
    let (heading, rest, verb) = if Reader::may_write() {
        ("The plan awaits your approval", "Nothing starts until you approve it.", "Review the plan")
    } else {
        ("The plan awaits approval", "Nothing starts until it is approved.", "See the plan")
    };
    let banner = move || {
        let count = planned.get();
        let project = store.project.with(|project| project.as_ref().map(|project| project.id.clone()))?;
        let route = Route::Plan { project };
        (count > 0 && !planning()).then(|| {
            view! {
                <div class="banner" data-tone="warn" role="status">
                    <strong>{heading}</strong>
                    <span>{format!("{count} {}. {rest}", if count == 1 { "task" } else { "tasks" })}</span>
                    <a class="button small primary spacer" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
                        {verb}
                    </a>
                </div>
            }
        })
    };
    view! { {banner} }
}
