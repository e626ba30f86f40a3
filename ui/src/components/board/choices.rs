//! The choices about a task whose agent was removed: another agent continues it, an investigator looks at what is left, or the runner finishes it.
//!
//! Must not know which choices there are: the attention of the card says so.

use domain::board::attention::AttentionAction;
use domain::board::task::retry::RetryOptions;
use domain::id::{ProjectId, TaskId};
use domain::team::agent::Agent;
use domain::warroom::class::AgentClass;
use domain::warroom::trigger::{MAX_NOTE_BYTES, NewTrigger, TriggerWord};
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::client::Client;
use crate::components::board::card_actions::{ActionButton, settle};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text, non_empty};
use crate::components::toast::Toasts;
use crate::project_data::items;

/// The choice whose dialog is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Open {
    Nothing,
    Reassign,
    Assess,
}

#[component]
pub(crate) fn Choices(
    project: ProjectId,
    task: TaskId,
    /// The agent that was removed.
    agent: Option<String>,
    offered: Vec<AttentionAction>,
    /// Whether its first button is the filled one of the page.
    #[prop(optional, into)]
    loud: Signal<bool>,
) -> impl IntoView {
    let client = Client::from_context();
    let open = RwSignal::new(Open::Nothing);
    let close = Callback::new(move |()| open.set(Open::Nothing));
    let place = StoredValue::new((project, task.clone(), agent));
    let button = |(index, action): (usize, AttentionAction)| {
        let (label, act) = match action {
            AttentionAction::Assign => ("Reassign…", Callback::new(move |()| open.set(Open::Reassign))),
            AttentionAction::Assess => ("Assess…", Callback::new(move |()| open.set(Open::Assess))),
            AttentionAction::Retry => {
                let task = task.clone();
                ("Finish", Callback::new(move |()| client.act(client.retry(task.clone(), RetryOptions::default()), |_| {})))
            }
            other => settle(client, task.clone(), other).ok()?,
        };
        Some(view! { <ActionButton label=label act=act loud=Signal::derive(move || index == 0 && loud.get()) /> })
    };
    let buttons = offered.into_iter().enumerate().filter_map(button).collect_view();
    let dialog = move || {
        let (project, task, agent) = place.get_value();
        match open.get() {
            Open::Nothing => ().into_any(),
            Open::Reassign => view! { <ReassignDialog project=project task=task agent=agent close=close /> }.into_any(),
            Open::Assess => view! { <AssessDialog project=project task=task agent=agent close=close /> }.into_any(),
        }
    };
    // A press in a dialog must not drag the card that it is drawn in.
    view! {
        {buttons}
        <div class="choice-dialog" on:pointerdown=|event| event.stop_propagation()>{dialog}</div>
    }
    .into_any()
}

/// The agents of a project that a person can give work to: present, and not started by the runner. None until they are loaded.
fn present(client: Client, project: ProjectId) -> RwSignal<Option<Vec<Agent>>> {
    let found = RwSignal::new(None);
    let request = items(client.agents(project));
    spawn_local(async move {
        match request.await {
            Ok(agents) => {
                let agents = agents.into_iter().filter(|agent| agent.left_at.is_none() && agent.run_id.is_none()).collect();
                let _dialog_closed = found.try_set(Some(agents));
            }
            Err(failure) => client.show(&failure),
        }
    });
    found
}

#[component]
fn ReassignDialog(project: ProjectId, task: TaskId, agent: Option<String>, close: Callback<()>) -> impl IntoView {
    let (client, sending) = (Client::from_context(), Sending::new());
    let (agents, to) = (present(client, project), RwSignal::new(String::new()));
    let title = format!("Reassign {task}");
    let submit = move |()| sending.run(client.assign(task.clone(), non_empty(to), None), move |_| close.run(()));
    let explanation = agent
        .map(|agent| view! { <p class="soft">{format!("It continues with cold_start and predecessor={agent}, and reads what {agent} left.")}</p> });
    view! {
        <Dialog title=title close=close>
            <Form verb="Assign" ready=Signal::derive(move || has_text(to)) sending=sending submit=submit close=close>
                {explanation}
                <AgentSelect
                    agents=Signal::derive(move || agents.get().map(names))
                    chosen=to
                    none="No external agent is online. Start one and let it register, or press Finish, and the runner starts a coder."
                />
            </Form>
        </Dialog>
    }
    .into_any()
}

#[component]
fn AssessDialog(project: ProjectId, task: TaskId, agent: Option<String>, close: Callback<()>) -> impl IntoView {
    let (client, toasts, sending) = (Client::from_context(), Toasts::from_context(), Sending::new());
    let (agents, to) = (present(client, project.clone()), RwSignal::new(String::new()));
    let title = format!("Assess {task}");
    let subject = RwSignal::new(subject(&task, agent.as_deref()));
    let submit = move |()| {
        let order = NewTrigger { word: TriggerWord::Recon, target: non_empty(to), note: non_empty(subject) };
        sending.run(client.give_trigger(project.clone(), order), move |_| {
            toasts.success("The order was given. The task still waits for your decision.");
            close.run(());
        });
    };
    view! {
        <Dialog title=title close=close>
            <Form verb="Give the order" ready=Signal::derive(move || has_text(to) && has_text(subject)) sending=sending submit=submit close=close>
                <p class="soft">"An investigator looks at it and reports. You decide afterwards."</p>
                <AgentSelect
                    agents=Signal::derive(move || agents.get().map(investigators))
                    chosen=to
                    none="No investigator is present. Start an agent that registers with the class recon, or choose Reassign or Finish."
                />
                <TextField id="assess-subject" label="Subject" value=subject max_length=MAX_NOTE_BYTES as u32 />
            </Form>
        </Dialog>
    }
    .into_any()
}

/// The subject of the investigation, which the person may change.
fn subject(task: &TaskId, agent: Option<&str>) -> String {
    format!("what {} left of {task}, and how much of it can be used", agent.unwrap_or("its agent"))
}

fn names(agents: Vec<Agent>) -> Vec<String> {
    agents.into_iter().map(|agent| agent.name).collect()
}

fn investigators(agents: Vec<Agent>) -> Vec<String> {
    names(agents.into_iter().filter(|agent| agent.class == AgentClass::Recon).collect())
}

/// One of the agents, or the reason why there is none.
#[component]
fn AgentSelect(#[prop(into)] agents: Signal<Option<Vec<String>>>, chosen: RwSignal<String>, none: &'static str) -> impl IntoView {
    move || match agents.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(agents) if agents.is_empty() => view! { <p class="notice" data-tone="warn" role="status">{none}</p> }.into_any(),
        Some(agents) => {
            let option = |name: String| view! { <option value=name.clone()>{name.clone()}</option> };
            view! {
                <div class="field">
                    <label for="choice-agent">"Agent"</label>
                    <select id="choice-agent" class="input" on:change:target=move |event| chosen.set(event.target().value())>
                        <option value="">"Choose an agent"</option>
                        {agents.into_iter().map(option).collect_view()}
                    </select>
                </div>
            }
            .into_any()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::agent;

    #[test]
    fn investigators_are_agents_of_that_class() {
        let recon = Agent { class: AgentClass::Recon, ..agent("rik") };
        assert_eq!(investigators(vec![agent("ben"), recon]), ["rik"]);
    }

    #[test]
    fn subject_names_the_agent_and_the_task() {
        assert_eq!(subject(&TaskId::new(3), Some("ben")), "what ben left of TASK-003, and how much of it can be used");
        assert!(subject(&TaskId::new(3), None).starts_with("what its agent left"));
    }
}
