//! The agents that are present: class, task, context left and last call of each.

use std::time::Duration;

use domain::warroom::party::{PartyMember, PartyTask};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::status_label;
use crate::components::badge::team::presence_badge;
use crate::components::badge::warroom::class_label;
use crate::components::board::task_link::TaskLink;
use crate::components::section_box::SectionBox;
use crate::components::warroom::context_left::ContextBar;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::{ProjectData, items};
use crate::store::Store;
use crate::time::Clock;

/// Heartbeats record no event, so the section polls for liveness.
const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// Agents at work report what they use all the time.
const COLLECT_INTERVAL: Duration = Duration::from_secs(1);

#[component]
pub(crate) fn PartySection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let revision = store.revision_of_any(&[ListKind::Team, ListKind::Usage]);
    let request = move || items(client.party(data.project()));
    let party = LiveList::new(revision, |_| false, request).every(COLLECT_INTERVAL).watch().poll(POLL_INTERVAL);
    let names = Memo::new(move |_| party.value.with(|party| party.as_deref().map(ordered).unwrap_or_default()));
    view! {
        <SectionBox
            id="war-room-agents"
            title=name_of(Word::Agents)
            summary=Signal::derive(move || party.value.with(|party| party.as_deref().map(summary).unwrap_or_default()))
            loaded=Signal::derive(move || party.value.with(Option::is_some))
            failure=party.failure
            empty=Signal::derive(move || names.with(Vec::is_empty))
            empty_heading="No agents yet"
            empty_hint="Agents appear here when the runner starts them, or when they register from a terminal."
        >
            <ul class="room-list party">
                <For each=move || names.get() key=String::clone let:name>
                    <Member name=name party=party />
                </For>
            </ul>
        </SectionBox>
    }
    .into_any()
}

/// The names of the agents: those with a task first, then by name.
fn ordered(party: &[PartyMember]) -> Vec<String> {
    let mut party: Vec<&PartyMember> = party.iter().collect();
    party.sort_by_key(|member| (member.tasks.is_empty(), member.agent.name.as_str()));
    party.into_iter().map(|member| member.agent.name.clone()).collect()
}

/// How many agents have a task and how many wait for one.
fn summary(party: &[PartyMember]) -> String {
    let busy = party.iter().filter(|member| !member.tasks.is_empty()).count();
    match (busy, party.len() - busy) {
        (0, 0) => String::new(),
        (busy, 0) => format!("{busy} with a task"),
        (busy, free) => format!("{busy} with a task, {free} without"),
    }
}

#[component]
fn Member(name: String, party: LiveList<Vec<PartyMember>>) -> impl IntoView {
    let clock = Clock::from_context();
    let member = Memo::new(move |_| party.value.with(|party| party.as_ref()?.iter().find(|member| member.agent.name == name).cloned()));
    let facts = move || {
        let PartyMember { agent, tasks, further_tasks, .. } = member.get()?;
        let (presence, tone) = presence_badge(&agent);
        let seen = agent.last_seen.map(|at| {
            view! { <time class="faint tabular" datetime=at.to_string() title=at.to_string()>{move || format!("seen {}", clock.ago(at))}</time> }
        });
        // An agent between two tasks has no context to speak of.
        let context = (agent.context_left.is_some() || !tasks.is_empty()).then(|| view! { <ContextBar left=agent.context_left /> });
        let tasks = tasks.into_iter().map(|task| view! { <TaskLine task=task /> }).collect_view();
        Some(view! {
            <p class="row small-text">
                <strong class="name">{agent.name.clone()}</strong>
                <span class="soft">{class_label(agent.class)}</span>
                <span class="row spacer">
                    <span class="health" data-tone=tone.as_str()>{presence}</span>
                    {seen}
                </span>
            </p>
            {tasks}
            {(further_tasks > 0).then(|| view! { <p class="soft small-text">{format!("and {further_tasks} more")}</p> })}
            {agent.status.clone().map(|status| view! { <p class="soft small-text">{status}</p> })}
            {context}
        })
    };
    view! { <li>{facts}</li> }.into_any()
}

#[component]
fn TaskLine(task: PartyTask) -> impl IntoView {
    view! {
        <p class="party-task small-text">
            <TaskLink task=task.id />
            <span class="faint">{status_label(task.status)}</span>
        </p>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::board::status::Status;
    use domain::id::TaskId;

    use super::*;
    use crate::testing::agent;

    fn member(name: &str, tasks: usize) -> PartyMember {
        let task = |number: usize| PartyTask { id: TaskId::new(number as u64), title: "Search".to_owned(), status: Status::InProgress };
        PartyMember {
            agent: agent(name),
            tasks: (0..tasks).map(task).collect(),
            further_tasks: 0,
            activity_count: 0,
            claims: Vec::new(),
            further_claims: 0,
            is_report_due: false,
        }
    }

    #[test]
    fn agents_with_a_task_come_first() {
        let party = [member("ann", 0), member("zoe", 1), member("ben", 2)];
        assert_eq!(ordered(&party), ["ben", "zoe", "ann"]);
        assert_eq!(summary(&party), "2 with a task, 1 without");
        assert_eq!((summary(&party[1..]), summary(&[])), ("2 with a task".to_owned(), String::new()));
    }
}
