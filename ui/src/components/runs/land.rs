//! Landing a project: the button, its dialog, and the question about commits that would return to the base branch.

use domain::runs::evidence::short;
use domain::runs::land::ReturningCommits;
use domain::wire::LandingResult;
use leptos::prelude::*;

use crate::client::{Client, Failure};
use crate::components::dialog::Dialog;
use crate::components::icon::{BRANCH, Icon};
use crate::components::inline_code::{InlineCode, sentence};
use crate::store::Store;

/// The state of the landing dialog.
#[derive(Debug, Clone, PartialEq)]
enum Landing {
    Closed,
    Confirming,
    Running,
    /// Commits that were removed from the base branch would return.
    Returning(ReturningCommits),
    Done(LandingResult),
}

/// Merges the project branch into the base branch, after a confirmation.
#[component]
pub(crate) fn Land() -> impl IntoView {
    let (client, store) = (Client::from_context(), Store::from_context());
    let landing = RwSignal::new(Landing::Closed);
    // The project branch has merged work that the base branch lacks.
    let can_land = Memo::new(move |_| {
        let has_merged_work = store.totals.with(|totals| totals.merged > 0);
        store.project.with(|project| project.as_ref().is_some_and(|project| project.has_unlanded_work(has_merged_work)))
    });
    let branches = move || {
        store.project.with_untracked(|project| {
            project.as_ref().map(|project| (project.id.clone(), project.integration_branch.clone(), project.base_branch.clone()))
        })
    };
    let close = Callback::new(move |()| landing.set(Landing::Closed));
    let land = Callback::new(move |bring_back: Option<String>| {
        let Some((project, ..)) = branches() else { return };
        landing.set(Landing::Running);
        client.watch(client.land(project, bring_back), move |result| {
            let next = match result {
                Ok(landed) => Landing::Done(landed),
                Err(Failure::Refused(problem)) => problem.returning.map_or(Landing::Closed, |returning| Landing::Returning(*returning)),
                Err(_) => Landing::Closed,
            };
            let _page_closed = landing.try_set(next);
        });
    });
    let dialog = move || {
        let (_, from, to) = branches()?;
        let body = match landing.get() {
            Landing::Closed => return None,
            Landing::Done(landed) => view! {
                <p><InlineCode text=sentence(&landed.detail) /></p>
                <dl class="details">
                    <dt>"Branch"</dt>
                    <dd class="mono">{landed.base_branch}</dd>
                    <dt>"Now at"</dt>
                    <dd class="mono">{landed.sha}</dd>
                    <dt>"New commits"</dt>
                    <dd>{landed.commits}</dd>
                </dl>
                <footer>
                    <button type="button" class="button primary" on:click=move |_| close.run(())>"Done"</button>
                </footer>
            }
            .into_any(),
            Landing::Returning(returning) => view! { <Returning returning=returning base_branch=to close=close land=land /> }.into_any(),
            state => view! {
                <p>
                    "This merges " <span class="mono">{from.clone()}</span> " into "
                    <span class="mono">{to.clone()}</span> ". Your uncommitted files stay untouched."
                </p>
                <footer>
                    <button type="button" class="button" on:click=move |_| close.run(())>"Back"</button>
                    <button type="button" class="button primary" autofocus disabled=state == Landing::Running on:click=move |_| land.run(None)>
                        {if state == Landing::Running { "Landing…".to_owned() } else { format!("Land on {to}") }}
                    </button>
                </footer>
            }
            .into_any(),
        };
        Some(view! { <Dialog title="Land the work" close=close>{body}</Dialog> })
    };
    view! {
        <Show when=move || can_land.get()>
            <button type="button" class="button" on:click=move |_| landing.set(Landing::Confirming)>
                <Icon drawing=BRANCH />
                "Land"
            </button>
        </Show>
        {dialog}
    }
}

/// Asks whether commits that were removed from the base branch shall return to it.
#[component]
fn Returning(returning: ReturningCommits, base_branch: String, close: Callback<()>, land: Callback<Option<String>>) -> impl IntoView {
    let hidden = returning.total.saturating_sub(u32::try_from(returning.commits.len()).unwrap_or(u32::MAX));
    let commits = returning.commits.into_iter().map(|commit| {
        let sha = short(&commit.sha).to_owned();
        view! { <li><span class="mono">{sha}</span> " " {commit.subject} " · " {commit.author}</li> }
    });
    let verb = if returning.total == 1 { "Bring it back and land".to_owned() } else { format!("Bring back all {} and land", returning.total) };
    view! {
        <p>
            "These commits were removed from " <span class="mono">{base_branch}</span>
            " after the project began. The project branch still holds them, so landing would bring them back:"
        </p>
        <ul class="returning">
            {commits.collect_view()}
            {(hidden > 0).then(|| view! { <li>{format!("and {hidden} more")}</li> })}
        </ul>
        <p class="soft">"To leave them out, cherry-pick the other commits by hand."</p>
        <footer>
            <button type="button" class="button" autofocus on:click=move |_| close.run(())>"Back"</button>
            <button type="button" class="button danger" on:click=move |_| land.run(Some(returning.confirmation.clone()))>{verb}</button>
        </footer>
    }
}
