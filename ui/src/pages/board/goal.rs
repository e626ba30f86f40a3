//! The page of goals: their tasks, their progress, and sign-off.

use domain::board::card::Card;
use domain::board::goal::{Goal, GoalStatus, Progress};
use domain::id::{GoalId, TaskId};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::team::name_label;
use crate::components::badge::{Badge, card_badge, goal_badge, progress_label};
use crate::components::board::goal_bar::{GoalBar, progress_of};
use crate::components::board::task_link::TaskLink;
use crate::components::board::task_picker::TaskPicker;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, non_empty};
use crate::components::icon::{CLOSE, Icon};
use crate::components::prose::Prose;
use crate::components::section_page::SectionPage;
use crate::components::toast::Toasts;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::store::Store;

#[component]
pub(crate) fn GoalsPage() -> impl IntoView {
    let data = ProjectData::from_context();
    let goals = data.goals.watch();
    let signing = RwSignal::new(None::<Goal>);
    let all = move || goals.value.get().unwrap_or_default();
    let none = Memo::new(move |_| goals.value.with(|goals| goals.as_ref().is_some_and(Vec::is_empty)));
    view! {
        <SectionPage
            title="Goals"
            verb="New goal"
            opens=OpenDialog::NewGoal
            list=goals
            empty=none
            empty_heading="No goals yet"
            empty_hint="Create a goal to group tasks and sign them off together. Each task must first be verified by someone who neither built nor approved it."
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
    let store = Store::from_context();
    let progress = progress_of(goal.id.clone());
    let (label, tone) = goal_badge(goal.status);
    let id = StoredValue::new(goal.id.clone());
    let linked = Memo::new(move |_| {
        store.follow_cards(|cards| {
            let own: Vec<&Card> = cards.iter().filter(|card| id.with_value(|id| card.goal_id.as_ref() == Some(id))).collect();
            let counted = Progress::of(own.iter().copied()).linked;
            (own.into_iter().map(|card| card.id.clone()).collect::<Vec<_>>(), counted)
        })
    });
    // Finished tasks that the board has not loaded.
    let unloaded = Memo::new(move |_| progress.get().linked.saturating_sub(linked.with(|(_, counted)| *counted)));
    let signed = goal.verified_by.as_deref().map(|by| format!("Signed off by {}.", name_label(by)));
    let may_write = Reader::may_write();
    let offered = (may_write && goal.status != GoalStatus::Verified).then(|| {
        let goal = goal.clone();
        // Earlier attempts are refused with the list of unverified tasks.
        let class = if goal.status == GoalStatus::PendingVerify { "button primary" } else { "button" };
        view! { <button type="button" class=class on:click=move |_| signing.set(Some(goal.clone()))>"Sign off"</button> }
    });
    view! {
        <li class="entry tall">
            <header class="row">
                <span class="mono faint">{goal.id.to_string()}</span>
                <Badge label=label tone=tone />
                <span class="spacer"></span>
                {offered}
            </header>
            <h2>{goal.title}</h2>
            {goal.description.map(|description| view! { <Prose text=description /> })}
            <p class="row small-text soft">
                <GoalBar progress=progress />
                <span class="tabular">{move || progress_label(progress.get())}</span>
                <span class="faint">{format!("created by {}", name_label(&goal.creator))}</span>
            </p>
            {signed.map(|signed| view! { <p class="small-text soft">{signed} " " {goal.notes}</p> })}
            <ul class="linked" aria-label="Tasks of the goal">
                <For each=move || linked.with(|(tasks, _)| tasks.clone()) key=TaskId::clone let:task>
                    <LinkedTask task=task />
                </For>
            </ul>
            {move || (unloaded.get() > 0).then(|| view! { <p class="small-text soft">{format!("and {} older finished tasks", unloaded.get())}</p> })}
            {may_write.then(|| view! { <LinkTask goal=id.get_value() /> })}
        </li>
    }
}

#[component]
fn LinkedTask(task: TaskId) -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let badge = store.card(&task).map(|card| {
        move || {
            let (label, tone) = card.with(card_badge);
            view! { <Badge label=label tone=tone /> }
        }
    });
    let label = format!("Remove {task} from the goal");
    let linked = task.clone();
    view! {
        <li class="row">
            <TaskLink task=task />
            {badge}
            {Reader::may_write().then(|| view! {
                <button type="button" class="button quiet small icon" aria-label=label on:click=move |_| client.act(client.link_goal(linked.clone(), None), |_| {})>
                    <Icon drawing=CLOSE />
                </button>
            })}
        </li>
    }
}

/// A choice of tasks without a goal, to add one.
#[component]
fn LinkTask(goal: GoalId) -> impl IntoView {
    let client = Client::from_context();
    let chosen = RwSignal::new(Vec::<TaskId>::new());
    let id = format!("link-{goal}");
    Effect::new(move || {
        if let Some(task) = chosen.with(|chosen| chosen.first().cloned()) {
            client.act(client.link_goal(task, Some(goal.clone())), |_| {});
            chosen.set(Vec::new());
        }
    });
    view! { <TaskPicker id=id label="Add a task to the goal" chosen=chosen hides_label=true offers=has_no_goal /> }
}

fn has_no_goal(card: &Card) -> bool {
    card.goal_id.is_none() && card.round_of.is_none()
}

#[component]
fn SignOff(goal: Goal, close: Callback<()>) -> impl IntoView {
    let (client, toasts, sending) = (Client::from_context(), Toasts::from_context(), Sending::new());
    let notes = RwSignal::new(String::new());
    let id = goal.id;
    let submit = move |()| {
        sending.run(client.verify_goal(id.clone(), non_empty(notes)), move |goal| {
            toasts.success(format!("{} is verified.", goal.id));
            close.run(());
        });
    };
    view! {
        <Dialog title=format!("Sign off: {}", goal.title) close=close>
            <Form verb="Sign off" sending=sending submit=submit close=close>
                <TextArea id="sign-notes" label="Notes (optional)" value=notes autofocus=true />
            </Form>
        </Dialog>
    }
}
