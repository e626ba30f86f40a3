//! The log of a project: what agents and persons decided and found, newest first.

use domain::warroom::raid_log::{NewRaidLogEntry, Priority, RaidLogEntry};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::Badge;
use crate::components::badge::team::name_heading;
use crate::components::badge::warroom::priority_badge;
use crate::components::filter_select::{Choice, FilterSelect};
use crate::components::prose::LongProse;
use crate::components::section_box::SectionBox;
use crate::components::text_dialog::{Request, TextDialog};
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::local_time;

/// The entries on a page.
const PAGE: u32 = 20;

/// The choices of the filter: a priority and all above it. The lowest one filters nothing.
fn choices() -> Vec<Choice> {
    let label = |priority: &Priority| match priority.and_above().count() {
        1 => format!("{} only", priority_badge(*priority).0),
        _ => format!("{} and above", priority_badge(*priority).0),
    };
    Priority::ALL.iter().skip(1).map(|priority| (priority.to_string(), label(priority))).collect()
}

#[component]
pub(crate) fn LogSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let filter = RwSignal::new(None::<Priority>);
    let log = PagedList::watch(store.revision_of(ListKind::RaidLog), move |before| {
        client.raid_log(data.project(), filter.try_get_untracked().flatten(), before, PAGE)
    });
    let choose = Callback::new(move |chosen: Option<String>| {
        filter.set(chosen.and_then(|chosen| chosen.parse().ok()));
        log.restart();
    });
    let adding = RwSignal::new(false);
    let close = Callback::new(move |()| adding.set(false));
    let tools = view! {
        <FilterSelect
            label="Entries of this priority and above"
            all="All entries"
            offered=choices()
            chosen=Signal::derive(move || filter.get().map(|priority| priority.to_string()))
            choose=choose
        />
        {Reader::may_write().then(|| view! {
            <button type="button" class="button small" on:click=move |_| adding.set(true)>"Add an entry"</button>
        })}
    };
    view! {
        <SectionBox
            id="war-room-log"
            title=name_of(Word::Log)
            summary=String::new()
            tools=Some(tools.into_any())
            loaded=Signal::derive(move || log.is_loaded())
            failure=log.list.failure
            empty=Signal::derive(move || log.is_empty())
            empty_heading=Signal::derive(move || if filter.get().is_some() { "No matching entries" } else { "Nothing logged yet" })
            empty_hint="Agents write down here what they decided and found, for later agents."
        >
            <ol class="room-list">
                <For each=move || log.items() key=|entry| entry.id let:entry>
                    <EntryRow entry=entry />
                </For>
            </ol>
            <ShowOlder label="Show older" has_older=Signal::derive(move || log.has_older()) show_older=move |()| log.show_older() />
        </SectionBox>
        {move || adding.get().then(|| view! { <NewEntryDialog close=close /> })}
    }
    .into_any()
}

#[component]
fn EntryRow(entry: RaidLogEntry) -> impl IntoView {
    let (label, tone) = priority_badge(entry.priority);
    let at = entry.created_at;
    view! {
        <li class="log-entry">
            <p class="row small-text">
                <strong class="name">{name_heading(&entry.author)}</strong>
                <Badge label=label tone=tone />
                <time class="faint tabular spacer" datetime=at.to_string() title=at.to_string()>{local_time(at)}</time>
            </p>
            <LongProse text=entry.entry />
        </li>
    }
    .into_any()
}

#[component]
fn NewEntryDialog(close: Callback<()>) -> impl IntoView {
    let (client, data) = (Client::from_context(), ProjectData::from_context());
    let priority = RwSignal::new(Priority::Normal);
    let send = Callback::new(move |entry| -> Request {
        Box::pin(client.log_raid(data.project(), NewRaidLogEntry { entry, priority: Some(priority.get_untracked()) }))
    });
    let option = |offered: &Priority| view! { <option value=offered.as_str()>{priority_badge(*offered).0}</option> };
    view! {
        <TextDialog title="Add a log entry" verb="Add" label="Entry" draft_key=format!("log/{}", data.project()) send=send close=close>
            <div class="field">
                <label for="log-priority">"Priority"</label>
                <select
                    id="log-priority"
                    class="input"
                    prop:value=move || priority.get().as_str()
                    on:change:target=move |event| if let Ok(chosen) = event.target().value().parse() { priority.set(chosen) }
                >
                    {Priority::ALL.iter().map(option).collect_view()}
                </select>
                <p class="hint">"Entries of low priority are removed when all work of the project is done. All others stay."</p>
            </div>
        </TextDialog>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filter_offers_each_priority_that_leaves_something_out() {
        let labels: Vec<_> = choices();
        let expected = [("normal", "Normal and above"), ("high", "High and above"), ("critical", "Critical only")];
        assert_eq!(labels, expected.map(|(value, label)| (value.to_owned(), label.to_owned())));
    }
}
