//! The facts about a task: dependencies, contributors, branch, model and cost.

use domain::board::card::Card;
use domain::runs::publication::task_pull_request::TaskPullRequest;
use domain::text::shell_word;
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::components::badge::status_label;
use crate::components::board::card_facts::card_facts;
use crate::components::board::task_contributors::TaskContributors;
use crate::components::board::task_link::TaskLink;
use crate::components::context::findings_link::FindingsLink;
use crate::components::copy_button::copy;
use crate::components::runs::pull_request::{PullRequestLink, state_label};
use crate::components::toast::Toasts;
use crate::project_data::ProjectData;
use crate::route::Section;
use crate::store::Store;

#[component]
pub(crate) fn TaskDetails(card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let (store, data) = (Store::from_context(), ProjectData::from_context());
    let depends_on = Memo::new(move |_| card.with(|card| card.depends_on.clone()));
    let facts = Memo::new(move |_| card.with(card_facts));
    let pull_request = Memo::new(move |_| card.with(|card| card.pull_request.clone()));
    let fact = move |read: fn(&TaskView) -> Option<String>| Memo::new(move |_| view.with(|view| view.as_ref().and_then(read)));
    let short = |sha: &String| sha.chars().take(12).collect::<String>();
    let rows = [
        ("Branch", fact(|view| view.task.branch.clone())),
        ("Starts from", fact(|view| view.task.from_branch.clone())),
        ("Model", fact(|view| view.task.model.clone())),
        ("Review rounds", fact(|view| (view.task.review_rounds > 0).then(|| view.task.review_rounds.to_string()))),
    ];
    let approved = Memo::new(move |_| card.with(|card| card.approved_sha.as_ref().map(short)));
    let merged = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.task.merged_sha.as_ref().map(short))));
    let dependencies = move || {
        let links = depends_on
            .get()
            .into_iter()
            .map(|id| {
                let status = store.card(&id).map(|card| card.with(|card| format!(" · {}", status_label(card.status))));
                view! {
                    <li>
                        <TaskLink task=id />
                        <span class="faint">{status}</span>
                    </li>
                }
            })
            .collect_view();
        (!depends_on.with(Vec::is_empty)).then(|| {
            view! {
                <dt>"Depends on"</dt>
                <dd><ul>{links}</ul></dd>
            }
        })
    };
    let rows = rows
        .into_iter()
        .chain([("Approved commit", approved), ("Merge commit", merged)])
        .map(|(name, value)| {
            move || {
                value.get().map(|value| {
                    view! {
                        <dt>{name}</dt>
                        <dd class="mono">{value}</dd>
                    }
                })
            }
        })
        .collect_view();
    let task = card.with_untracked(|card| card.id.clone());
    let checkout = fact(|view| view.task.worktree_path.clone());
    view! {
        <dl class="details">
            {dependencies}
            <TaskContributors card=card view=view />
            {rows}
            {move || data.is_used(Section::Context).then(|| view! {
                <dt>"Shared"</dt>
                <dd><FindingsLink task=task.clone() label="Findings around this task" /></dd>
            })}
            {move || checkout.get().map(|folder| view! { <Checkout folder=folder /> })}
            {move || pull_request.get().map(|known| view! { <PullRequest known=known /> })}
            {move || facts.get().into_iter().map(|(name, value)| view! {
                <dt>{name}</dt>
                <dd>{value}</dd>
            }).collect_view()}
        </dl>
    }
}

/// The pull request of a task, as its host last told.
#[component]
fn PullRequest(known: TaskPullRequest) -> impl IntoView {
    view! {
        <dt>"On its host"</dt>
        <dd>
            <PullRequestLink address=known.address />
            " "
            <span class="faint">{state_label(&known.status)}</span>
        </dd>
    }
}

/// The checkout of a task, and commands that open it on the machine of the server.
#[component]
fn Checkout(folder: String) -> impl IntoView {
    let toasts = Toasts::from_context();
    let commands = [("terminal", format!("cd {}", shell_word(&folder))), ("editor", format!("${{EDITOR:-vi}} {}", shell_word(&folder)))];
    let buttons = commands
        .map(|(program, command)| {
            let title = command.clone();
            view! {
                <button type="button" class="button quiet small" title=title on:click=move |_| copy(toasts, command.clone())>
                    {format!("Copy the command for your {program}")}
                </button>
            }
        })
        .collect_view();
    view! {
        <dt>"Checkout"</dt>
        <dd>
            <span class="mono">{folder}</span>
            <span class="row">{buttons}</span>
        </dd>
    }
}
