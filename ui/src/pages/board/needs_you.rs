//! Everything that needs the person, over all projects, each with its action in place.
//!
//! Must not know what needs a person: the server composes the list.

use domain::board::needs_you::{Decision, NeedsYouItem, NeedsYouList};
use domain::board::question::Question;
use domain::id::{ProjectId, TaskId};
use leptos::prelude::*;

use crate::client::{Client, MessageFilter};
use crate::components::badge::Tone;
use crate::components::badge::team::name_heading;
use crate::components::bar::Bar;
use crate::components::board::card_actions::{ActionButton, AnswerButton, answers, settle};
use crate::components::board::choices::Choices;
use crate::components::glyph::{Glyph, StateGlyph};
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::runs::permission::PermissionBox;
use crate::keys::{Key, listen};
use crate::notifications::tab_title;
use crate::overview::Overview;
use crate::reader::Reader;
use crate::route::{Navigation, Route, SettingsTab};
use crate::time::Clock;

#[component]
pub(crate) fn NeedsYouPage() -> impl IntoView {
    let (overview, navigation) = (Overview::from_context(), Navigation::from_context());
    let list = overview.needs_you.watch().value;
    listen(move |key| {
        if key == Key::Settings {
            navigation.go(Route::Settings { tab: SettingsTab::default() });
        }
    });
    tab_title(|| "Needs you".to_owned());
    let items = move |waits: bool| {
        let list: NeedsYouList = list.get().unwrap_or_default();
        list.items.into_iter().filter(|item| item.agent_waits == waits).collect::<Vec<_>>()
    };
    let group = move |heading: &'static str, waits: bool| {
        view! {
            <Show when=move || !items(waits).is_empty()>
                <section class="needs-group" aria-label=heading>
                    <h2>{heading}</h2>
                    <ul>
                        <For each=move || items(waits) key=key let:item>
                            <li><Item item=item /></li>
                        </For>
                    </ul>
                </section>
            </Show>
        }
    };
    let empty = Memo::new(move |_| list.with(|list| list.as_ref().is_some_and(|list| list.items.is_empty())));
    view! {
        <Bar title="Needs you" />
        <main class="scroll">
            <div class="needs">
                {group("An agent waits for you", true)}
                {group("Can wait", false)}
                <Show when=move || empty.get()>
                    <div class="empty">
                        <h2>"Nothing needs you"</h2>
                        <p>"Questions, plans, failures, permission requests, messages to you and finished projects appear here."</p>
                    </div>
                </Show>
            </div>
        </main>
    }
}

/// The same key as long as nothing about the item changes, so that typed text stays.
fn key(item: &NeedsYouItem) -> String {
    format!("{:?}{:?}{:?}{:?}", item.project_id, item.task_id, item.since, item.decision)
}

#[component]
fn Item(item: NeedsYouItem) -> impl IntoView {
    let clock = Clock::from_context();
    let (glyph, tone, label) = glyph_of(&item.decision);
    let place = [item.project_title.clone(), item.task_id.as_ref().map(ToString::to_string)];
    let place = place.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    let heading = item.task_title.clone().unwrap_or_else(|| heading(&item.decision));
    let detail = detail(&item.decision);
    let since = item.since;
    view! {
        <article class="need">
            <StateGlyph glyph=glyph tone=tone label=label />
            <header>
                <h3>{heading}</h3>
                <span class="faint small-text">{place}</span>
                <span class="faint small-text tabular spacer">{move || clock.ago(since)}</span>
            </header>
            {(!detail.is_empty()).then(|| view! { <p class="soft"><InlineCode text=detail /></p> })}
            {Reader::may_write().then(|| view! { <Actions item=item /> })}
        </article>
    }
}

const fn glyph_of(decision: &Decision) -> (Glyph, Tone, &'static str) {
    match decision {
        Decision::Question { .. } => (Glyph::Question, Tone::Warn, "Question"),
        Decision::Permission { .. } => (Glyph::Question, Tone::Warn, "Permission request"),
        Decision::Review { .. } => (Glyph::Look, Tone::Warn, "Waits for your review"),
        Decision::Attention { .. } => (Glyph::Failed, Tone::Bad, "Stopped"),
        Decision::Budget { .. } => (Glyph::Pause, Tone::Warn, "Limit"),
        Decision::Plan { .. } => (Glyph::HalfRing, Tone::Warn, "Plan"),
        Decision::Land { .. } => (Glyph::CheckRing, Tone::Good, "Ready to land"),
        Decision::PullRequest { .. } => (Glyph::Failed, Tone::Bad, "Pull request"),
        Decision::BaseNotFetched { .. } => (Glyph::Failed, Tone::Bad, "Not fetched"),
        Decision::Message { .. } => (Glyph::Ring, Tone::Warn, "Message"),
    }
}

/// The heading of a decision that belongs to no task.
fn heading(decision: &Decision) -> String {
    match decision {
        Decision::Plan { tasks } => format!("A plan with {tasks} {} waits", plural(*tasks, "task", "tasks")),
        Decision::Land { base_branch, .. } => format!("Ready to land on {base_branch}"),
        Decision::PullRequest { .. } => "The pull request needs you".to_owned(),
        Decision::BaseNotFetched { base_branch, .. } => format!("The upstream of {base_branch} cannot be fetched"),
        Decision::Budget { .. } => "A limit is reached".to_owned(),
        Decision::Message { from, .. } => format!("{} wrote to you", name_heading(from)),
        Decision::Question { .. } | Decision::Permission { .. } | Decision::Review { .. } | Decision::Attention { .. } => String::new(),
    }
}

fn detail(decision: &Decision) -> String {
    match decision {
        Decision::Question { question } => question.question.clone(),
        Decision::Permission { .. } => String::new(),
        Decision::Review { detail, .. } | Decision::Attention { detail, .. } | Decision::Budget { detail, .. } => sentence(detail),
        Decision::PullRequest { detail, .. } => sentence(detail),
        Decision::BaseNotFetched { detail, .. } => {
            format!("{} Its last known commit counts until a fetch succeeds, which is retried automatically.", sentence(detail))
        }
        Decision::Plan { .. } => "Nothing starts until you start the plan.".to_owned(),
        Decision::Land { tasks, .. } => format!("{tasks} {} merged into the project branch.", plural(*tasks, "task is", "tasks are")),
        Decision::Message { excerpt, .. } => excerpt.clone(),
    }
}

const fn plural(count: u32, one: &'static str, many: &'static str) -> &'static str {
    if count == 1 { one } else { many }
}

#[component]
fn Actions(item: NeedsYouItem) -> impl IntoView {
    let client = Client::from_context();
    let NeedsYouItem { project_id, task_id, decision, .. } = item;
    let open_task = |label: &'static str| {
        let route = Route::Board { project: project_id.clone()?, task: Some(task_id.clone()?) };
        Some(view! { <GoTo label=label route=route /> }.into_any())
    };
    let act = |label: &'static str, act: Callback<()>| view! { <ActionButton label=label act=act /> }.into_any();
    match decision {
        Decision::Question { question } => {
            let other = open_task("Other answer…");
            task_id.clone().map(|task| view! { <div class="row"><Answers task=task question=question />{other}</div> }.into_any())
        }
        Decision::Permission { request, .. } => Some(view! { <PermissionBox request=request /> }.into_any()),
        Decision::Review { .. } => {
            let route = Route::Review { project: project_id?, task: task_id? };
            Some(view! { <div class="row"><GoTo label="Review" route=route /></div> }.into_any())
        }
        Decision::Attention { choices, agent, .. } if !choices.is_empty() => {
            let link = open_task("Open the task");
            let choices = project_id.zip(task_id).map(|(project, task)| view! { <Choices project=project task=task agent=agent offered=choices /> });
            Some(view! { <div class="row">{choices}{link}</div> }.into_any())
        }
        Decision::Attention { action, .. } => {
            let settled = task_id.clone().map(|task| settle(client, task, action));
            let (button, link) = match settled {
                Some(Ok((label, settle))) => (Some(act(label, settle)), "Open the task"),
                Some(Err(label)) => (None, label),
                None => (None, "Open the task"),
            };
            Some(view! { <div class="row">{button}{open_task(link)}</div> }.into_any())
        }
        Decision::Budget { .. } => {
            let raise = raise(client, project_id.clone(), task_id.clone()).map(|raise| act("Raise the limit", raise));
            Some(view! { <div class="row">{raise}{open_task("Open the task")}</div> }.into_any())
        }
        Decision::Plan { .. } => {
            project_id.map(|project| view! { <div class="row"><GoTo label="Read the plan" route=Route::Plan { project } /></div> }.into_any())
        }
        Decision::Land { .. } => project_id
            .map(|project| view! { <div class="row"><GoTo label="Review and land" route=Route::Land { project, landing: None } /></div> }.into_any()),
        Decision::PullRequest { address, .. } => project_id.map(|project| {
            let (label, settle) = ("Mark as handled", settle_pull_request(client, project.clone()));
            let route = Route::Land { project, landing: None };
            view! { <div class="row">{external(address)}{act(label, settle)}<GoTo label="Open the landing page" route=route /></div> }.into_any()
        }),
        // It ends by itself.
        Decision::BaseNotFetched { .. } => None,
        Decision::Message { message, .. } => {
            let read = Callback::new(move |()| client.act(client.read_message(message), |_| {}));
            let answer = project_id.map(|project| {
                let route = Route::Messages { project, filter: MessageFilter::default() };
                view! { <GoTo label="Reply…" route=route /> }
            });
            Some(view! { <div class="row">{answer}{act("Mark as read", read)}</div> }.into_any())
        }
    }
}

fn settle_pull_request(client: Client, project: ProjectId) -> Callback<()> {
    Callback::new(move |()| client.act(client.settle_pull_request(project.clone()), |_| {}))
}

/// A link to another site. A program printed the address, so only one of the web becomes a link.
fn external(address: String) -> impl IntoView {
    let address = Some(address).filter(|address| address.starts_with("https://"));
    address.map(|address| view! { <a class="button" href=address target="_blank" rel="noopener noreferrer">"Open the pull request"</a> })
}

/// Raises the limit of a task, or of a project.
fn raise(client: Client, project: Option<ProjectId>, task: Option<TaskId>) -> Option<Callback<()>> {
    match (project, task) {
        (_, Some(task)) => Some(Callback::new(move |()| client.act(client.raise(task.clone()), |_| {}))),
        (Some(project), None) => Some(Callback::new(move |()| client.act(client.raise_budget(project.clone()), |_| {}))),
        (None, None) => None,
    }
}

/// The answers to a question.
#[component]
fn Answers(task: TaskId, question: Question) -> impl IntoView {
    let client = Client::from_context();
    let default = question.default.clone();
    answers(question.options, question.default)
        .into_iter()
        .enumerate()
        .map(|(place, option)| {
            let (task, answer) = (task.clone(), option.clone());
            let label = if default.as_ref() == Some(&option) { format!("{option} (suggested)") } else { option };
            let act = Callback::new(move |()| client.act(client.answer(task.clone(), answer.clone()), |_| {}));
            view! { <AnswerButton place=place label=label act=act /> }
        })
        .collect_view()
}

#[component]
fn GoTo(label: &'static str, route: Route) -> impl IntoView {
    let navigation = Navigation::from_context();
    view! { <a class="button small" href=route.path() on:click=move |event| navigation.follow(&event, route.clone())>{label}</a> }
}
