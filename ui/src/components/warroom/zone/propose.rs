//! The dialog that proposes zones, from the file CODEOWNERS or from the code map. The reader chooses those that are set.

use domain::warroom::zone::NewZone;
use domain::warroom::zone::proposal::{ProposalSource, ZoneProposal, ZoneProposals, ZoneSelection};
use leptos::prelude::*;

use crate::client::{Client, Failure};
use crate::components::badge::team::name_label;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::inline_code::sentence;
use crate::components::warroom::lines_field::shown_path;
use crate::moves::Choice;
use crate::project_data::ProjectData;

/// Paths of a proposal that are shown.
const SHOWN_PATHS: usize = 4;

#[component]
pub(in crate::components::warroom) fn ProposeDialog(
    /// The source that is read first.
    #[prop(default = ProposalSource::Codeowners)]
    from: ProposalSource,
    close: Callback<()>,
) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let source = RwSignal::new(from);
    let found = RwSignal::new(None::<Result<ZoneProposals, String>>);
    // By name, which is unique among proposals.
    let picked = RwSignal::new(Vec::<String>::new());
    Effect::new(move || {
        let from = source.get();
        found.set(None);
        picked.set(Vec::new());
        let request = client.zone_proposals(data.project(), from);
        leptos::task::spawn_local(async move {
            let answer = request.await;
            // The reader may have chosen another source, or closed the dialog.
            if source.try_get_untracked() != Some(from) {
                return;
            }
            if let Ok(proposals) = &answer {
                picked.set(proposals.proposals.iter().map(|proposal| proposal.zone.name.clone()).collect());
            }
            found.set(Some(answer.map_err(|failure| explanation(&failure))));
        });
    });
    let submit = move |()| {
        let picked = picked.get_untracked();
        let proposals = found.get_untracked().and_then(Result::ok).map(|found| found.proposals).unwrap_or_default();
        let zones: Vec<NewZone> = proposals.into_iter().map(|proposal| proposal.zone).filter(|zone| picked.contains(&zone.name)).collect();
        sending.run(client.apply_zones(data.project(), ZoneSelection { zones }), move |_| close.run(()));
    };
    let content = move || match found.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(Err(why)) => view! { <p class="notice" data-tone="warn" role="status">{why}</p> }.into_any(),
        Some(Ok(found)) => view! { <Proposals found=found picked=picked /> }.into_any(),
    };
    view! {
        <Dialog title="Propose zones" close=close>
            <Form verb="Set these zones" ready=Signal::derive(move || !picked.with(Vec::is_empty)) sending=sending submit=submit close=close>
                <div class="choices" role="radiogroup" aria-label="Where proposals come from">
                    <Choice
                        name="proposal-source"
                        title="CODEOWNERS"
                        detail="The parts and owners of that file."
                        value=ProposalSource::Codeowners
                        picked=source
                    />
                    <Choice name="proposal-source" title="Code map" detail="The folders with the most code." value=ProposalSource::CodeMap picked=source />
                </div>
                {content}
            </Form>
        </Dialog>
    }
    .into_any()
}

/// The reason why there are no proposals, and the next step.
fn explanation(failure: &Failure) -> String {
    let (why, hint) = failure.describe();
    format!("{} {}", sentence(&why), sentence(&hint)).trim_end().to_owned()
}

#[component]
fn Proposals(found: ZoneProposals, picked: RwSignal<Vec<String>>) -> impl IntoView {
    let skipped = found.skipped;
    let empty = found.proposals.is_empty().then(|| view! { <p class="soft">"Each part that it proposes is already in a zone."</p> });
    let row = move |proposal: ZoneProposal| view! { <Proposal proposal=proposal picked=picked /> };
    view! {
        <p class="soft small-text">{format!("From {}.", found.source)}</p>
        {empty}
        <ul class="proposals" aria-label="Proposals">{found.proposals.into_iter().map(row).collect_view()}</ul>
        {(!skipped.is_empty()).then(|| view! {
            <details class="fold">
                <summary>{format!("Not proposed ({})", skipped.len())}</summary>
                <ul class="small-text soft">{skipped.into_iter().map(|why| view! { <li>{why}</li> }).collect_view()}</ul>
            </details>
        })}
    }
    .into_any()
}

#[component]
fn Proposal(proposal: ZoneProposal, picked: RwSignal<Vec<String>>) -> impl IntoView {
    let ZoneProposal { zone, note } = proposal;
    let facts = facts(&zone, note);
    let (name, own, toggled) = (zone.name.clone(), zone.name.clone(), zone.name);
    let toggle = move |is_on: bool| {
        picked.update(|picked| {
            picked.retain(|name| *name != toggled);
            if is_on {
                picked.push(toggled.clone());
            }
        });
    };
    view! {
        <li>
            <label class="choice">
                <input
                    type="checkbox"
                    prop:checked=move || picked.with(|picked| picked.contains(&own))
                    on:change:target=move |event| toggle(event.target().checked())
                />
                <div>
                    <strong>{name}</strong>
                    <span>{facts}</span>
                </div>
            </label>
        </li>
    }
    .into_any()
}

/// The paths, the owner and the note of a proposal, in one line.
fn facts(zone: &NewZone, note: Option<String>) -> String {
    let mut paths = zone.paths.iter().take(SHOWN_PATHS).map(|path| shown_path(path)).collect::<Vec<_>>().join(", ");
    if zone.paths.len() > SHOWN_PATHS {
        paths += &format!(" and {} more", zone.paths.len() - SHOWN_PATHS);
    }
    let owner = zone.owner.as_deref().map(|owner| format!("owner {}", name_label(owner)));
    [Some(paths), owner, note].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proposal_names_its_first_paths_its_owner_and_its_note() {
        let paths = (1..=6).map(|place| format!("d{place}/**")).collect();
        let zone = NewZone { name: "d".to_owned(), paths, owner: Some("human".to_owned()), oracle: None };
        assert_eq!(facts(&zone, Some("40 files".to_owned())), "d1/, d2/, d3/, d4/ and 2 more · owner you · 40 files");
        assert_eq!(facts(&NewZone { paths: vec!["a".to_owned()], ..NewZone::default() }, None), "a");
    }
}
