//! The claims of a repository: which agent holds which files, who waits for them, and whether edits by others are refused.

use std::time::Duration;

use domain::warroom::claim::queue::Claims;
use domain::warroom::claim::{Claim, ClaimMode, ClaimRelease, ClaimWait};
use domain::wire::ProjectPatch;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::team::{name_heading, name_label};
use crate::components::badge::warroom::claim_mode_label;
use crate::components::board::task_link::TaskLink;
use crate::components::section_box::SectionBox;
use crate::components::text_dialog::{Request, TextDialog};
use crate::components::warroom::project_choice::{ProjectChoice, ProjectOption};
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::overview::Overview;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::Clock;

/// Projects on one repository share its claims, and this page receives the events of its own project only.
const POLL_INTERVAL: Duration = Duration::from_secs(15);
/// Claims drawn at first, and added by each "Show more".
const STEP: usize = 50;

/// A claim with those that wait for it, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Held {
    claim: Claim,
    waits: Vec<ClaimWait>,
}

impl Held {
    /// The agents in line, such as `Next: mara, then jon (src/**)`. A path that is not that of the claim is named.
    fn line(&self) -> Option<String> {
        let name = |wait: &ClaimWait| {
            let name = name_label(&wait.agent);
            if wait.path == self.claim.path { name } else { format!("{name} ({})", wait.path) }
        };
        let names: Vec<String> = self.waits.iter().map(name).collect();
        (!names.is_empty()).then(|| format!("Next: {}", names.join(", then ")))
    }
}

/// The claims that others wait for, then the rest.
fn held(claims: &Claims) -> Vec<Held> {
    let mut all: Vec<Held> = claims.claims.iter().map(|claim| Held { claim: claim.clone(), waits: Vec::new() }).collect();
    for wait in &claims.waits {
        let holder = claims.holder_for(wait).map(|claim| claim.id);
        if let Some(held) = all.iter_mut().find(|held| Some(held.claim.id) == holder) {
            held.waits.push(wait.clone());
        }
    }
    // Stable: the server sorts by path.
    all.sort_by_key(|held| held.waits.is_empty());
    all
}

fn summary(claims: &Claims) -> String {
    let files = match claims.claims.len() {
        0 => return String::new(),
        1 => "1 held".to_owned(),
        files => format!("{files} held"),
    };
    match claims.waits.len() {
        0 => files,
        1 => format!("{files}, 1 waits"),
        waits => format!("{files}, {waits} wait"),
    }
}

#[component]
pub(crate) fn ClaimsSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let claims = LiveList::new(store.revision_of(ListKind::Claims), |_| false, move || client.claims(data.project())).watch().poll(POLL_INTERVAL);
    let all = Memo::new(move |_| claims.value.with(|claims| claims.as_ref().map(held).unwrap_or_default()));
    let limit = RwSignal::new(STEP);
    let shown = move || all.with(|all| all.iter().take(limit.get()).cloned().collect::<Vec<_>>());
    let hidden = Memo::new(move |_| all.with(Vec::len).saturating_sub(limit.get()));
    // Outside of the list, whose rows come and go.
    let taking = RwSignal::new(None::<Held>);
    let close = Callback::new(move |()| taking.set(None));
    view! {
        <SectionBox
            id="war-room-claims"
            title=name_of(Word::Files)
            summary=Signal::derive(move || claims.value.with(|claims| claims.as_ref().map(summary).unwrap_or_default()))
            loaded=Signal::derive(move || claims.value.with(Option::is_some))
            failure=claims.failure
            empty=Signal::derive(move || all.with(Vec::is_empty))
            empty_heading="No file is held"
            empty_hint="An agent holds a file from its first edit until its work is merged, so that no other agent edits it in the meantime."
        >
            <ul class="room-list">
                <For each=shown key=|held| held.claim.id let:held>
                    <ClaimRow claim=held.claim all=all taking=taking />
                </For>
            </ul>
            {move || (hidden.get() > 0).then(|| view! {
                <button type="button" class="button quiet small" on:click=move |_| limit.update(|limit| *limit += STEP)>
                    {format!("Show more ({})", hidden.get())}
                </button>
            })}
            <ModeChoice />
        </SectionBox>
        {move || taking.get().map(|held| view! { <TakeDialog held=held close=close /> })}
    }
    .into_any()
}

#[component]
fn ClaimRow(claim: Claim, all: Memo<Vec<Held>>, taking: RwSignal<Option<Held>>) -> impl IntoView {
    let (data, clock, overview) = (ProjectData::from_context(), Clock::from_context(), Overview::from_context());
    let Claim { id, agent, path, claimed_at: at, task_id, project_id } = claim;
    // Those in line change while the row stays.
    let find = move |all: &Vec<Held>| all.iter().find(|held| held.claim.id == id).cloned();
    let line = Memo::new(move |_| all.with(find).and_then(|held| held.line()));
    let elsewhere = (project_id != data.project()).then(|| overview.title_of(project_id.clone()));
    let name = name_heading(&agent);
    let label = format!("Take away {path} from {}", name_label(&agent));
    let take = Reader::may_write().then(|| {
        let open = move |_| taking.set(all.with_untracked(find));
        view! { <button type="button" class="button quiet small" aria-label=label on:click=open>"Take away"</button> }
    });
    view! {
        <li class="claim">
            <p class="claim-path mono">{path.to_string()}</p>
            <time class="faint small-text tabular" datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time>
            <p class="claim-holder small-text">
                <span class="name">{name}</span>
                {task_id.map(|task| view! { <TaskLink task=task project=Some(project_id) /> })}
                {elsewhere.map(|title| view! { <span class="soft">"in " {title}</span> })}
            </p>
            {take}
            {move || line.get().map(|line| view! { <p class="claim-next soft small-text">{line}</p> })}
        </li>
    }
    .into_any()
}

/// The consequence of taking a claim away.
fn consequence(held: &Held) -> String {
    let holder = name_heading(&held.claim.agent);
    match held.waits.first() {
        Some(next) => format!("{holder} reads the reason, and {} gets the file next. Nothing that was edited is lost.", name_label(&next.agent)),
        None => format!("{holder} reads the reason, and the file is free. Nothing that was edited is lost."),
    }
}

#[component]
fn TakeDialog(held: Held, close: Callback<()>) -> impl IntoView {
    let (client, data) = (Client::from_context(), ProjectData::from_context());
    let explanation = consequence(&held);
    let (title, draft_key) = (format!("Take {} away", held.claim.path), format!("claim/{}", held.claim.id));
    let path = held.claim.path;
    let send =
        Callback::new(move |reason| -> Request { Box::pin(client.release_claim(data.project(), ClaimRelease { path: path.clone(), reason })) });
    view! {
        <TextDialog title=title verb="Take away" label="Reason" draft_key=draft_key send=send danger=true close=close>
            <p class="soft">{explanation}</p>
        </TextDialog>
    }
}

/// Whether an edit of a file that another agent holds is refused, as the reader may choose.
#[component]
fn ModeChoice() -> impl IntoView {
    let store = Store::from_context();
    let chosen = Memo::new(move |_| store.project.with(|project| project.as_ref().map(|project| project.claim_mode)));
    let option = |mode: ClaimMode| {
        let (label, meaning) = claim_mode_label(mode);
        ProjectOption { value: mode, label, meaning, patch: ProjectPatch { claim_mode: Some(mode), ..ProjectPatch::default() } }
    };
    let options = ClaimMode::ALL.iter().copied().map(option).collect();
    view! { <ProjectChoice id="claim-mode" label="Edits of held files" options=options chosen=chosen may_choose=Reader::may_write() /> }
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;
    use domain::warroom::claim::ClaimPath;

    use super::*;

    fn claim(id: i64, agent: &str, path: &str) -> Claim {
        let path = ClaimPath::parse(path, &[]).expect("a path");
        Claim { id, project_id: ProjectId::new(1), agent: agent.to_owned(), task_id: None, path, claimed_at: Timestamp::from_milliseconds(0) }
    }

    fn wait(id: i64, agent: &str, path: &str) -> ClaimWait {
        let Claim { project_id, agent, task_id, path, claimed_at, .. } = claim(id, agent, path);
        ClaimWait { id, project_id, agent, task_id, path, since: claimed_at }
    }

    #[test]
    fn contested_files_come_first_and_name_those_in_line() {
        let claims = Claims {
            claims: vec![claim(1, "ann", "a.rs"), claim(2, "ben", "src/b.rs")],
            waits: vec![wait(1, "eve", "src/b.rs"), wait(2, "human", "src/**")],
        };
        let all = held(&claims);
        let lines: Vec<_> = all.iter().map(|held| (held.claim.id, held.line())).collect();
        assert_eq!(lines, [(2, Some("Next: eve, then you (src/**)".to_owned())), (1, None)]);
        assert_eq!(summary(&claims), "2 held, 2 wait");
        assert_eq!(summary(&Claims { waits: Vec::new(), ..claims }), "2 held");
        assert_eq!(summary(&Claims::default()), "");
        assert!(consequence(&all[0]).contains("eve gets the file next"));
        assert!(consequence(&all[1]).contains("the file is free"));
    }
}
