//! Who takes part: what everybody does, how they are, and how another one joins.

use std::time::Duration;

use domain::team::agent::Agent;
use leptos::prelude::*;

use crate::client::{Client, Said};
use crate::components::badge::among::{presence_look, voucher_word};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::section_page::SectionPage;
use crate::components::spawning::Spawning;
use crate::components::task_link::TaskLink;
use crate::room::{Open, Room};
use crate::route::{Navigation, Route};
use crate::time::Clock;

/// Signs of life are no events, so who looks asks again this often.
const AGAIN: Duration = Duration::from_secs(15);

#[component]
pub(crate) fn TeamPage() -> impl IntoView {
    let room = Room::here();
    let agents = room.agents.watch();
    if let Ok(interval) = set_interval_with_handle(move || agents.ask(), AGAIN) {
        on_cleanup(move || interval.clear());
    }
    let names = move |left: bool| {
        Memo::new(move |_| {
            let agents = agents.value.get().unwrap_or_default();
            agents.into_iter().filter(|agent| agent.left_at.is_some() == left).map(|agent| agent.name).collect::<Vec<_>>()
        })
    };
    let (there, left) = (names(false), names(true));
    view! {
        <SectionPage
            title="Team"
            verb="Add an agent"
            opens=Open::NewAgent
            feed=agents
            empty=Signal::derive(move || there.with(Vec::is_empty))
            heading="Nobody is there"
            words="Agents that are started from here take part by themselves. Others join from a terminal, with a token that you make."
        >
            <ul class="rows" aria-label="Who is there">
                <For each=move || there.get() key=String::clone let:name>
                    <AgentRow name=name />
                </For>
            </ul>
            <Show when=move || !left.with(Vec::is_empty)>
                <details class="fold">
                    <summary>{move || format!("{} who left", left.with(Vec::len))}</summary>
                    <ul class="rows folded">
                        <For each=move || left.get() key=String::clone let:name>
                            <AgentRow name=name />
                        </For>
                    </ul>
                </details>
            </Show>
            <Spawning />
        </SectionPage>
    }
}

#[component]
fn AgentRow(name: String) -> impl IntoView {
    let (room, client, sending) = (Room::here(), Client::here(), Sending::new());
    let agent = Memo::new({
        let name = name.clone();
        move |_| room.agents.value.with(|agents| agents.as_ref()?.iter().find(|agent| agent.name == name).cloned())
    });
    // Those that we run come and go with their tasks.
    let removable = Memo::new(move |_| agent.with(|agent| agent.as_ref().is_some_and(|agent| agent.run_id.is_none() && agent.left_at.is_none())));
    let there = Memo::new(move |_| agent.with(|agent| agent.as_ref().is_some_and(|agent| agent.left_at.is_none())));
    let (take_out, write) = (format!("Take out {name}"), format!("Write to {name}"));
    let route = Route::Messages { project: room.project(), said: Said { agent: Some(name.clone()), task: None } };
    let asking = RwSignal::new(false);
    let close = Callback::new(move |()| asking.set(false));
    let remove = Callback::new(move |()| sending.run(client.remove_agent(room.project(), name.clone()), move |_| close.run(())));
    let title = StoredValue::new(take_out.clone());
    view! {
        <li class="entry agent">
            {move || agent.get().map(|agent| view! { <Facts agent=agent /> })}
            <div class="entry-tools">
                <Show when=move || there.get()>
                    <WriteTo route=route.clone() label=write.clone() />
                </Show>
                <Show when=move || removable.get()>
                    <button type="button" class="button quiet small" aria-label=take_out.clone() on:click=move |_| asking.set(true)>"Take out"</button>
                </Show>
            </div>
            <Show when=move || asking.get()>
                <Dialog title=title.get_value() close=close>
                    <Form verb="Take out" danger=true sending=sending submit=remove close=close>
                        <p>"Nobody can write to it any more. Its tasks stay assigned to it until you give them to somebody else."</p>
                    </Form>
                </Dialog>
            </Show>
        </li>
    }
}

/// The way to what was written with an agent, and to writing more.
#[component]
fn WriteTo(route: Route, label: String) -> impl IntoView {
    let navigation = Navigation::here();
    view! {
        <a class="button quiet small" href=route.path() aria-label=label on:click=move |event| navigation.follow(&event, route.clone())>"Write"</a>
    }
}

#[component]
fn Facts(agent: Agent) -> impl IntoView {
    let clock = Clock::here();
    let (health, tone) = presence_look(&agent);
    let voucher = voucher_word(&agent);
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
    let seen = seen.map(|(at, word)| {
        view! {
            <time class="faint tabular" datetime=at.to_string() title=at.to_string()>
                {move || format!("{word}{}", clock.ago(at))}
            </time>
        }
    });
    let roles = agent.roles.iter().map(|role| view! { <span class="chip">{role.as_str()}</span> }).collect_view();
    let doing = agent.status.or(agent.description);
    view! {
        <div class="entry-main">
            <p class="row">
                <strong class="name">
                    {team.map(|team| view! { <span class="faint">{team}</span> })}
                    {name}
                </strong>
                <span class="chips">{roles}</span>
                {(agent.unread > 0).then(|| view! { <span class="bubble quiet">{format!("{} unread", agent.unread)}</span> })}
            </p>
            {doing.map(|doing| view! { <p class="soft small-text">{doing}</p> })}
            <p class="row small-text soft">
                <span class="health" data-tone=tone.as_str()>{health}</span>
                {agent.connected.then(|| view! { <span>"connected"</span> })}
                {seen}
                <span class=if agent.trusted { "faint" } else { "doubt" }>{voucher}</span>
                {agent.task_id.map(|task| view! { <TaskLink task=task /> })}
            </p>
        </div>
    }
}
