//! The zones of a project: named parts of the repository with an owner and an expert.

pub(super) mod propose;
mod set;

use domain::team::agent::MANAGED;
use domain::warroom::zone::{NewZone, Zone};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::team::name_label;
use crate::components::section_box::SectionBox;
use crate::components::warroom::lines_field::shown_path;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::{ProjectData, items};
use crate::reader::Reader;
use crate::store::Store;
use propose::ProposeDialog;
use set::ZoneDialog;

/// Paths of a zone that its row shows.
const SHOWN_PATHS: usize = 4;

/// The purpose of the open dialog.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Editing {
    New,
    Zone(Zone),
}

#[component]
pub(crate) fn ZonesSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let zones = LiveList::new(store.revision_of(ListKind::Zones), |_| false, move || items(client.zones(data.project()))).watch();
    let all = Memo::new(move |_| zones.value.get().unwrap_or_default());
    // Outside of the list, whose zones come and go.
    let editing = RwSignal::new(None::<Editing>);
    let close = Callback::new(move |()| editing.set(None));
    let proposing = RwSignal::new(false);
    let tools = Reader::may_write().then(|| {
        view! {
            <button type="button" class="button small" on:click=move |_| proposing.set(true)>"Propose zones"</button>
            <button type="button" class="button small" on:click=move |_| editing.set(Some(Editing::New))>"Set a zone"</button>
        }
        .into_any()
    });
    view! {
        <SectionBox
            id="war-room-zones"
            title="Zones"
            summary=String::new()
            tools=tools
            loaded=Signal::derive(move || zones.value.with(Option::is_some))
            failure=zones.failure
            empty=Signal::derive(move || all.with(Vec::is_empty))
            empty_heading="No zones yet"
            empty_hint="A zone names a part of the repository, who is responsible for it, and who answers questions about it. Start with the part that gets the most work."
        >
            <ul class="room-list">
                <For each=move || all.get() key=|zone| (zone.name.clone(), zone.set_at) let:zone>
                    <ZoneRow zone=zone editing=editing />
                </For>
            </ul>
        </SectionBox>
        {move || proposing.get().then(|| view! { <ProposeDialog close=Callback::new(move |()| proposing.set(false)) /> })}
        {move || editing.get().map(|editing| view! { <ZoneDialog editing=editing close=close /> })}
    }
    .into_any()
}

#[component]
fn ZoneRow(zone: Zone, editing: RwSignal<Option<Editing>>) -> impl IntoView {
    let (people, paths, hidden) = (people(&zone), shown_paths(&zone), zone.paths.len().saturating_sub(SHOWN_PATHS));
    let (name, edited) = (zone.name.clone(), StoredValue::new(zone));
    let label = format!("Edit the zone {name}");
    let open = move |_| editing.set(Some(Editing::Zone(edited.get_value())));
    let edit = Reader::may_write()
        .then(|| view! { <button type="button" class="button quiet small spacer" aria-label=label on:click=open>"Edit…"</button> });
    view! {
        <li class="plan-entry">
            <p class="row small-text">
                <strong class="name">{name}</strong>
                {edit}
            </p>
            <p class="soft small-text">{people}</p>
            <ul class="room-paths mono" aria-label="Paths">{paths.into_iter().map(|path| view! { <li>{path}</li> }).collect_view()}</ul>
            {(hidden > 0).then(|| view! { <p class="faint small-text">{format!("and {hidden} more")}</p> })}
        </li>
    }
    .into_any()
}

/// The owner and the expert, such as `Owner: mara. Expert: jon.`
fn people(zone: &Zone) -> String {
    let owner = zone.owner.as_deref().map_or_else(|| "nobody".to_owned(), name_label);
    let expert = zone.oracle.as_deref().map_or_else(|| "nobody".to_owned(), expert_label);
    format!("Owner: {owner}. {}: {expert}.", name_of(Word::Expert))
}

/// The name of the expert of a zone.
pub(super) fn expert_label(name: &str) -> String {
    if name == MANAGED { "a managed agent".to_owned() } else { name_label(name) }
}

fn shown_paths(zone: &Zone) -> Vec<String> {
    zone.paths.iter().take(SHOWN_PATHS).map(|path| shown_path(path.as_str())).collect()
}

/// The arguments that set a zone as it is.
fn arguments(zone: Zone) -> NewZone {
    NewZone { name: zone.name, paths: zone.paths.iter().map(|path| shown_path(path.as_str())).collect(), owner: zone.owner, oracle: zone.oracle }
}
