//! The dialog that asks the experts of zones.

use domain::warroom::oracle::{MAX_ASKED, NewOracleQuestion};
use domain::warroom::zone::Zone;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::text_dialog::{Request, TextDialog};
use crate::components::warroom::zone::expert_label;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::{ProjectData, items};
use crate::reader::Reader;
use crate::store::Store;

#[component]
pub(super) fn AskDialog(close: Callback<()>) -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let zones = LiveList::new(store.revision_of(ListKind::Zones), |_| false, move || items(client.zones(data.project()))).watch();
    let offered = Memo::new(move |_| zones.value.get().map(offered));
    let picked = RwSignal::new(Vec::<String>::new());
    let send = Callback::new(move |question| -> Request {
        Box::pin(client.ask_oracle(data.project(), NewOracleQuestion { zones: picked.get_untracked(), question }))
    });
    let content = move || match offered.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(offered) if offered.is_empty() => view! {
            <p class="notice" data-tone="warn" role="status">
                "No zone has an expert whom you can ask. Edit a zone and choose who answers questions about it."
            </p>
        }
        .into_any(),
        Some(offered) => view! { <ZoneBoxes offered=offered picked=picked /> }.into_any(),
    };
    let ready = Signal::derive(move || picked.with(|picked| (1..=MAX_ASKED).contains(&picked.len())));
    view! {
        <TextDialog title="Ask a question" verb="Ask" label="Question" draft_key=format!("question/{}", data.project()) send=send ready=ready close=close>
            {content}
        </TextDialog>
    }
}

/// The zones that somebody else answers questions about, each with that expert.
fn offered(zones: Vec<Zone>) -> Vec<(String, String)> {
    let reader = Reader::current();
    zones.into_iter().filter_map(|zone| Some((zone.name, zone.oracle?))).filter(|(_, oracle)| !reader.is(oracle)).collect()
}

#[component]
fn ZoneBoxes(offered: Vec<(String, String)>, picked: RwSignal<Vec<String>>) -> impl IntoView {
    let checkbox = move |(zone, oracle): (String, String)| {
        let (own, toggled) = (zone.clone(), zone.clone());
        let toggle = move |is_on: bool| {
            picked.update(|picked| {
                picked.retain(|name| *name != toggled);
                if is_on {
                    picked.push(toggled.clone());
                }
            });
        };
        view! {
            <label class="option-box">
                <input
                    type="checkbox"
                    prop:checked=move || picked.with(|picked| picked.contains(&own))
                    on:change:target=move |event| toggle(event.target().checked())
                />
                {format!("{zone} ({})", expert_label(&oracle))}
            </label>
        }
    };
    view! {
        <fieldset class="field">
            <legend class="label">"Zones"</legend>
            <div class="options-list">{offered.into_iter().map(checkbox).collect_view()}</div>
            <p class="hint">"The expert of each gets the question as a message, and its reply to that message is the answer."</p>
        </fieldset>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::id::ProjectId;
    use domain::time::Timestamp;

    use super::*;

    #[test]
    fn zones_of_others_are_offered() {
        let zone = |name: &str, oracle: Option<&str>| Zone {
            project_id: ProjectId::new(1),
            name: name.to_owned(),
            paths: Vec::new(),
            owner: None,
            oracle: oracle.map(str::to_owned),
            author: "human".to_owned(),
            set_at: Timestamp::from_milliseconds(0),
        };
        let zones = vec![zone("audio", Some("mara")), zone("docs", Some("human")), zone("web", None)];
        assert_eq!(offered(zones), [("audio".to_owned(), "mara".to_owned())]);
    }
}
