//! The review gate of a task: approve, verify, and assign.
//!
//! Must not decide anything: the transition table offers a gate, and the server decides about each use.

use domain::board::card::Card;
use domain::board::transition::{Mover, Requirement, rule};
use domain::id::TaskId;
use domain::team::role::Role;
use leptos::prelude::*;

use crate::client::{ChangedTask, Client};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, non_empty};
use crate::components::toast::Toasts;
use crate::draft::draft;
use crate::project_data::ProjectData;
use crate::route::{Navigation, Route};

/// An action at the review gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gate {
    Approve,
    Verify,
}

impl Gate {
    const fn labels(self) -> (&'static str, &'static str) {
        match self {
            Self::Approve => ("Approve", "Notes (optional)"),
            Self::Verify => ("Verify", "What you checked (optional)"),
        }
    }
}

/// The gate actions for a task. A rule whose status stays the same approves or verifies.
fn gates(card: &Card) -> Vec<Gate> {
    match rule(card.phase, card.status, card.status, Mover::Human).map(|rule| rule.requirement) {
        Some(Requirement::Verdict) if card.approved_sha.is_none() || awaits_a_person(card) => vec![Gate::Approve],
        Some(Requirement::Independence) if card.contributors.verified_by.is_none() => vec![Gate::Verify],
        _ => Vec::new(),
    }
}

/// Whether a gate is decided on the page of the review, which binds the decision to the commit that it shows.
fn is_decided_in_review(gate: Gate, has_branch: bool) -> bool {
    gate == Gate::Approve && has_branch
}

/// Whether an approved card waits for a person to approve it too.
fn awaits_a_person(card: &Card) -> bool {
    card.attention.as_ref().is_some_and(|attention| attention.kind.is_review())
}

#[component]
pub(crate) fn TaskGates(
    task: TaskId,
    card: Signal<Card>,
    /// Whether the task has a branch.
    #[prop(into)]
    has_branch: Signal<bool>,
) -> impl IntoView {
    let (data, navigation) = (ProjectData::from_context(), Navigation::from_context());
    let open_gate = RwSignal::new(None::<Gate>);
    let assigning = RwSignal::new(false);
    let offered = Memo::new(move |_| card.with(gates));
    let active = data.active_agents();
    // The runner assigns tasks to managed agents itself.
    let external = Memo::new(move |_| active.get().into_iter().filter(|agent| agent.run_id.is_none()).map(|agent| agent.name).collect::<Vec<_>>());
    let assignable =
        Memo::new(move |_| card.with(|card| card.status.is_open() && (card.contributors.assigned_to.is_some() || !external.with(Vec::is_empty))));
    let (gate_task, review_task, assigned_task) = (task.clone(), task.clone(), task);
    view! {
        {move || {
            let button = |gate: Gate| {
                if is_decided_in_review(gate, has_branch.get()) {
                    let route = Route::Review { project: data.project(), task: review_task.clone() };
                    let href = route.path();
                    return view! { <a class="button primary" href=href on:click=move |event| navigation.follow(&event, route.clone())>"Review"</a> }.into_any();
                }
                let class = if gate == Gate::Approve { "button primary" } else { "button" };
                view! { <button type="button" class=class on:click=move |_| open_gate.set(Some(gate))>{gate.labels().0}</button> }.into_any()
            };
            offered.get().into_iter().map(button).collect_view()
        }}
        <Show when=move || assignable.get()>
            <button type="button" class="button" on:click=move |_| assigning.set(true)>"Assign"</button>
        </Show>
        {move || open_gate.get().map(|gate| view! { <GateDialog task=gate_task.clone() gate=gate close=Callback::new(move |()| open_gate.set(None)) /> })}
        {move || assigning.get().then(|| {
            let current = card.with_untracked(|card| (card.contributors.assigned_to.clone(), card.contributors.role_hat));
            view! { <AssignDialog task=assigned_task.clone() current=current external=external close=Callback::new(move |()| assigning.set(false)) /> }
        })}
    }
}

#[component]
fn GateDialog(task: TaskId, gate: Gate, close: Callback<()>) -> impl IntoView {
    let (client, toasts, sending) = (Client::from_context(), Toasts::from_context(), Sending::new());
    let (verb, label) = gate.labels();
    let text = draft(&format!("gate/{task}/{verb}"));
    let title = format!("{verb}: {task}");
    let submit = move |()| {
        let (task, notes) = (task.clone(), non_empty(text));
        let request = async move {
            match gate {
                Gate::Approve => client.approve(task, notes, None).await,
                Gate::Verify => client.verify(task, notes).await,
            }
        };
        sending.run(request, move |task: ChangedTask| {
            if let Some(note) = task.note {
                toasts.success(note);
            }
            text.set(String::new());
            close.run(());
        });
    };
    view! {
        <Dialog title=title close=close>
            <Form verb=verb sending=sending submit=submit close=close>
                <TextArea id="gate-text" label=label value=text autofocus=true />
            </Form>
        </Dialog>
    }
}

#[component]
fn AssignDialog(task: TaskId, current: (Option<String>, Option<Role>), external: Memo<Vec<String>>, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let (assignee, current_hat) = current;
    let to = RwSignal::new(assignee.clone().unwrap_or_default());
    let hat = RwSignal::new(current_hat);
    let title = format!("Assign {task}");
    let submit = move |()| {
        let assigned_to = non_empty(to);
        let hat = hat.get_untracked().filter(|_| assigned_to.is_some());
        sending.run(client.assign(task.clone(), assigned_to, hat), move |_| close.run(()));
    };
    // An assignee that has left stays in the list.
    let departed = assignee.clone().filter(|name| !external.with_untracked(|names| names.contains(name)));
    let names = external.get_untracked().into_iter().chain(departed);
    let names =
        names.map(|name| view! { <option value=name.clone() selected=assignee.as_ref() == Some(&name)>{name.clone()}</option> }).collect_view();
    let hats = Role::ALL
        .iter()
        .map(|role| view! { <option value=role.as_str() selected=current_hat == Some(*role)>{role.as_str()}</option> })
        .collect_view();
    view! {
        <Dialog title=title close=close>
            <Form verb="Assign" sending=sending submit=submit close=close>
                <div class="field-row">
                    <div class="field">
                        <label for="assign-to">"Assignee"</label>
                        <select id="assign-to" class="input" autofocus on:change:target=move |event| to.set(event.target().value())>
                            <option value="">"A managed agent"</option>
                            {names}
                        </select>
                    </div>
                    <div class="field">
                        <label for="assign-hat">"Role"</label>
                        <select
                            id="assign-hat"
                            class="input"
                            disabled=move || to.with(String::is_empty)
                            on:change:target=move |event| hat.set(event.target().value().parse().ok())
                        >
                            <option value="">"No specific role"</option>
                            {hats}
                        </select>
                    </div>
                </div>
                <p class="soft small-text">"The runner starts no agent for an assigned task."</p>
            </Form>
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use domain::board::attention::{Attention, AttentionKind};
    use domain::board::card::Contributors;
    use domain::board::status::Status;
    use domain::runs::agent_kind::AgentKind;

    use super::*;
    use crate::testing;

    #[test]
    fn gates_follow_the_transition_table() {
        let offered: Vec<Vec<Gate>> = Status::ALL.iter().map(|status| gates(&testing::card(1, *status))).collect();
        assert_eq!(offered, [vec![], vec![], vec![Gate::Approve], vec![Gate::Verify], vec![]]);
        let plan = |status| Card { phase: AgentKind::Planner, ..testing::card(1, status) };
        assert!(Status::ALL.iter().all(|status| gates(&plan(*status)).is_empty()));
    }

    /// The panel shows no commit, and another one may have arrived.
    #[test]
    fn panel_approves_no_commit_that_the_person_has_not_seen() {
        assert!(is_decided_in_review(Gate::Approve, true));
        assert!(!is_decided_in_review(Gate::Approve, false), "work without a branch has no commit");
        assert!(!is_decided_in_review(Gate::Verify, true), "a verification approves nothing");
    }

    #[test]
    fn passed_gate_is_not_offered_again() {
        let done = testing::card(1, Status::Done);
        let contributors = Contributors { verified_by: Some("ada".to_owned()), ..Contributors::default() };
        assert!(gates(&Card { contributors, ..done }).is_empty());
        let approved = Card { approved_sha: Some("abc".to_owned()), ..testing::card(1, Status::InReview) };
        assert!(gates(&approved).is_empty());
        let attention = Some(Attention::new(AttentionKind::ProtectedPaths, ""));
        assert_eq!(gates(&Card { attention, ..approved }), [Gate::Approve], "a person must approve it too");
    }
}
