//! The team page: agents with their status and liveness, helpers, and the button that adds an agent.

use std::time::Duration;

use domain::team::agent::Agent;
use domain::warroom::transport::Transport;
use leptos::prelude::*;

use crate::client::{Client, MessageFilter};
use crate::components::badge::team::{presence_badge, trust_label};
use crate::components::badge::warroom::class_label;
use crate::components::board::task_link::TaskLink;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::section_page::SectionPage;
use crate::components::team::minion::MinionSettings;
use crate::components::warroom::context_left::ContextBar;
use crate::project_data::{OpenDialog, ProjectData};
use crate::reader::Reader;
use crate::route::{Navigation, Route};
use crate::time::Clock;

/// Heartbeats record no event, so the page polls for liveness.
const POLL_INTERVAL: Duration = Duration::from_secs(15);

#[component]
pub(crate) fn TeamPage() -> impl IntoView {
    let data = ProjectData::from_context();
    let agents = data.agents.watch().poll(POLL_INTERVAL);
    let names = move |left: bool| {
        Memo::new(move |_| {
            let agents = agents.value.get().unwrap_or_default();
            agents.into_iter().filter(|agent| agent.left_at.is_some() == left).map(|agent| agent.name).collect::<Vec<_>>()
        })
    };
    let (active, left) = (names(false), names(true));
    let empty_hint = if Reader::current().may(OpenDialog::NewAgent.right()) {
        "Managed agents join when the runner starts them. Add an external agent with a token, and start it in a terminal."
    } else {
        "Managed agents join when the runner starts them. The owner adds external agents."
    };
    view! {
        <SectionPage
            title="Team"
            verb="Add an agent"
            opens=OpenDialog::NewAgent
            list=agents
            empty=Signal::derive(move || active.with(Vec::is_empty))
            empty_heading="No agents yet"
            empty_hint=empty_hint
        >
            <ul class="rows" aria-label="Active agents">
                <For each=move || active.get() key=String::clone let:name>
                    <AgentRow name=name />
                </For>
            </ul>
            <Show when=move || !left.with(Vec::is_empty)>
                <details class="fold">
                    <summary>{move || format!("{} left", left.with(Vec::len))}</summary>
                    <ul class="rows folded">
                        <For each=move || left.get() key=String::clone let:name>
                            <AgentRow name=name />
                        </For>
                    </ul>
                </details>
            </Show>
            <MinionSettings />
        </SectionPage>
    }
}

#[component]
fn AgentRow(name: String) -> impl IntoView {
    let (data, client, sending) = (ProjectData::from_context(), Client::from_context(), Sending::new());
    let may_write = Reader::may_write();
    let agent = Memo::new({
        let name = name.clone();
        move |_| data.agents.value.with(|agents| agents.as_ref()?.iter().find(|agent| agent.name == name).cloned())
    });
    // The runner removes managed agents with their tasks.
    let removable = Memo::new(move |_| agent.with(|agent| agent.as_ref().is_some_and(|agent| agent.run_id.is_none() && agent.left_at.is_none())));
    let active = Memo::new(move |_| agent.with(|agent| agent.as_ref().is_some_and(|agent| agent.left_at.is_none())));
    let (remove_label, write_label) = (format!("Remove {name}"), format!("Write to {name}"));
    let route = Route::Messages { project: data.project(), filter: MessageFilter { agent: Some(name.clone()), task: None } };
    let confirming = RwSignal::new(false);
    let close = Callback::new(move |()| confirming.set(false));
    let remove = Callback::new(move |()| sending.run(client.remove_agent(data.project(), name.clone()), move |_| close.run(())));
    let title = StoredValue::new(remove_label.clone());
    view! {
        <li class="entry agent">
            {move || agent.get().map(|agent| view! { <Facts agent=agent /> })}
            <div class="entry-tools">
                <Show when=move || may_write && active.get()>
                    <WriteTo route=route.clone() label=write_label.clone() />
                </Show>
                <Show when=move || may_write && removable.get()>
                    <button type="button" class="button quiet small" aria-label=remove_label.clone() on:click=move |_| confirming.set(true)>"Remove"</button>
                </Show>
            </div>
            <Show when=move || confirming.get()>
                <Dialog title=title.get_value() close=close>
                    <Form verb="Remove" danger=true sending=sending submit=remove close=close>
                        <p>"It can no longer receive messages. Its tasks stay assigned until you reassign them."</p>
                    </Form>
                </Dialog>
            </Show>
        </li>
    }
}

/// A link to the messages from and to an agent.
#[component]
fn WriteTo(route: Route, label: String) -> impl IntoView {
    let navigation = Navigation::from_context();
    view! {
        <a class="button quiet small" href=route.path() aria-label=label on:click=move |event| navigation.follow(&event, route.clone())>"Write"</a>
    }
}

#[component]
fn Facts(agent: Agent) -> impl IntoView {
    let clock = Clock::from_context();
    let (health, tone) = presence_badge(&agent);
    let trust = trust_label(&agent);
    let (team, name) = match agent.name.split_once('/') {
        Some((team, name)) => (Some(format!("{team}/")), name.to_owned()),
        None => (None, agent.name.clone()),
    };
    let (last_seen, left_at) = (agent.last_seen, agent.left_at);
    let seen = match (left_at, last_seen) {
        (Some(at), _) => Some((at, "")),
        (None, Some(at)) => Some((at, "seen ")),
        (None, None) => None,
    };
    let seen = seen.map(|(at, prefix)| {
        view! {
            <time class="faint tabular" datetime=at.to_string() title=at.to_string()>
                {move || format!("{prefix}{}", clock.ago(at))}
            </time>
        }
    });
    let roles = agent.roles.iter().map(|role| view! { <span class="label-chip">{role.as_str()}</span> }).collect_view();
    let status = agent.status.or(agent.description);
    view! {
        <div class="entry-main">
            <p class="row">
                <strong class="name">
                    {team.map(|team| view! { <span class="faint">{team}</span> })}
                    {name}
                </strong>
                <span class="soft small-text">{class_label(agent.class)}</span>
                <span class="chips">{roles}</span>
                {(agent.unread > 0).then(|| view! { <span class="bubble quiet">{format!("{} unread", agent.unread)}</span> })}
            </p>
            {status.map(|status| view! { <p class="soft small-text">{status}</p> })}
            <p class="row small-text soft">
                <span class="health" data-tone=tone.as_str()>{health}</span>
                {agent.connected.then(|| view! { <span>"connected"</span> })}
                {seen}
                <span class=if agent.trusted { "faint" } else { "untrusted" }>{trust}</span>
                {(agent.transport == Transport::Daemon && agent.run_id.is_none()).then(|| view! { <span>"started by a program"</span> })}
                {agent.task_id.map(|task| view! { <TaskLink task=task /> })}
            </p>
            {agent.context_left.map(|left| view! { <ContextBar left=Some(left) /> })}
        </div>
    }
}
