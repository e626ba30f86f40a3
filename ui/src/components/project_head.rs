//! The head of a board: what the project is, how far it is, and what can be done with all of it.

use domain::board::project::Project;
use domain::wire::LandingResult;
use leptos::html;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::{Badge, Tone, project_look};
use crate::components::coded::{Coded, sentence};
use crate::components::dialog::Dialog;
use crate::components::goal_strip::GoalStrip;
use crate::components::icon::{BRANCH, Icon, PLUS};
use crate::components::section_nav::MoreSections;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::money;

#[component]
pub(crate) fn ProjectHead(query: RwSignal<String>, filter: NodeRef<html::Input>, new_task: Callback<()>, help: Callback<()>) -> impl IntoView {
    let store = Store::here();
    view! {
        <div class="project-head">
            <div class="row">
                {move || store.project.get().map(|project| view! { <Title project=project /> })}
                <span class="push"></span>
                <Progress />
            </div>
            {move || {
                let goal = store.project.with(|project| project.as_ref().and_then(|project| project.description.clone()))?;
                let short = domain::text::excerpt(&goal, 160);
                Some(view! { <p class="goal" title=goal>{short}</p> })
            }}
            <div class="tools">
                <button type="button" class="button primary" on:click=move |_| new_task.run(())>
                    <Icon drawing=PLUS />
                    "New task"
                </button>
                <input
                    class="input filter"
                    type="search"
                    placeholder="Filter  /"
                    aria-label="Filter the cards"
                    node_ref=filter
                    bind:value=query
                />
                <Land />
                <span class="push"></span>
                {move || store.project.get().map(|project| view! { <Place project=project /> })}
                <MoreSections />
                <button type="button" class="button quiet icon keys" aria-label="Keys" on:click=move |_| help.run(())>"?"</button>
            </div>
            <GoalStrip query=query />
        </div>
        <PlanWaits />
    }
}

#[component]
fn Title(project: Project) -> impl IntoView {
    let (word, tone) = project_look(project.status);
    view! {
        <h1>{project.title}</h1>
        <Badge word=word tone=tone />
    }
}

/// Where the work comes from and where it goes.
#[component]
fn Place(project: Project) -> impl IntoView {
    view! {
        <p class="facts">
            <span class="mono path">{project.repo_path}</span>
            <span class="mono">{format!("{} → {}", project.base_branch, project.integration_branch)}</span>
        </p>
    }
}

#[component]
fn Progress() -> impl IntoView {
    let totals = Store::here().totals;
    let words = move || {
        let totals = totals.get();
        let mut words = vec![if totals.cards == 0 { "No tasks yet".to_owned() } else { format!("{} of {} done", totals.done, totals.cards) }];
        words.extend((totals.running > 0).then(|| format!("{} at work", totals.running)));
        words.extend(money(totals.cost_micro_usd));
        words.join(" · ")
    };
    let part = move || {
        let totals = totals.get();
        format!("{}%", (100 * totals.done).checked_div(totals.cards).unwrap_or(0))
    };
    view! {
        <span class="row small-text soft tabular">
            {move || {
                let count = totals.with(|totals| totals.needs_you);
                (count > 0).then(|| view! { <Badge word=format!("{count} {} you", if count == 1 { "needs" } else { "need" }) tone=Tone::Warn /> })
            }}
            <span>{words}</span>
            <span class="progress" aria-hidden="true">
                <i data-tone=Tone::Good.as_str() style:width=part></i>
            </span>
        </span>
    }
}

/// The way to a plan that waits for the person.
#[component]
fn PlanWaits() -> impl IntoView {
    let (store, navigation) = (Store::here(), Navigation::here());
    let waiting = Memo::new(move |_| store.plan.with(Vec::len));
    let planning = move || matches!(navigation.get(), Route::Plan { .. });
    let banner = move || {
        let count = waiting.get();
        let project = store.project.with(|project| project.as_ref().map(|project| project.id.clone()))?;
        let route = Route::Plan { project };
        (count > 0 && !planning()).then(|| {
            view! {
                <div class="banner" data-tone="warn" role="status">
                    <strong>"The plan waits for you"</strong>
                    <span>{format!("{count} {}. Nothing starts before you say so.", if count == 1 { "task" } else { "tasks" })}</span>
                    <a class="button small primary push" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
                        "Read the plan"
                    </a>
                </div>
            }
        })
    };
    view! { {banner} }
}

/// What became of a landing.
#[derive(Debug, Clone, PartialEq)]
enum Landing {
    Closed,
    Asking,
    Working,
    Done(LandingResult),
}

/// Brings the project branch to the base branch, after a word about what that means.
#[component]
fn Land() -> impl IntoView {
    let (client, store) = (Client::here(), Store::here());
    let landing = RwSignal::new(Landing::Closed);
    // Something was merged that the base branch does not have.
    let fresh = Memo::new(move |_| {
        store.totals.with(|totals| totals.merged > 0)
            && store.project.with(|project| project.as_ref().is_some_and(|project| project.integration_head != project.landed_sha))
    });
    let branches = move || {
        store.project.with_untracked(|project| {
            project.as_ref().map(|project| (project.id.clone(), project.integration_branch.clone(), project.base_branch.clone()))
        })
    };
    let close = Callback::new(move |()| landing.set(Landing::Closed));
    let land = move |_| {
        let Some((project, ..)) = branches() else { return };
        landing.set(Landing::Working);
        client.watch(client.land(project), move |result| match result {
            Ok(landed) => {
                let _page_was_left = landing.try_set(Landing::Done(landed));
            }
            Err(_) => {
                let _page_was_left = landing.try_set(Landing::Closed);
            }
        });
    };
    let dialog = move || {
        let (_, from, to) = branches()?;
        let body = match landing.get() {
            Landing::Closed => return None,
            Landing::Done(landed) => view! {
                <p><Coded text=sentence(&landed.detail) /></p>
                <dl class="details">
                    <dt>"Branch"</dt>
                    <dd class="mono">{landed.base_branch}</dd>
                    <dt>"Now at"</dt>
                    <dd class="mono">{landed.sha}</dd>
                    <dt>"New commits"</dt>
                    <dd>{landed.commits}</dd>
                </dl>
                <footer>
                    <button type="button" class="button primary" on:click=move |_| close.run(())>"Done"</button>
                </footer>
            }
            .into_any(),
            state => view! {
                <p>
                    "Everything merged so far goes from " <span class="mono">{from.clone()}</span> " to "
                    <span class="mono">{to.clone()}</span> ". Files of your own that are not committed stay as they are."
                </p>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Not yet"</button>
                    <button type="button" class="button primary" autofocus disabled=state == Landing::Working on:click=land>
                        {if state == Landing::Working { "Landing…".to_owned() } else { format!("Land on {to}") }}
                    </button>
                </footer>
            }
            .into_any(),
        };
        Some(view! { <Dialog title="Land the work" close=close>{body}</Dialog> })
    };
    view! {
        <Show when=move || fresh.get()>
            <button type="button" class="button" on:click=move |_| landing.set(Landing::Asking)>
                <Icon drawing=BRANCH />
                "Land"
            </button>
        </Show>
        {dialog}
    }
}
