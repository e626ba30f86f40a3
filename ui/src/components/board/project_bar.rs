//! The bar of a project with its sections, filters and the actions on the whole project, and the line with its goal and progress below.

use domain::board::project::{Project, ProjectStatus};
use domain::runs::limit::{LimitScope, LimitUse};
use domain::runs::usage::consumption;
use domain::wire::ProjectUsage;
use leptos::html;
use leptos::prelude::*;

use crate::app::ServerStatus;
use crate::client::Client;
use crate::components::badge::{Badge, project_badge};
use crate::components::bar::Bar;
use crate::components::board::archive::ArchivedBanner;
use crate::components::board::filter_chips::BoardFilterChips;
use crate::components::board::flow::FlowState;
use crate::components::board::goal_strip::GoalStrip;
use crate::components::board::project_menu::ProjectMenu;
use crate::components::board::view_menu::ViewMenu;
use crate::components::icon::{GRAPH, Icon};
use crate::components::inline_code::sentence;
use crate::components::progress::ProgressBar;
use crate::components::prose::Prose;
use crate::components::runs::land::{LandLink, LandedBadge};
use crate::components::runs::pause::{PauseProject, PausedBadge};
use crate::components::section_nav::SectionNav;
use crate::components::theme::DensityButton;
use crate::filter::{Facet, Filter};
use crate::grouping::Grouping;
use crate::lazy::soon;
use crate::overview::Overview;
use crate::parts;
use crate::project_data::ProjectData;
use crate::reader::{READ_ONLY, Reader};
use crate::route::{Navigation, Route};
use crate::store::{Store, Totals};
use crate::time::now;

/// Characters of the goal above the board.
const GOAL_CHARACTERS: usize = 300;

/// The bar of every section of a project.
#[component]
pub(crate) fn ProjectBar(filter: RwSignal<Filter>, words: NodeRef<html::Input>) -> impl IntoView {
    let store = Store::from_context();
    let title =
        Memo::new(move |_| store.project.with(|project| project.as_ref().map_or_else(|| "Project".to_owned(), |project| project.title.clone())));
    view! { <Bar title=title>{soon(move || parts::project_tools(filter, words))}</Bar> }
}

/// The sections of a project, and the tools of the board while it is shown.
#[component]
pub(crate) fn ProjectTools(filter: RwSignal<Filter>, words: NodeRef<html::Input>) -> impl IntoView {
    let (store, navigation, may_write) = (Store::from_context(), Navigation::from_context(), Reader::may_write());
    let data = ProjectData::from_context();
    let loaded = Memo::new(move |_| store.project.with(Option::is_some));
    let is_board = Memo::new(move |_| navigation.get().is_board());
    let on_board = move || loaded.get() && is_board.get();
    view! {
        <Show when=move || loaded.get()>
            <SectionNav />
        </Show>
        <div class="bar-tools">
            <Show when=on_board>
                <Facets filter=filter />
                <FilterField filter=filter words=words />
                <ViewMenu filter=filter board=data.project().to_string() groupings=&[Grouping::Goal, Grouping::Plan] />
                <GraphLink />
                <DensityButton />
                <span class="separator"></span>
                <Slots />
                {may_write.then(|| view! { <PauseProject /> })}
                <LandLink />
            </Show>
            <Show when=move || loaded.get()>
                <ProjectMenu />
            </Show>
        </div>
    }
}

/// The field for the words of the filter.
#[component]
pub(crate) fn FilterField(filter: RwSignal<Filter>, words: NodeRef<html::Input>) -> impl IntoView {
    view! {
        <input
            class="input filter"
            type="search"
            placeholder="Filter  F"
            aria-label="Filter cards"
            node_ref=words
            prop:value=move || filter.with(|filter| filter.words.clone())
            on:input:target=move |event| filter.update(|filter| filter.words = event.target().value())
        />
    }
}

/// The buttons that show only some cards, each with its number.
#[component]
pub(crate) fn Facets(filter: RwSignal<Filter>) -> impl IntoView {
    let store = Store::from_context();
    let counts = Memo::new(move |_| store.follow_cards(|cards| Facet::ALL.map(|facet| cards.iter().filter(|card| facet.accepts(card)).count())));
    Facet::ALL
        .into_iter()
        .enumerate()
        .map(|(index, facet)| {
            let chosen = Memo::new(move |_| filter.with(|filter| filter.facet == Some(facet)));
            let toggle = move |_| filter.update(|filter| filter.facet = if filter.facet == Some(facet) { None } else { Some(facet) });
            view! {
                <Show when=move || counts.with(|counts| counts[index] > 0) || chosen.get()>
                    <button type="button" class="chip" aria-pressed=move || chosen.get().to_string() on:click=toggle>
                        {facet.label()}
                        <b>{move || counts.with(|counts| counts[index])}</b>
                    </button>
                </Show>
            }
        })
        .collect_view()
}

/// The link to the graph, once any task waits for another one.
#[component]
fn GraphLink() -> impl IntoView {
    let (store, navigation, data) = (Store::from_context(), Navigation::from_context(), ProjectData::from_context());
    let has_dependencies =
        Memo::new(move |_| store.follow_cards(|cards| cards.iter().any(|card| card.status.is_open() && !card.depends_on.is_empty())));
    let route = StoredValue::new(Route::Graph { project: data.project() });
    view! {
        <Show when=move || has_dependencies.get()>
            <a
                class="button quiet icon"
                href=route.with_value(Route::path)
                aria-label="Show as a graph"
                title="Show as a graph"
                on:click=move |event| navigation.follow(&event, route.get_value())
            >
                <Icon drawing=GRAPH />
            </a>
        </Show>
    }
}

/// How many of the agents that may work at once are at work.
#[component]
fn Slots() -> impl IntoView {
    let (status, overview) = (ServerStatus::from_context(), Overview::from_context());
    let text = move || {
        let most = status.server.with(|server| server.as_ref().map(|server| server.runner.max_agents));
        Some(format!("{} of {} agents", overview.agents_at_work()?, most?))
    };
    view! { <span class="slots">{text}</span> }
}

/// The line below the bar, and the banners about what the project waits for.
#[component]
pub(crate) fn ProjectLine(filter: RwSignal<Filter>) -> impl IntoView {
    view! {
        <div class="goal-line">{soon(move || parts::project_state(filter))}</div>
        {soon(move || parts::project_banners(filter))}
    }
}

/// The content of the line: the goal or the filter, and the state of the project.
#[component]
pub(crate) fn ProjectState(filter: RwSignal<Filter>) -> impl IntoView {
    let data = ProjectData::from_context();
    let is_filtered = Memo::new(move |_| filter.with(|filter| !filter.parts().is_empty()));
    view! {
        {move || match is_filtered.get() {
            true => view! { <BoardFilterChips filter=filter data=Some(data) /> }.into_any(),
            false => view! { <Goal /> }.into_any(),
        }}
        {(!Reader::may_write()).then_some(READ_ONLY)}
        <Condition />
        <FlowState />
        <Progress />
    }
}

/// The goals of the project, and the banners.
#[component]
pub(crate) fn ProjectBanners(filter: RwSignal<Filter>) -> impl IntoView {
    view! {
        <GoalStrip filter=filter />
        <ArchivedBanner />
        <BudgetBanner />
        <PlanBanner />
    }
}

/// Whether the project is complete or paused.
#[component]
fn Condition() -> impl IntoView {
    let (store, data) = (Store::from_context(), ProjectData::from_context());
    let condition = Memo::new(move |_| {
        store.project.with(|project| project.as_ref().map(|project| (project.status, project.paused_at.is_some(), project.landed.clone())))
    });
    move || {
        let (status, paused, landed) = condition.get()?;
        let complete = (status == ProjectStatus::Complete).then(|| {
            let (label, tone) = project_badge(status);
            view! { <Badge label=label tone=tone /> }
        });
        let project = data.project();
        let landed = landed.map(|landed| view! { <LandedBadge project=project landing=landed /> });
        Some(view! {
            {landed}
            {complete}
            {paused.then(|| view! { <PausedBadge /> })}
        })
    }
}

/// The goal of the project, or its repository if it has none.
#[component]
fn Goal() -> impl IntoView {
    let store = Store::from_context();
    let goal = Memo::new(move |_| {
        store.project.with(|project| project.as_ref()?.description.as_deref().map(|goal| domain::text::excerpt(goal, GOAL_CHARACTERS)))
    });
    let repository = Memo::new(move |_| {
        let branches = |project: &Project| format!("{} · {} → {}", project.repo_path, project.base_branch, project.integration_branch);
        store.project.with(|project| project.as_ref().map(branches).unwrap_or_default())
    });
    move || match goal.get() {
        Some(goal) => {
            let title = goal.clone();
            view! { <div class="goal brief" title=title><Prose text=goal /></div> }.into_any()
        }
        None => view! { <p class="goal" title=repository>{repository}</p> }.into_any(),
    }
}

/// The consumption of the project's agents in total, and on the day of the server, which is in UTC.
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
    let store = Store::from_context();
    let totals = store.totals;
    let usage = ProjectData::from_context().usage.watch().value;
    let label = move || {
        let totals = totals.get();
        let mut parts = vec![if totals.cards == 0 { "No tasks yet".to_owned() } else { format!("{} of {} done", totals.done, totals.cards) }];
        parts.extend(usage.with(|usage| spent(totals.cost_micro_usd, usage.as_ref())));
        parts.join(" · ")
    };
    view! {
        <ProgressBar segments=Signal::derive(move || totals.with(Totals::segments)) wide=true />
        <span class="tabular done">{label}</span>
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
    let (heading, rest, verb) = if Reader::may_write() {
        ("The plan awaits your approval", "Nothing starts until you approve it.", "Review the plan")
    } else {
        ("The plan awaits approval", "Nothing starts until it is approved.", "See the plan")
    };
    let banner = move || {
        let count = planned.get();
        let project = store.project.with(|project| project.as_ref().map(|project| project.id.clone()))?;
        let route = Route::Plan { project };
        (count > 0).then(|| {
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
