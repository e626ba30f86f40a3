//! The facts about a task: dependencies, who had a hand in it, branch, model, cost.

use domain::board::card::Card;
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::components::badge::status_word;
use crate::components::task_hands::TaskHands;
use crate::route::{Navigation, Route};
use crate::store::Store;
use crate::time::money;

#[component]
pub(crate) fn TaskDetails(card: Signal<Card>, view: RwSignal<Option<TaskView>>) -> impl IntoView {
    let (store, navigation) = (Store::here(), Navigation::here());
    let waits = Memo::new(move |_| card.with(|card| card.depends_on.clone()));
    let cost = Memo::new(move |_| card.with(|card| money(card.cost_micro_usd)));
    let known = move |read: fn(&TaskView) -> Option<String>| Memo::new(move |_| view.with(|view| view.as_ref().and_then(read)));
    let short = |sha: &String| sha.chars().take(12).collect::<String>();
    let rows = [
        ("Branch", known(|view| view.task.branch.clone())),
        ("Checkout", known(|view| view.task.worktree_path.clone())),
        ("Model", known(|view| view.task.model.clone())),
        (
            "Sent back",
            known(|view| {
                (view.task.review_rounds > 0).then(|| match view.task.review_rounds {
                    1 => "once".to_owned(),
                    rounds => format!("{rounds} times"),
                })
            }),
        ),
    ];
    let approved = Memo::new(move |_| card.with(|card| card.approved_sha.as_ref().map(short)));
    let merged = Memo::new(move |_| view.with(|view| view.as_ref().and_then(|view| view.task.merged_sha.as_ref().map(short))));
    let dependencies = move || {
        let links = waits
            .get()
            .into_iter()
            .map(|id| {
                let other = store.card(&id)?;
                let (project, title, status) = other.with(|other| (other.project_id.clone(), other.title.clone(), other.status));
                let route = Route::Board { project, task: Some(id.clone()) };
                Some(view! {
                    <li>
                        <a href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>
                            <span class="mono">{id.to_string()}</span>
                            " "
                            {title}
                        </a>
                        <span class="faint">{format!(" · {}", status_word(status))}</span>
                    </li>
                })
            })
            .collect_view();
        (!waits.with(Vec::is_empty)).then(|| {
            view! {
                <dt>"Waits for"</dt>
                <dd><ul>{links}</ul></dd>
            }
        })
    };
    let rows = rows
        .into_iter()
        .chain([("Approved", approved), ("Merged as", merged)])
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
    view! {
        <dl class="details">
            {dependencies}
            <TaskHands card=card view=view />
            {rows}
            {move || cost.get().map(|cost| view! {
                <dt>"Cost"</dt>
                <dd>{cost}</dd>
            })}
        </dl>
    }
}
