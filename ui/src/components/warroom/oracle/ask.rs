//! The dialog that asks the experts of zones.

use std::fmt;

use domain::warroom::oracle::{MAX_ASKED, NewOracleQuestion};
use domain::warroom::zone::Zone;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::form::CheckboxGroup;
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
    let picked = RwSignal::new(Vec::<AskedZone>::new());
    let send = Callback::new(move |question| -> Request {
        let zones = picked.get_untracked().into_iter().map(|zone| zone.name).collect();
        Box::pin(client.ask_oracle(data.project(), NewOracleQuestion { zones, question }))
    });
    let content = move || match offered.get() {
        None => view! { <p class="soft" role="status">"Loading…"</p> }.into_any(),
        Some(offered) if offered.is_empty() => view! {
            <p class="notice" data-tone="warn" role="status">
                "No zone has an expert you can ask. Edit a zone and choose who answers questions about it."
            </p>
        }
        .into_any(),
        Some(offered) => view! {
            <CheckboxGroup
                legend="Zones"
                offered=offered
                picked=picked
                hint="The expert of each receives the question as a message, and answers by replying to it."
            />
        }
        .into_any(),
    };
    let ready = Signal::derive(move || picked.with(|picked| (1..=MAX_ASKED).contains(&picked.len())));
    view! {
        <TextDialog title="Ask a question" verb="Ask" label="Question" draft_key=format!("question/{}", data.project()) send=send ready=ready close=close>
            {content}
        </TextDialog>
    }
}

/// A zone, and its expert.
#[derive(Debug, Clone, PartialEq, Eq)]
struct AskedZone {
    name: String,
    oracle: String,
}

impl fmt::Display for AskedZone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name, expert_label(&self.oracle))
    }
}

/// The zones that someone else answers questions about.
fn offered(zones: Vec<Zone>) -> Vec<AskedZone> {
    let reader = Reader::current();
    let asked = zones.into_iter().filter_map(|zone| Some(AskedZone { name: zone.name, oracle: zone.oracle? }));
    asked.filter(|zone| !reader.is(&zone.oracle)).collect()
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
        assert_eq!(offered(zones), [AskedZone { name: "audio".to_owned(), oracle: "mara".to_owned() }]);
    }
}
