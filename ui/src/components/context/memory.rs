//! The memory of a project's agents, for the owner of the board: its entries by agent, and the dialog that shows, edits and deletes one.

use domain::context::memory::{MemoryEntry, MemoryPatch, MemoryScope, MemorySummary, OwnedMemory};
use domain::team::person::Right;
use leptos::prelude::*;
use serde_json::Value;

use crate::client::{AuditFilter, Client};
use crate::components::badge::phase_label;
use crate::components::badge::team::name_label;
use crate::components::dialog::Dialog;
use crate::components::form::{Form, Sending};
use crate::components::inline_code::sentence;
use crate::draft::{discard, draft_from};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::route::{ContextPlace, Navigation, Route};
use crate::store::Store;
use crate::time::{Clock, span};

type Entry = OwnedMemory<MemorySummary>;

/// The entries of each agent, the agent with the newest entry first.
fn by_owner(entries: Vec<Entry>) -> Vec<(String, Vec<Entry>)> {
    let mut groups: Vec<(String, Vec<Entry>)> = Vec::new();
    for entry in entries {
        let owner = entry.kind.map_or_else(|| name_label(&entry.owner), |kind| phase_label(kind).to_owned());
        match groups.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, entries)) => entries.push(entry),
            None => groups.push((owner, vec![entry])),
        }
    }
    groups
}

/// The text of a value in a field, and whether it is a plain text.
fn text_of(value: &Value) -> (String, bool) {
    match value {
        Value::String(text) => (text.clone(), true),
        value => (serde_json::to_string_pretty(value).unwrap_or_default(), false),
    }
}

/// The value of a text in a field, or none if it is not JSON.
fn value_of(text: &str, is_plain: bool) -> Option<Value> {
    if is_plain { Some(Value::String(text.to_owned())) } else { serde_json::from_str(text).ok() }
}

/// The choices of another expiry, in seconds from now, with their labels. The first one changes nothing.
fn expiry_choices(expires: bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let unchanged = if expires { "Unchanged" } else { "Never" };
    let never = expires.then_some(("0", "Never"));
    let later = [("3600", "In an hour"), ("86400", "In a day"), ("604800", "In a week"), ("2592000", "In 30 days")];
    [("", unchanged)].into_iter().chain(never).chain(later)
}

#[component]
pub(crate) fn MemoryBox(place: Memo<ContextPlace>) -> impl IntoView {
    let (client, data, store, navigation) = (Client::from_context(), ProjectData::from_context(), Store::from_context(), Navigation::from_context());
    if !Reader::current().may(Right::Administer) {
        return ().into_any();
    }
    let memory = PagedList::watch(store.revision_of(ListKind::Memory), move |before| client.memory(data.project(), before));
    // The entry that is open is part of the address.
    let opened = Memo::new(move |_| place.with(|place| place.memory));
    let show = Callback::new(move |memory: Option<i64>| {
        navigation.go(Route::Context { project: data.project(), place: ContextPlace { memory, ..place.get_untracked() } });
    });
    let groups = move || by_owner(memory.items());
    let audit = Route::Audit { filter: AuditFilter { project: Some(data.project()), ..AuditFilter::default() } };
    let group = move |(owner, entries): (String, Vec<Entry>)| {
        view! {
            <h3 dir="auto">{owner}</h3>
            <ul>{entries.into_iter().map(|entry| view! { <Row entry=entry show=show /> }).collect_view()}</ul>
        }
    };
    view! {
        <section class="context-box" aria-labelledby="context-memory">
            <h2 id="context-memory">"Memory"</h2>
            {move || memory.list.failure.get().map(|why| view! { <p class="notice" data-tone="bad" role="alert">{sentence(&why)}</p> })}
            {move || memory.is_empty().then(|| view! { <p class="faint small-text">"No agent has stored a value yet."</p> })}
            {move || groups().into_iter().map(group).collect_view()}
            <ShowOlder label="Show older entries" has_older=Signal::derive(move || memory.has_older()) show_older=move |()| memory.show_older() />
            <a class="small-text" href=audit.path() on:click=move |event| navigation.follow(&event, audit.clone())>"Audit log of this project"</a>
        </section>
        {move || opened.get().map(|id| view! { <MemoryDialog id=id close=Callback::new(move |()| show.run(None)) /> })}
    }
    .into_any()
}

#[component]
fn Row(entry: Entry, show: Callback<Option<i64>>) -> impl IntoView {
    let clock = Clock::from_context();
    let (id, summary) = (entry.id, entry.entry);
    let place = match summary.scope {
        MemoryScope::Global => None,
        MemoryScope::Session => Some("session".to_owned()),
        MemoryScope::Task => summary.task_id.as_ref().map(ToString::to_string),
    };
    let (expires, updated) = (summary.expires_at, summary.updated_at);
    let when = move || match expires {
        Some(expires) => format!("expires in {}", span(expires.since(clock.now()))),
        None => clock.ago(updated),
    };
    view! {
        <li>
            <button type="button" class="context-entry" on:click=move |_| show.run(Some(id))>
                <span class="mono context-key" dir="auto">{summary.key}</span>
                <span class="faint">
                    {place.map(|place| format!("{place} · "))}
                    {when}
                </span>
            </button>
        </li>
    }
    .into_any()
}

#[component]
fn MemoryDialog(id: i64, close: Callback<()>) -> impl IntoView {
    let client = Client::from_context();
    let entry = RwSignal::new(None::<OwnedMemory<MemoryEntry>>);
    client.watch(client.memory_entry(id), move |found| match found {
        Ok(found) => drop(entry.try_set(Some(found))),
        Err(_) => close.run(()),
    });
    move || entry.get().map(|entry| view! { <EntryForm entry=entry close=close /> })
}

#[component]
fn EntryForm(entry: OwnedMemory<MemoryEntry>, close: Callback<()>) -> impl IntoView {
    let (client, sending, clock) = (Client::from_context(), Sending::new(), Clock::from_context());
    let (id, read_at, expires) = (entry.id, entry.entry.updated_at, entry.entry.expires_at);
    let (shown, is_plain) = text_of(&entry.entry.value);
    // A draft belongs to the value that it replaces.
    let draft_key = StoredValue::new(format!("memory/{id}/{}", read_at.milliseconds()));
    let text = draft_from(&draft_key.get_value(), shown);
    let expiry = RwSignal::new(String::new());
    let deleting = RwSignal::new(false);
    let ready = Signal::derive(move || text.with(|text| value_of(text, is_plain).is_some()));
    let saved = move || {
        discard(&draft_key.get_value());
        close.run(());
    };
    let save = move |()| {
        let Some(value) = text.with_untracked(|text| value_of(text, is_plain)) else { return };
        let patch = MemoryPatch { value, expires_in: expiry.with_untracked(|chosen| chosen.parse().ok()), unchanged_since: Some(read_at) };
        sending.run(client.edit_memory(id, patch), move |_| saved());
    };
    let remove = move |()| sending.run(client.delete_memory(id), move |_| saved());
    let owner = entry.kind.map_or_else(|| name_label(&entry.owner), |kind| phase_label(kind).to_owned());
    let key = StoredValue::new(entry.entry.key);
    let facts = move || {
        let expiry = expires.map(|expires| format!(", expires in {}", span(expires.since(clock.now())))).unwrap_or_default();
        format!("Kept by {owner}, changed {}{expiry}.", clock.ago(read_at))
    };
    let facts = StoredValue::new(facts);
    let back = Callback::new(move |()| deleting.set(false));
    view! {
        <Dialog title=key.get_value() close=close>
            {move || if deleting.get() {
                view! {
                    <Form verb="Delete" danger=true sending=sending submit=remove close=back>
                        <p>"The agent and its successors can no longer find this value."</p>
                    </Form>
                }
                .into_any()
            } else {
                view! {
                    <Form
                        verb="Save"
                        ready=ready
                        sending=sending
                        submit=save
                        close=close
                        secondary=Some(("Delete…", Callback::new(move |()| deleting.set(true))))
                    >
                        <p class="soft small-text">{move || facts.with_value(|facts| facts())}</p>
                        <div class="field">
                            <label for="memory-value">{if is_plain { "Value" } else { "Value, as JSON" }}</label>
                            <textarea id="memory-value" class="input mono" rows="8" dir="auto" bind:value=text></textarea>
                        </div>
                        <div class="field">
                            <label for="memory-expiry">"Expiry"</label>
                            <select id="memory-expiry" class="input" prop:value=expiry on:change:target=move |event| expiry.set(event.target().value())>
                                {expiry_choices(expires.is_some()).map(|(seconds, label)| view! { <option value=seconds>{label}</option> }).collect_view()}
                            </select>
                        </div>
                    </Form>
                }
                .into_any()
            }}
        </Dialog>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use domain::runs::agent_kind::AgentKind;
    use domain::time::Timestamp;
    use serde_json::json;

    use super::*;

    #[test]
    fn plain_texts_are_edited_as_they_are_and_other_values_as_json() {
        assert_eq!(text_of(&json!("7")), ("7".to_owned(), true));
        assert_eq!(value_of("7", true), Some(json!("7")));
        let (text, is_plain) = text_of(&json!({"a": [1]}));
        assert_eq!(value_of(&text, is_plain), Some(json!({"a": [1]})));
        assert_eq!(value_of("{", false), None);
    }

    #[test]
    fn first_expiry_changes_nothing_and_the_others_are_seconds() {
        let choices = |expires| expiry_choices(expires).map(|(seconds, label)| (seconds.parse::<i64>().ok(), label)).collect::<Vec<_>>();
        assert_eq!(choices(false)[..2], [(None, "Never"), (Some(3_600), "In an hour")]);
        assert_eq!(choices(true)[..2], [(None, "Unchanged"), (Some(0), "Never")]);
        assert!(choices(true)[1..].iter().all(|(seconds, _)| seconds.is_some()));
    }

    #[test]
    fn entries_are_grouped_by_agent() {
        let at = Timestamp::from_milliseconds(0);
        let entry = |kind: Option<AgentKind>, owner: &str, key: &str| OwnedMemory {
            id: 1,
            kind,
            owner: owner.to_owned(),
            entry: MemorySummary {
                key: key.to_owned(),
                scope: MemoryScope::Global,
                session_id: None,
                task_id: None,
                created_at: at,
                updated_at: at,
                expires_at: None,
                value_size: 1,
            },
        };
        let groups = by_owner(vec![entry(None, "mara", "a"), entry(Some(AgentKind::Coder), "coder", "b"), entry(None, "mara", "c")]);
        let keys: Vec<_> =
            groups.iter().map(|(owner, entries)| (owner.as_str(), entries.iter().map(|e| e.entry.key.as_str()).collect::<String>())).collect();
        assert_eq!(keys, [("mara", "ac".to_owned()), ("Coder", "b".to_owned())]);
    }
}
