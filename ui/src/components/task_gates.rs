//! The gates of a task for the person: approve, verify, reject what was verified, give it to an agent from outside.
//!
//! Whether a gate is there for a task at all is in the transition table; whether the person may pass it is judged by the server.

use domain::board::card::Card;
use domain::board::transition::{Mover, Requirement, rule};
use domain::id::TaskId;
use domain::team::role::Role;
use domain::wire::TaskView;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, WordsField, given, written};
use crate::components::toast::Toasts;
use crate::room::Room;

/// What the person is asked to say before passing a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Approve,
    Verify,
    Reject,
}

impl Gate {
    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Approve => ("Approve", "Notes (may be left out)"),
            Self::Verify => ("Verify", "What was checked (may be left out)"),
            Self::Reject => ("Reject verification", "What is wrong with it"),
        }
    }
}

/// The gates where a task stands: a move that stays where it is approves or verifies.
fn gates(card: &Card) -> Vec<Gate> {
    match rule(card.phase, card.status, card.status, Mover::Human).map(|rule| rule.requirement) {
        Some(Requirement::Verdict) if card.approved_sha.is_none() => vec![Gate::Approve],
        Some(Requirement::Independence) if card.contributors.verified_by.is_none() => vec![Gate::Verify, Gate::Reject],
        Some(Requirement::Independence) => vec![Gate::Reject],
        _ => Vec::new(),
    }
}

#[component]
pub(crate) fn TaskGates(task: TaskId, card: Signal<Card>) -> impl IntoView {
    let room = Room::here();
    let asking = RwSignal::new(None::<Gate>);
    let assigning = RwSignal::new(false);
    let offered = Memo::new(move |_| card.with(gates));
    let present = room.present();
    // Those that are run from here are given their tasks by the runner.
    let outside = Memo::new(move |_| present.get().into_iter().filter(|agent| agent.run_id.is_none()).map(|agent| agent.name).collect::<Vec<_>>());
    let assignable =
        Memo::new(move |_| card.with(|card| card.status.is_open() && (card.contributors.assigned_to.is_some() || !outside.with(Vec::is_empty))));
    let (asked, given) = (task.clone(), task);
    view! {
        {move || {
            let button = |gate: Gate| {
                let class = if gate == Gate::Reject { "button danger" } else { "button" };
                view! { <button type="button" class=class on:click=move |_| asking.set(Some(gate))>{gate.words().0}</button> }
            };
            offered.get().into_iter().map(button).collect_view()
        }}
        <Show when=move || assignable.get()>
            <button type="button" class="button" on:click=move |_| assigning.set(true)>"Assign"</button>
        </Show>
        {move || asking.get().map(|gate| view! { <Words task=asked.clone() gate=gate close=Callback::new(move |()| asking.set(None)) /> })}
        {move || assigning.get().then(|| {
            let hands = card.with_untracked(|card| (card.contributors.assigned_to.clone(), card.contributors.role_hat));
            view! { <AssignDialog task=given.clone() hands=hands outside=outside close=Callback::new(move |()| assigning.set(false)) /> }
        })}
    }
}

#[component]
fn Words(task: TaskId, gate: Gate, close: Callback<()>) -> impl IntoView {
    let (client, toasts, sending) = (Client::here(), Toasts::here(), Sending::new());
    let words = RwSignal::new(String::new());
    let (verb, label) = gate.words();
    let title = format!("{verb}: {task}");
    let submit = move |()| {
        let (task, notes) = (task.clone(), given(words));
        let request = async move {
            match gate {
                Gate::Approve => client.approve(task, notes).await,
                Gate::Verify => client.verify(task, notes).await,
                Gate::Reject => client.reject_verification(task, notes.unwrap_or_default()).await,
            }
        };
        sending.run(request, move |view: TaskView| {
            if let Some(note) = view.note {
                toasts.news(note);
            }
            close.run(());
        });
    };
    view! {
        <Dialog title=title close=close>
            <Form verb=verb ready=Signal::derive(move || gate != Gate::Reject || written(words)) sending=sending submit=submit close=close>
                <WordsField id="gate-words" label=label value=words autofocus=true />
            </Form>
        </Dialog>
    }
}

#[component]
fn AssignDialog(task: TaskId, hands: (Option<String>, Option<Role>), outside: Memo<Vec<String>>, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::here(), Sending::new());
    let (assignee, worn) = hands;
    let to = RwSignal::new(assignee.clone().unwrap_or_default());
    let hat = RwSignal::new(worn);
    let title = format!("Assign {task}");
    let submit = move |()| {
        let assigned_to = given(to);
        let hat = hat.get_untracked().filter(|_| assigned_to.is_some());
        sending.run(client.assign(task.clone(), assigned_to, hat), move |_| close.run(()));
    };
    // The assignee may have left and is named still.
    let gone = assignee.clone().filter(|name| !outside.with_untracked(|names| names.contains(name)));
    let names = outside.get_untracked().into_iter().chain(gone);
    let names =
        names.map(|name| view! { <option value=name.clone() selected=assignee.as_ref() == Some(&name)>{name.clone()}</option> }).collect_view();
    let hats =
        Role::ALL.iter().map(|role| view! { <option value=role.as_str() selected=worn == Some(*role)>{role.as_str()}</option> }).collect_view();
    view! {
        <Dialog title=title close=close>
            <Form verb="Assign" sending=sending submit=submit close=close>
                <div class="pair">
                    <div class="field">
                        <label for="assign-to">"Who does it"</label>
                        <select id="assign-to" class="input" autofocus on:change:target=move |event| to.set(event.target().value())>
                            <option value="">"An agent that is started from here"</option>
                            {names}
                        </select>
                    </div>
                    <div class="field">
                        <label for="assign-hat">"In which role"</label>
                        <select
                            id="assign-hat"
                            class="input"
                            disabled=move || to.with(String::is_empty)
                            on:change:target=move |event| hat.set(event.target().value().parse().ok())
                        >
                            <option value="">"No special one"</option>
                            {hats}
                        </select>
                    </div>
                </div>
                <p class="soft small-text">"No other agent is started for a task that is assigned."</p>
            </Form>
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use domain::board::card::Contributors;
    use domain::board::status::Status;
    use domain::runs::agent_kind::AgentKind;

    use super::*;
    use crate::testing;

    #[test]
    fn a_gate_is_offered_where_the_table_has_one() {
        let offered: Vec<Vec<Gate>> = Status::ALL.iter().map(|status| gates(&testing::card(1, *status))).collect();
        assert_eq!(offered, [vec![], vec![], vec![Gate::Approve], vec![Gate::Verify, Gate::Reject], vec![]]);
        let plan = |status| Card { phase: AgentKind::Planner, ..testing::card(1, status) };
        assert!(Status::ALL.iter().all(|status| gates(&plan(*status)).is_empty()));
    }

    #[test]
    fn what_was_passed_is_not_offered_again() {
        let done = testing::card(1, Status::Done);
        let hands = Contributors { verified_by: Some("ada".to_owned()), ..Contributors::default() };
        assert_eq!(gates(&Card { contributors, ..done }), [Gate::Reject]);
        let approved = Card { approved_sha: Some("abc".to_owned()), ..testing::card(1, Status::InReview) };
        assert!(gates(&approved).is_empty());
    }
}
