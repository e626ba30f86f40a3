//! Goals: what belongs together, how far it is, and signing it off.

use domain::board::card::Card;
use domain::board::goal::{Goal, GoalStatus};
use domain::id::{GoalId, TaskId};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::among::{goal_look, name_word, progress_word};
use crate::components::badge::{Badge, card_look};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, WordsField, given};
use crate::components::icon::{CLOSE, Icon};
use crate::components::progress::{GoalBar, of_goal};
use crate::components::section_page::SectionPage;
use crate::components::task_link::TaskLink;
use crate::components::toast::Toasts;
use crate::room::{Open, Room};
use crate::store::Store;

#[component]
pub(crate) fn GoalsPage() -> impl IntoView {
    let room = Room::here();
    let goals = room.goals.watch();
    let signing = RwSignal::new(None::<Goal>);
    let all = move || goals.value.get().unwrap_or_default();
    let none = Memo::new(move |_| goals.value.with(|goals| goals.as_ref().is_some_and(Vec::is_empty)));
    view! {
        <SectionPage
            title="Goals"
            verb="New goal"
            opens=Open::NewGoal
            feed=goals
            empty=none
            heading="No goal yet"
            words="A goal holds tasks that belong together. Once each of them is verified by somebody who neither built nor approved it, a lead signs it off."
        >
            <ul class="rows" aria-label="Goals">
                <For each=all key=|goal| (goal.id.clone(), goal.status, goal.verified_by.clone()) let:goal>
                    <GoalCard goal=goal signing=signing />
                </For>
            </ul>
        </SectionPage>
        {move || signing.get().map(|goal| view! { <SignOff goal=goal close=Callback::new(move |()| signing.set(None)) /> })}
    }
}

#[component]
fn GoalCard(goal: Goal, signing: RwSignal<Option<Goal>>) -> impl IntoView {
    let store = Store::here();
    let progress = of_goal(store, &goal);
    let (word, tone) = goal_look(goal.status);
    let id = StoredValue::new(goal.id.clone());
    let linked = Memo::new(move |_| {
        store.follow_cards(|cards| {
            let own = cards.iter().filter(|card| id.with_value(|id| card.goal_id.as_ref() == Some(id)));
            own.map(|card| card.id.clone()).collect::<Vec<_>>()
        })
    });
    let signed = goal.verified_by.as_deref().map(|by| format!("Signed off by {}.", name_word(by)));
    let offered = (goal.status != GoalStatus::Verified).then(|| {
        let goal = goal.clone();
        // Before that the server says which tasks it waits for.
        let class = if goal.status == GoalStatus::PendingVerify { "button primary" } else { "button" };
        view! { <button type="button" class=class on:click=move |_| signing.set(Some(goal.clone()))>"Sign off"</button> }
    });
    view! {
        <li class="entry tall">
            <header class="row">
                <span class="mono faint">{goal.id.to_string()}</span>
                <Badge word=word tone=tone />
                <span class="push"></span>
                {offered}
            </header>
            <h2>{goal.title}</h2>
            {goal.description.map(|description| view! { <p class="soft said">{description}</p> })}
            <p class="row small-text soft">
                <GoalBar progress=progress />
                <span class="tabular">{move || progress_word(progress.get())}</span>
                <span class="faint">{format!("made by {}", name_word(&goal.creator))}</span>
            </p>
            {signed.map(|signed| view! { <p class="small-text soft">{signed} " " {goal.notes}</p> })}
            <ul class="linked" aria-label="Its tasks">
                <For each=move || linked.get() key=TaskId::clone let:task>
                    <Linked task=task />
                </For>
            </ul>
            <LinkTask goal=id.get_value() />
        </li>
    }
}

#[component]
fn Linked(task: TaskId) -> impl IntoView {
    let (client, store) = (Client::here(), Store::here());
    let look = store.card(&task).map(|card| {
        move || {
            let (word, tone) = card.with(card_look);
            view! { <Badge word=word tone=tone /> }
        }
    });
    let label = format!("Take {task} from the goal");
    let linked = task.clone();
    view! {
        <li class="row">
            <TaskLink task=task />
            {look}
            <button type="button" class="button quiet small icon" aria-label=label on:click=move |_| client.act(client.link_goal(linked.clone(), None), |_| {})>
                <Icon drawing=CLOSE />
            </button>
        </li>
    }
}

/// Tasks of no goal, to add one.
#[component]
fn LinkTask(goal: GoalId) -> impl IntoView {
    let (client, store) = (Client::here(), Store::here());
    let free = Memo::new(move |_| {
        store.follow_cards(|cards| {
            let free = |card: &&Card| card.goal_id.is_none() && card.round_of.is_none();
            cards.iter().filter(free).map(|card| (card.id.clone(), card.title.clone())).collect::<Vec<_>>()
        })
    });
    let link = move |given: &str| {
        if let Ok(task) = given.parse::<TaskId>() {
            client.act(client.link_goal(task, Some(goal.clone())), |_| {});
        }
    };
    let link = Callback::new(move |given: String| link(&given));
    view! {
        <Show when=move || !free.with(Vec::is_empty)>
            <select class="input narrow" aria-label="Add a task to the goal" on:change:target=move |event| {
                let given = event.target().value();
                event.target().set_value("");
                link.run(given);
            }>
                <option value="">"Add a task…"</option>
                {move || {
                    free.get()
                        .into_iter()
                        .map(|(id, title)| view! { <option value=id.to_string()>{format!("{id} {}", domain::text::excerpt(&title, 60))}</option> })
                        .collect_view()
                }}
            </select>
        </Show>
    }
}

#[component]
fn SignOff(goal: Goal, close: Callback<()>) -> impl IntoView {
    let (client, toasts, sending) = (Client::here(), Toasts::here(), Sending::new());
    let notes = RwSignal::new(String::new());
    let id = goal.id;
    let submit = move |()| {
        sending.run(client.verify_goal(id.clone(), given(notes)), move |goal| {
            toasts.news(format!("{} is signed off.", goal.id));
            close.run(());
        });
    };
    view! {
        <Dialog title=format!("Sign off: {}", goal.title) close=close>
            <Form verb="Sign off" sending=sending submit=submit close=close>
                <WordsField id="sign-notes" label="Notes (may be left out)" value=notes autofocus=true />
            </Form>
        </Dialog>
    }
}
