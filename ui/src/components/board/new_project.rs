//! The dialog that creates a project. It inspects the repository while the path is typed.

use std::time::Duration;

use domain::board::project::{PlanApproval, Project};
use domain::runs::branch_start::BranchStart;
use domain::runs::evidence::RepositoryInfo;
use domain::runs::profile::Profile;
use domain::team::person::Right;
use domain::wire::NewProject;
use gloo_timers::future::sleep;
use leptos::prelude::*;
use leptos::task::spawn_local;
use web_sys::AbortController;

use crate::app::ServerStatus;
use crate::client::{Client, Failure};
use crate::components::badge::Tone;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextArea, TextField, has_text, non_empty};
use crate::components::inline_code::{InlineCode, sentence};
use crate::components::runs::branch_start::{BranchStartField, offered};
use crate::components::runs::profile::{ProfileFields, ProposedProfile};
use crate::components::runs::repository_finding::RepositoryFindings;
use crate::components::runs::sandbox::{SandboxField, choices};
use crate::draft::draft;
use crate::moves::Choice;
use crate::reader::Reader;
use crate::route::{Navigation, Route};

/// Pause in typing before the path is inspected.
const DEBOUNCE_INTERVAL: Duration = Duration::from_millis(250);

/// The result for the typed path.
#[derive(Debug, Clone, PartialEq)]
enum Lookup {
    Empty,
    Running,
    Found(Box<RepositoryInfo>),
    Refused { detail: String, hint: String },
}

/// Inspects the path after each pause in typing. An answer for an older text is dropped.
fn inspect(client: Client, path: Signal<String>, branch: RwSignal<Option<String>>, lookup: RwSignal<Lookup>) {
    let newest = StoredValue::new(0u64);
    Effect::new(move || {
        let (path, branch) = (path.get().trim().to_owned(), branch.get());
        let number = newest.get_value() + 1;
        newest.set_value(number);
        if path.is_empty() {
            lookup.set(Lookup::Empty);
            return;
        }
        if lookup.with_untracked(|lookup| !matches!(lookup, Lookup::Found(_))) {
            lookup.set(Lookup::Running);
        }
        spawn_local(async move {
            sleep(DEBOUNCE_INTERVAL).await;
            if newest.try_get_value() != Some(number) {
                return;
            }
            let answer = match client.probe(&path, branch.as_deref(), branch.is_some()).await {
                Ok(probe) => Lookup::Found(Box::new(probe)),
                Err(Failure::Refused(problem)) => Lookup::Refused { detail: problem.detail, hint: problem.hint },
                Err(Failure::Unreachable(detail)) => Lookup::Refused { detail, hint: String::new() },
                Err(Failure::SignedOut) => return,
            };
            if newest.try_get_value() == Some(number) {
                lookup.set(answer);
            }
        });
    });
}

/// Counts the uncommitted files of the repository that was found, which takes longer than to find it. A count for another path is cancelled.
fn count(client: Client, lookup: RwSignal<Lookup>, uncommitted: RwSignal<Option<u32>>) {
    let top = Memo::new(move |_| match lookup.get() {
        Lookup::Found(probe) => Some(probe.repo_path),
        _ => None,
    });
    let running = StoredValue::new_local(None::<AbortController>);
    let cancel = move || {
        if let Some(Some(request)) = running.try_update_value(Option::take) {
            request.abort();
        }
    };
    Effect::new(move || {
        cancel();
        uncommitted.set(None);
        let Some(top) = top.get() else { return };
        let request = AbortController::new().ok();
        running.set_value(request.clone());
        spawn_local(async move {
            let signal = request.map(|request| request.signal());
            // Without a count the dialog says nothing about it. A cancelled request has no answer.
            if let Ok(found) = client.uncommitted(&top, signal.as_ref()).await {
                uncommitted.try_set(Some(found.count));
            }
        });
    });
    on_cleanup(cancel);
}

/// The commit that agents start from, and the uncommitted files that they cannot see, once they are counted.
pub(crate) fn summary(probe: &RepositoryInfo, uncommitted: Option<u32>, start: BranchStart) -> String {
    let short: String = probe.base_sha.chars().take(7).collect();
    let begin = match (&probe.newer_upstream, start) {
        (Some(upstream), BranchStart::Upstream) => format!("Agents start from {upstream}."),
        _ => format!("Agents start from {} @ {short}.", probe.base_branch),
    };
    match uncommitted {
        _ if start == BranchStart::Snapshot => {
            format!("Agents start from {} @ {short} with a snapshot of your uncommitted files, which stay untouched.", probe.base_branch)
        }
        None => begin,
        Some(0) => format!("{begin} There are no uncommitted files."),
        Some(1) => format!("{begin} Your 1 uncommitted file stays untouched, and agents do not see it."),
        Some(count) => format!("{begin} Your {count} uncommitted files stay untouched, and agents do not see them."),
    }
}

/// An amount as it is typed; empty for none.
fn dollars(micro_usd: i64) -> String {
    match (micro_usd / 1_000_000, micro_usd % 1_000_000 / 10_000) {
        (0, 0) => String::new(),
        (dollars, 0) => dollars.to_string(),
        (dollars, cents) => format!("{dollars}.{cents:02}"),
    }
}

/// The typed amount, or none if it is not one.
fn micro_usd(text: &str) -> Option<i64> {
    let amount: f64 = text.trim().trim_start_matches('$').parse().ok()?;
    #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
    (0.0..=1e9).contains(&amount).then(|| (amount * 1e6).round() as i64)
}

#[component]
pub(crate) fn NewProjectDialog(close: Callback<()>) -> impl IntoView {
    let (client, navigation, sending) = (Client::from_context(), Navigation::from_context(), Sending::new());
    let status = ServerStatus::from_context();
    // The runner may have found out since the page was opened.
    status.refresh();
    let sandbox = RwSignal::new(None);
    let configured_path = status.server.get_untracked().and_then(|server| server.repo_path).unwrap_or_default();
    let title = draft("project/title");
    let goal = draft("project/goal");
    let issue = RwSignal::new(String::new());
    let planned = RwSignal::new(true);
    let needs_approval = RwSignal::new(false);
    let configured_budget = status.server.get_untracked().and_then(|server| server.project_budget_micro_usd).unwrap_or_default();
    let budget = RwSignal::new(dollars(configured_budget));
    let path = RwSignal::new(configured_path);
    let branch = RwSignal::new(None::<String>);
    let lookup = RwSignal::new(Lookup::Empty);
    inspect(client, path.into(), branch, lookup);
    let uncommitted = RwSignal::new(None);
    count(client, lookup, uncommitted);
    let findings = Memo::new(move |_| match lookup.get() {
        Lookup::Found(probe) => probe.findings,
        _ => Vec::new(),
    });
    let starts = Memo::new(move |_| match lookup.get() {
        Lookup::Found(probe) => offered(&probe, uncommitted.get().unwrap_or_default()),
        _ => Vec::new(),
    });
    let picked_start = RwSignal::new(BranchStart::Base);
    // A start that was picked for another repository does not apply.
    let start = Signal::derive(move || Some(picked_start.get()).filter(|picked| starts.with(|starts| starts.contains(picked))).unwrap_or_default());
    let fields = ProfileFields::new(&Profile::default());
    let detection = Memo::new(move |_| match lookup.get() {
        Lookup::Found(probe) => Some(probe.detection),
        _ => None,
    });
    Effect::new(move || {
        if let Some(found) = detection.get() {
            fields.set(found.preferred());
        }
    });

    let ready = Signal::derive(move || {
        let has_issue = planned.get() && has_text(issue);
        let has_goal = !planned.get() || has_issue || has_text(goal);
        let has_budget = budget.with(|budget| budget.trim().is_empty() || micro_usd(budget).is_some());
        let is_chosen = choices(status).is_empty() || sandbox.get().is_some();
        (has_issue || has_text(title))
            && fields.profile().is_some()
            && has_goal
            && has_budget
            && is_chosen
            && lookup.with(|lookup| matches!(lookup, Lookup::Found(_)))
    });
    let submit = move |()| {
        let planned = planned.get_untracked();
        let new = NewProject {
            title: title.get_untracked(),
            description: planned.then(|| goal.get_untracked()),
            issue: non_empty(issue).filter(|_| planned),
            repo_path: Some(path.get_untracked().trim().to_owned()),
            base_branch: branch.get_untracked(),
            // A branch of a remote is in the list only to be made.
            make_base: branch.with_untracked(Option::is_some),
            start: start.get_untracked(),
            plan: Some(planned),
            budget_micro_usd: micro_usd(&budget.get_untracked()).filter(|budget| *budget != configured_budget),
            // Only an owner sets commands; others get what the repository has.
            profile: untrack(|| fields.profile()).filter(|_| Reader::current().may(Right::Administer)),
            review: None,
            plan_approval: Some(if needs_approval.get_untracked() { PlanApproval::Ask } else { PlanApproval::Auto }),
        };
        let chosen = sandbox.get_untracked().filter(|tier| untrack(|| choices(status)).contains(tier));
        let request = async move {
            if let Some(tier) = chosen {
                let settled = client.choose_sandbox(tier).await?;
                status.settle_sandbox(settled);
            }
            client.create_project(new).await
        };
        sending.run(request, move |project: Project| {
            title.set(String::new());
            goal.set(String::new());
            close.run(());
            navigation.go(Route::Board { project: project.id, task: None });
        });
    };
    view! {
        <Dialog title="New project" close=close>
            <Form verb="Create" ready=ready sending=sending submit=submit close=close>
                <TextField id="project-title" label="Title" value=title max_length=500 placeholder="Dark mode for the settings page" autofocus=true />
                <div class="field">
                    <label for="project-path">"Repository"</label>
                    <input
                        id="project-path"
                        class="input mono"
                        spellcheck="false"
                        placeholder="/home/you/code/app"
                        aria-describedby="project-found"
                        aria-invalid=move || lookup.with(|lookup| matches!(lookup, Lookup::Refused { .. })).then_some("true")
                        prop:value=path
                        on:input:target=move |event| {
                            branch.set(None);
                            lookup.set(Lookup::Empty);
                            path.set(event.target().value());
                        }
                    />
                    <div id="project-found" role="status"><LookupResult lookup=lookup uncommitted=uncommitted start=start /></div>
                </div>
                <Branches lookup=lookup branch=branch />
                <RepositoryFindings findings=findings />
                <BranchStartField offered=starts picked=picked_start />
                <Show when=|| Reader::current().may(Right::Administer)>
                    <ProposedProfile detection=detection fields=fields />
                </Show>
                <TextField id="project-budget" label="Budget in US dollars (optional)" value=budget max_length=12 placeholder="100" autofocus=false />
                <SandboxField picked=sandbox />
                <div class="choices" role="radiogroup" aria-label="Start">
                    <Choice name="begin" title="With a goal" detail="A planner breaks it into tasks, and agents start to work." value=true picked=planned />
                    <Choice name="begin" title="With an empty board" detail="You create the tasks yourself." value=false picked=planned />
                </div>
                <Show when=move || planned.get()>
                    <TextArea
                        id="project-goal"
                        label="Goal"
                        value=goal
                        placeholder="What should be true when the work is done? What must not change?"
                    />
                    <TextField id="project-issue" label="Issue (optional)" value=issue max_length=500 placeholder="7, or its address" autofocus=false />
                    <Show when=move || has_text(issue)>
                        <p class="hint">"Its text is added to your goal and marked as written by someone else. Without a title, the project takes the title of the issue. The pull request of the project closes the issue."</p>
                    </Show>
                    <label class="choice">
                        <input type="checkbox" bind:checked=needs_approval />
                        <div>
                            <strong>"Approve the plan before it starts"</strong>
                            <span>"You review, edit and reorder the tasks, then start the plan. Otherwise it starts at once."</span>
                        </div>
                    </label>
                </Show>
            </Form>
        </Dialog>
    }
}

/// The result for the path, in one line.
#[component]
fn LookupResult(lookup: RwSignal<Lookup>, uncommitted: RwSignal<Option<u32>>, start: Signal<BranchStart>) -> impl IntoView {
    move || match lookup.get() {
        Lookup::Empty => view! { <p class="hint">"Enter any folder of a git checkout on this machine."</p> }.into_any(),
        Lookup::Running => view! { <p class="hint">"Checking…"</p> }.into_any(),
        Lookup::Found(probe) => {
            view! { <p class="hint" data-tone=Tone::Good.as_str()>{move || summary(&probe, uncommitted.get(), start.get())}</p> }.into_any()
        }
        Lookup::Refused { detail, hint } => {
            view! { <p class="hint" data-tone=Tone::Bad.as_str()><InlineCode text=format!("{} {}", sentence(&detail), sentence(&hint)) /></p> }
                .into_any()
        }
    }
}

/// The choice of the base branch, once the branches of the repository are known.
#[component]
fn Branches(lookup: RwSignal<Lookup>, branch: RwSignal<Option<String>>) -> impl IntoView {
    // Each with whether it is a branch of a remote.
    let branches = Memo::new(move |known: Option<&Vec<(String, bool)>>| match lookup.get() {
        Lookup::Found(probe) => {
            probe.branches.into_iter().map(|name| (name, false)).chain(probe.remote_branches.into_iter().map(|name| (name, true))).collect()
        }
        // After a refused branch, the list must stay so that another can be chosen.
        Lookup::Running | Lookup::Refused { .. } if branch.with(Option::is_some) => known.cloned().unwrap_or_default(),
        _ => Vec::new(),
    });
    let options = move || {
        let picked = branch.get().or_else(|| branches.with(|branches| branches.first().map(|(name, _)| name.clone())));
        branches
            .get()
            .into_iter()
            .map(|(name, is_remote)| {
                let selected = picked.as_ref() == Some(&name);
                let label = if is_remote { format!("{name} (makes a local branch)") } else { name.clone() };
                view! { <option value=name selected=selected>{label}</option> }
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
    fn budget_is_typed_in_dollars() {
        assert_eq!([0, 100_000_000, 2_500_000].map(dollars), ["", "100", "2.50"]);
        assert_eq!(["100", " $2.50 ", "0", "", "-1", "much"].map(micro_usd), [Some(100_000_000), Some(2_500_000), Some(0), None, None, None]);
    }

    #[test]
    fn summary_names_base_and_uncommitted_files() {
        let probe = RepositoryInfo {
            repo_path: "/code/app".to_owned(),
            git_dir: "/code/app/.git".to_owned(),
            base_branch: "main".to_owned(),
            base_sha: "abc1234567890abc1234567890abc1234567890a".to_owned(),
            branches: vec!["main".to_owned()],
            identity: None,
            ..RepositoryInfo::default()
        };
        let said = |uncommitted| summary(&probe, uncommitted, BranchStart::Base);
        assert_eq!(said(None), "Agents start from main @ abc1234.");
        assert_eq!(said(Some(12)), "Agents start from main @ abc1234. Your 12 uncommitted files stay untouched, and agents do not see them.");
        assert_eq!(said(Some(1)), "Agents start from main @ abc1234. Your 1 uncommitted file stays untouched, and agents do not see it.");
        assert_eq!(said(Some(0)), "Agents start from main @ abc1234. There are no uncommitted files.");
        assert_eq!(
            summary(&probe, Some(1), BranchStart::Snapshot),
            "Agents start from main @ abc1234 with a snapshot of your uncommitted files, which stay untouched."
        );
        let behind = RepositoryInfo { newer_upstream: Some("origin/main".to_owned()), ..probe };
        assert_eq!(summary(&behind, Some(0), BranchStart::Upstream), "Agents start from origin/main. There are no uncommitted files.");
    }
}
