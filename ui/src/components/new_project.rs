//! The dialog for a new project. What is at the path is looked up while it is typed.

use std::time::Duration;

use domain::board::project::{PlanApproval, Project};
use domain::runs::evidence::RepositoryInfo;
use domain::wire::NewProject;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::app::About;
use crate::client::{Client, Failure};
use crate::components::badge::Tone;
use crate::components::coded::{Coded, sentence};
use crate::components::dialog::Dialog;
use crate::components::form::{Form, LineField, Sending, WordsField, written};
use crate::moves::Choice;
use crate::route::{Navigation, Route};

/// How long typing must rest before the path is looked up.
const REST: Duration = Duration::from_millis(250);

/// What is known about the typed path.
#[derive(Debug, Clone, PartialEq)]
enum Look {
    Nothing,
    Looking,
    Found(Box<RepositoryInfo>),
    Refused { detail: String, hint: String },
}

/// Looks up the path once typing rests; an answer about an older text is dropped.
fn look_up(client: Client, path: Signal<String>, branch: RwSignal<Option<String>>, look: RwSignal<Look>) {
    let newest = StoredValue::new(0u64);
    Effect::new(move || {
        let (path, branch) = (path.get().trim().to_owned(), branch.get());
        let mine = newest.get_value() + 1;
        newest.set_value(mine);
        if path.is_empty() {
            look.set(Look::Nothing);
            return;
        }
        if look.with_untracked(|look| !matches!(look, Look::Found(_))) {
            look.set(Look::Looking);
        }
        spawn_local(async move {
            sleep(REST).await;
            if newest.try_get_value() != Some(mine) {
                return;
            }
            let answer = match client.probe(&path, branch.as_deref()).await {
                Ok(probe) => Look::Found(Box::new(probe)),
                Err(Failure::Refused(problem)) => Look::Refused { detail: problem.detail, hint: problem.hint },
                Err(Failure::Unreachable(detail)) => Look::Refused { detail, hint: String::new() },
                Err(Failure::SignedOut) => return,
            };
            if newest.try_get_value() == Some(mine) {
                look.set(answer);
            }
        });
    });
}

/// What agents start from, and what becomes of the person's own changes.
fn found(probe: &RepositoryInfo) -> String {
    let short: String = probe.base_sha.chars().take(7).collect();
    let start = format!("Agents start from {} @ {short}", probe.base_branch);
    match probe.uncommitted {
        0 => format!("{start}. Nothing is uncommitted."),
        1 => format!("{start}; your 1 uncommitted file stays untouched and is not seen."),
        count => format!("{start}; your {count} uncommitted files stay untouched and are not seen."),
    }
}

#[component]
pub(crate) fn NewProjectDialog(close: Callback<()>) -> impl IntoView {
    let (client, navigation, sending) = (Client::here(), Navigation::here(), Sending::new());
    let configured = About::here().server.get_untracked().and_then(|server| server.repo_path).unwrap_or_default();
    let title = RwSignal::new(String::new());
    let goal = RwSignal::new(String::new());
    let planned = RwSignal::new(true);
    let ask = RwSignal::new(false);
    let path = RwSignal::new(configured);
    let branch = RwSignal::new(None::<String>);
    let look = RwSignal::new(Look::Nothing);
    look_up(client, path.into(), branch, look);

    let ready = Signal::derive(move || {
        let aimed = !planned.get() || written(goal);
        written(title) && aimed && look.with(|look| matches!(look, Look::Found(_)))
    });
    let submit = move |()| {
        let planned = planned.get_untracked();
        let new = NewProject {
            title: title.get_untracked(),
            description: planned.then(|| goal.get_untracked()),
            repo_path: Some(path.get_untracked().trim().to_owned()),
            base_branch: branch.get_untracked(),
            plan: Some(planned),
            plan_approval: Some(if ask.get_untracked() { PlanApproval::Ask } else { PlanApproval::Auto }),
        };
        sending.run(client.create_project(new), move |project: Project| {
            close.run(());
            navigation.go(Route::Board { project: project.id, task: None });
        });
    };
    view! {
        <Dialog title="New project" close=close>
            <Form verb="Create" ready=ready sending=sending submit=submit close=close>
                <LineField id="project-title" label="Title" value=title longest=500 placeholder="Dark mode for the settings page" autofocus=true />
                <div class="field">
                    <label for="project-path">"Repository"</label>
                    <input
                        id="project-path"
                        class="input mono"
                        spellcheck="false"
                        placeholder="/home/you/code/app"
                        aria-describedby="project-found"
                        aria-invalid=move || look.with(|look| matches!(look, Look::Refused { .. })).then_some("true")
                        prop:value=path
                        on:input:target=move |event| {
                            branch.set(None);
                            look.set(Look::Nothing);
                            path.set(event.target().value());
                        }
                    />
                    <div id="project-found" role="status"><Finding look=look /></div>
                </div>
                <Branches look=look branch=branch />
                <div class="choices" role="radiogroup" aria-label="How it begins">
                    <Choice name="begin" title="With a goal" detail="A planner breaks it into tasks, and work begins." value=true picked=planned />
                    <Choice name="begin" title="With an empty board" detail="You write the tasks yourself." value=false picked=planned />
                </div>
                <Show when=move || planned.get()>
                    <WordsField
                        id="project-goal"
                        label="Goal"
                        value=goal
                        placeholder="What should be true when it is done? What must not change?"
                    />
                    <label class="choice">
                        <input type="checkbox" bind:checked=ask />
                        <div>
                            <strong>"Ask me before the plan starts"</strong>
                            <span>"You read, edit and reorder the tasks, then press Start. Otherwise they start by themselves."</span>
                        </div>
                    </label>
                </Show>
            </Form>
        </Dialog>
    }
}

/// What is at the path, in a line.
#[component]
fn Finding(look: RwSignal<Look>) -> impl IntoView {
    move || match look.get() {
        Look::Nothing => view! { <p class="hint">"Any folder of a git checkout on this machine."</p> }.into_any(),
        Look::Looking => view! { <p class="hint">"Looking…"</p> }.into_any(),
        Look::Found(probe) => view! { <p class="hint" data-tone=Tone::Good.as_str()>{found(&probe)}</p> }.into_any(),
        Look::Refused { detail, hint } => {
            view! { <p class="hint" data-tone=Tone::Bad.as_str()><Coded text=format!("{} {}", sentence(&detail), sentence(&hint)) /></p> }.into_any()
        }
    }
}

/// The choice of the branch to start from, once the repository's branches are known.
#[component]
fn Branches(look: RwSignal<Look>, branch: RwSignal<Option<String>>) -> impl IntoView {
    let branches = Memo::new(move |known: Option<&Vec<String>>| match look.get() {
        Look::Found(probe) => probe.branches,
        // A refused branch must not take away the list to choose another one from.
        Look::Looking | Look::Refused { .. } if branch.with(Option::is_some) => known.cloned().unwrap_or_default(),
        _ => Vec::new(),
    });
    let options = move || {
        let picked = branch.get().or_else(|| branches.with(|branches| branches.first().cloned()));
        branches
            .get()
            .into_iter()
            .map(|name| {
                let selected = picked.as_ref() == Some(&name);
                view! { <option value=name.clone() selected=selected>{name.clone()}</option> }
            })
            .collect_view()
    };
    view! {
        <Show when=move || branches.with(|branches| branches.len() > 1)>
            <div class="field">
                <label for="project-branch">"Base branch"</label>
                <select id="project-branch" class="input" on:change:target=move |event| branch.set(Some(event.target().value()))>
                    {options}
                </select>
            </div>
        </Show>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_dialog_says_what_agents_start_from_and_what_they_do_not_see() {
        let mut probe = RepositoryInfo {
            repo_path: "/code/app".to_owned(),
            git_dir: "/code/app/.git".to_owned(),
            base_branch: "main".to_owned(),
            base_sha: "abc1234567890abc1234567890abc1234567890a".to_owned(),
            branches: vec!["main".to_owned()],
            uncommitted: 12,
            identity: None,
        };
        assert_eq!(found(&probe), "Agents start from main @ abc1234; your 12 uncommitted files stay untouched and are not seen.");
        probe.uncommitted = 1;
        assert_eq!(found(&probe), "Agents start from main @ abc1234; your 1 uncommitted file stays untouched and is not seen.");
        probe.uncommitted = 0;
        assert_eq!(found(&probe), "Agents start from main @ abc1234. Nothing is uncommitted.");
    }
}
