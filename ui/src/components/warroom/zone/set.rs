//! The dialog that sets or removes a zone.

use domain::team::agent::MANAGED;
use domain::warroom::zone::{MAX_PATHS, NewZone};
use leptos::prelude::*;

use super::{Editing, arguments, expert_label};
use crate::client::Client;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending, TextField, has_text, non_empty};
use crate::components::toast::Toasts;
use crate::components::warroom::lines_field::{LinesField, lines};
use crate::components::warroom::words::{Word, name_of};
use crate::project_data::ProjectData;
use crate::reader::Reader;

#[component]
pub(super) fn ZoneDialog(editing: Editing, close: Callback<()>) -> impl IntoView {
    let (client, data, sending) = (Client::from_context(), ProjectData::from_context(), Sending::new());
    let before = match editing {
        Editing::New => None,
        Editing::Zone(zone) => Some(arguments(zone)),
    };
    let title = before.as_ref().map_or_else(|| "Set a zone".to_owned(), |zone| format!("Edit the zone {}", zone.name));
    let is_new = before.is_none();
    let NewZone { name, paths, owner, oracle } = before.clone().unwrap_or_default();
    let (name, paths) = (RwSignal::new(name), RwSignal::new(paths.join("\n")));
    let (owner, oracle) = (RwSignal::new(owner.unwrap_or_default()), RwSignal::new(oracle.unwrap_or_default()));
    let ready = Signal::derive(move || has_text(name) && has_text(paths));
    let submit = move |()| {
        let zone = NewZone {
            name: name.get_untracked().trim().to_owned(),
            paths: lines(&paths.get_untracked()),
            owner: non_empty(owner),
            oracle: non_empty(oracle),
        };
        sending.run(client.set_zone(data.project(), zone), move |_| close.run(()));
    };
    let remove = before.map(|zone| ("Remove the zone", remover(zone, sending, close)));
    view! {
        <Dialog title=title close=close>
            <Form verb="Set the zone" ready=ready sending=sending submit=submit close=close secondary=remove>
                <Show when=move || is_new>
                    <TextField id="zone-name" label="Name" value=name max_length=60 placeholder="audio" mono=true autofocus=true />
                </Show>
                <LinesField
                    id="zone-paths"
                    label="Paths, one per line"
                    hint="Files, folders (src/audio/) and patterns (src/*.rs). A file belongs to the zone with the most specific path."
                    value=paths
                    autofocus=!is_new
                />
                <div class="field-row">
                    <ParticipantSelect id="zone-owner" label="Owner (optional)" chosen=owner />
                    <ParticipantSelect id="zone-expert" label=format!("{} (optional)", name_of(Word::Expert)) chosen=oracle can_be_managed=true />
                </div>
                <p class="hint small-text soft">{format!("The owner is responsible for the zone; the other agent or person answers questions about it. A managed agent starts when someone asks. A zone has at most {MAX_PATHS} paths.")}</p>
            </Form>
        </Dialog>
    }
    .into_any()
}

/// Removes a zone, which the reader can undo for some seconds.
fn remover(zone: NewZone, sending: Sending, close: Callback<()>) -> Callback<()> {
    let (client, data, toasts) = (Client::from_context(), ProjectData::from_context(), Toasts::from_context());
    let (project, zone) = (data.project(), StoredValue::new(zone));
    Callback::new(move |()| {
        let (project, zone) = (project.clone(), zone.get_value());
        sending.run(client.remove_zone(project.clone(), zone.name.clone()), move |_| {
            let text = format!("The zone {} is removed.", zone.name);
            toasts.undoable(text, Callback::new(move |()| client.act(client.set_zone(project.clone(), zone.clone()), |_| ())));
            close.run(());
        });
    })
}

/// The agents that stay, and persons. Coders and reviewers of the runner leave with their task.
#[component]
fn ParticipantSelect(
    id: &'static str,
    #[prop(into)] label: String,
    chosen: RwSignal<String>,
    #[prop(optional)] can_be_managed: bool,
) -> impl IntoView {
    let agents = ProjectData::from_context().active_agents();
    let offered = move || {
        let agents = agents.get().into_iter().filter(|agent| agent.run_id.is_none()).map(|agent| agent.name);
        let managed = can_be_managed.then(|| MANAGED.to_owned());
        let mut offered: Vec<String> = managed.into_iter().chain(Reader::current().persons()).chain(agents).collect();
        let chosen = chosen.get_untracked();
        if !chosen.is_empty() && !offered.contains(&chosen) {
            offered.push(chosen);
        }
        offered
    };
    let option = move |name: String| {
        let (label, is_chosen) = (expert_label(&name), chosen.get_untracked() == name);
        view! { <option value=name selected=is_chosen>{label}</option> }
    };
    view! {
        <div class="field">
            <label for=id>{label}</label>
            <select id=id class="input" prop:value=move || chosen.get() on:change:target=move |event| chosen.set(event.target().value())>
                <option value="">"nobody"</option>
                {move || offered().into_iter().map(option).collect_view()}
            </select>
        </div>
    }
    .into_any()
}
