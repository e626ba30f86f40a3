//! Who takes part: what everybody does, how they are, and how another one joins.

use std::time::Duration;

use domain::agent::Agent;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::among::{presence_look, voucher_word};
use crate::components::dialog::Dialog;
use crate::components::icon::{Icon, PLUS};
use crate::components::spawning::Spawning;
use crate::components::task_link::TaskLink;
use crate::room::{Open, Room};
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
    let known = Memo::new(move |_| agents.value.with(Option::is_some));
    let names = move |left: bool| {
        Memo::new(move |_| {
            let agents = agents.value.get().unwrap_or_default();
            agents.into_iter().filter(|agent| agent.left_at.is_some() == left).map(|agent| agent.name).collect::<Vec<_>>()
        })
    };
    let (there, left) = (names(false), names(true));
    view! {
        <div class="page">
            <div class="page-head">
                <h1>"Team"</h1>
                <button type="button" class="button primary" on:click=move |_| room.open.set(Open::NewAgent)>
                    <Icon drawing=PLUS />
                    "Add an agent"
                </button>
            </div>
            {move || agents.failure.get().filter(|_| !known.get()).map(|why| view! { <p class="notice" data-tone="bad" role="alert">{why}</p> })}
            <Show when=move || known.get() && there.with(Vec::is_empty)>
                <div class="empty">
                    <h2>"Nobody is there"</h2>
                    <p>"Agents that are started from here take part by themselves. Others join from a terminal, with a token that you make."</p>
                </div>
            </Show>
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
        </div>
    }
}

#[component]
fn AgentRow(name: String) -> impl IntoView {
    let (room, client) = (Room::here(), Client::here());
    let agent = Memo::new({
        let name = name.clone();
        move |_| room.agents.value.with(|agents| agents.as_ref()?.iter().find(|agent| agent.name == name).cloned())
    });
    // Those that we run come and go with their tasks.
    let removable = Memo::new(move |_| agent.with(|agent| agent.as_ref().is_some_and(|agent| agent.run_id.is_none() && agent.left_at.is_none())));
    let label = format!("Take out {name}");
    let asking = RwSignal::new(false);
    let close = Callback::new(move |()| asking.set(false));
    let remove = Callback::new(move |()| client.act(client.remove_agent(room.project(), name.clone()), move |_| close.run(())));
    let title = StoredValue::new(label.clone());
    view! {
        <li class="entry agent">
            {move || agent.get().map(|agent| view! { <Facts agent=agent /> })}
            <Show when=move || removable.get()>
                <button type="button" class="button quiet small" aria-label=label.clone() on:click=move |_| asking.set(true)>"Take out"</button>
            </Show>
            <Show when=move || asking.get()>
                <Dialog title=title.get_value() close=close>
                    <p>"Nobody can write to it any more. Its tasks stay assigned to it until you give them to somebody else."</p>
                    <footer>
                        <button type="button" class="button" on:click=move |_| close.run(())>"Back"</button>
                        <button type="button" class="button danger" on:click=move |_| remove.run(())>"Take out"</button>
                    </footer>
                </Dialog>
            </Show>
        </li>
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
    let seen = move || match (left_at, last_seen) {
        (Some(left), _) => clock.ago(left),
        (None, Some(seen)) => format!("seen {}", clock.ago(seen)),
        (None, None) => String::new(),
    };
    let roles = agent.roles.iter().map(|role| view! { <span class="chip">{role.as_str()}</span> }).collect_view();
    let doing = agent.status.or(agent.description);
    view! {
        <div class="entry-main">
            <p class="row">
                <strong class="name">
                    {team.map(|team| view! { <span class="faint">{team}</span> })}
                    {name}
                </strong>
                {roles}
                {(agent.unread > 0).then(|| view! { <span class="bubble quiet">{format!("{} unread", agent.unread)}</span> })}
            </p>
            {doing.map(|doing| view! { <p class="soft small-text">{doing}</p> })}
            <p class="row small-text soft">
                <span class="health" data-tone=tone.as_str()>{health}</span>
                {agent.connected.then(|| view! { <span>"connected"</span> })}
                <span class="faint tabular">{seen}</span>
                <span class=if agent.verified { "faint" } else { "doubt" }>{voucher}</span>
                {agent.task_id.map(|task| view! { <TaskLink task=task /> })}
            </p>
        </div>
    }
}
