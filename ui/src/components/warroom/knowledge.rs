//! What agents and persons wrote down for those who come later: confirmed findings, hazards, and the notes of each agent.

mod close;
mod item;
mod write;

use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgeState};
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::warroom::{knowledge_label, knowledge_state_label};
use crate::components::filter_select::FilterSelect;
use crate::components::section_box::SectionBox;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use close::CloseDialog;
use item::ItemRow;
use write::WriteDialog;

/// The dialog that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    New,
    /// The next version of an item.
    Edit(Knowledge),
    Close(Knowledge),
}

#[component]
pub(crate) fn KnowledgeSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let (kind, state) = (RwSignal::new(None::<KnowledgeKind>), RwSignal::new(KnowledgeState::Live));
    let list = PagedList::watch(store.revision_of(ListKind::Knowledge), move |before| {
        let kind = kind.try_get_untracked().flatten();
        client.knowledge(data.project(), kind, state.try_get_untracked().unwrap_or(KnowledgeState::Live), before)
    });
    let choose = Callback::new(move |chosen: Option<String>| {
        kind.set(chosen.and_then(|chosen| chosen.parse().ok()));
        list.restart();
    });
    let state_button = move |offered: KnowledgeState| {
        let choose = move |_| {
            state.set(offered);
            list.restart();
        };
        view! {
            <button type="button" aria-pressed=move || (state.get() == offered).to_string() on:click=choose>{knowledge_state_label(offered)}</button>
        }
    };
    // Outside of the list, whose items come and go.
    let open = RwSignal::new(None::<Open>);
    let kinds: Vec<_> = KnowledgeKind::ALL.iter().map(|kind| (kind.to_string(), knowledge_label(*kind).0.to_owned())).collect();
    let tools = view! {
        <div class="segment" role="group" aria-label="State">{KnowledgeState::ALL.iter().copied().map(state_button).collect_view()}</div>
        <FilterSelect label="Kind" all="All kinds" offered=kinds chosen=Signal::derive(move || kind.get().map(|kind| kind.to_string())) choose=choose />
        {Reader::may_write().then(|| view! {
            <button type="button" class="button small" on:click=move |_| open.set(Some(Open::New))>"Write down"</button>
        })}
    };
    let is_unfiltered = move || kind.get().is_none() && state.get() == KnowledgeState::Live;
    view! {
        <SectionBox
            id="war-room-knowledge"
            title=name_of(Word::Knowledge)
            summary=String::new()
            tools=Some(tools.into_any())
            loaded=Signal::derive(move || list.is_loaded())
            failure=list.list.failure
            empty=Signal::derive(move || list.is_empty())
            empty_heading=Signal::derive(move || if is_unfiltered() { "Nothing written down yet" } else { "No such item" })
            empty_hint="Findings and traps are kept here with their evidence, so that nobody finds them out twice. Write down what the next agent has to know."
        >
            <ul class="room-list">
                <For each=move || list.items() key=|item| (item.id, item.version, item.closed_at) let:item>
                    <ItemRow item=item open=open />
                </For>
            </ul>
            <ShowOlder label="Show older" has_older=Signal::derive(move || list.has_older()) show_older=move |()| list.show_older() />
        </SectionBox>
        {move || {
            let close = Callback::new(move |()| open.set(None));
            open.get().map(|dialog| match dialog {
                Open::New => view! { <WriteDialog close=close /> }.into_any(),
                Open::Edit(item) => view! { <WriteDialog before=item close=close /> }.into_any(),
                Open::Close(item) => view! { <CloseDialog item=item close=close /> }.into_any(),
            })
        }}
    }
    .into_any()
}
