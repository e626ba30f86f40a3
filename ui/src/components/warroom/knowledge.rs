//! The knowledge that agents and persons wrote down: confirmed findings, hazards, and the notes of each agent.

mod close;
mod item;
mod write;

use domain::team::person::Right;
use domain::warroom::knowledge::{Knowledge, KnowledgeKind, KnowledgePlace, KnowledgeState};
use domain::wire::ProjectPatch;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::badge::warroom::{knowledge_label, knowledge_place_label};
use crate::components::filter_select::{Choice, FilterSelect};
use crate::components::section_box::SectionBox;
use crate::components::warroom::project_choice::{ProjectChoice, ProjectOption};
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::paged_list::{PagedList, ShowOlder};
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use close::CloseDialog;
use item::ItemRow;
use write::WriteDialog;

/// The choice of items that ended, beside the kinds.
const CLOSED: &str = "closed";

/// The dialog that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Open {
    New,
    /// The next version of an item.
    Edit(Knowledge),
    Close(Knowledge),
}

/// The items in the list: live ones of one kind or of all, or those that ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shown {
    Live(Option<KnowledgeKind>),
    Closed,
}

impl Shown {
    /// The choice with this value; all live items for none.
    fn from_value(value: Option<&str>) -> Self {
        match value {
            Some(CLOSED) => Self::Closed,
            value => Self::Live(value.and_then(|kind| kind.parse().ok())),
        }
    }

    fn value(self) -> Option<String> {
        match self {
            Self::Live(kind) => kind.map(|kind| kind.to_string()),
            Self::Closed => Some(CLOSED.to_owned()),
        }
    }

    const fn query(self) -> (Option<KnowledgeKind>, KnowledgeState) {
        match self {
            Self::Live(kind) => (kind, KnowledgeState::Live),
            Self::Closed => (None, KnowledgeState::Closed),
        }
    }
}

fn choices() -> Vec<Choice> {
    let kinds = KnowledgeKind::ALL.iter().map(|kind| (kind.to_string(), knowledge_label(*kind).0.to_owned()));
    kinds.chain([(CLOSED.to_owned(), "Closed".to_owned())]).collect()
}

#[component]
pub(crate) fn KnowledgeSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let shown = RwSignal::new(Shown::Live(None));
    let list = PagedList::watch(store.revision_of(ListKind::Knowledge), move |before| {
        let (kind, state) = shown.try_get_untracked().unwrap_or(Shown::Live(None)).query();
        client.knowledge(data.project(), kind, state, before)
    });
    let choose = Callback::new(move |chosen: Option<String>| {
        shown.set(Shown::from_value(chosen.as_deref()));
        list.restart();
    });
    // Outside of the list, whose items come and go.
    let open = RwSignal::new(None::<Open>);
    let tools = view! {
        <FilterSelect label="Items to show" all="All current ones" offered=choices() chosen=Signal::derive(move || shown.get().value()) choose=choose />
        {Reader::may_write().then(|| view! {
            <button type="button" class="button small" on:click=move |_| open.set(Some(Open::New))>"Write down"</button>
        })}
    };
    let is_unfiltered = move || shown.get() == Shown::Live(None);
    view! {
        <SectionBox
            id="war-room-knowledge"
            title=name_of(Word::Knowledge)
            summary=String::new()
            tools=Some(tools.into_any())
            loaded=Signal::derive(move || list.is_loaded())
            failure=list.list.failure
            empty=Signal::derive(move || list.is_empty())
            empty_heading=Signal::derive(move || if is_unfiltered() { "Nothing written down yet" } else { "No matching items" })
            empty_hint="Findings and traps are kept here with their evidence, so that nobody has to rediscover them. Write down what the next agent needs to know."
        >
            <ul class="room-list">
                <For each=move || list.items() key=|item| (item.id, item.version, item.closed_at) let:item>
                    <ItemRow item=item open=open />
                </For>
            </ul>
            <ShowOlder label="Show older" has_older=Signal::derive(move || list.has_older()) show_older=move |()| list.show_older() />
            <PlaceChoice />
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

/// Where the files are, as the owner may choose.
#[component]
fn PlaceChoice() -> impl IntoView {
    let store = Store::from_context();
    let chosen = Memo::new(move |_| store.project.with(|project| project.as_ref().map(|project| project.knowledge)));
    let option = |place: KnowledgePlace| {
        let (label, meaning) = knowledge_place_label(place);
        ProjectOption { value: place, label, meaning, patch: ProjectPatch { knowledge: Some(place), ..ProjectPatch::default() } }
    };
    let options = KnowledgePlace::ALL.iter().copied().map(option).collect();
    let may_choose = Reader::current().may(Right::Administer);
    view! { <ProjectChoice id="knowledge-place" label="Files" options=options chosen=chosen may_choose=may_choose /> }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_choice_is_read_as_it_was_written() {
        for (value, _) in choices() {
            assert_eq!(Shown::from_value(Some(&value)).value(), Some(value));
        }
        assert_eq!(Shown::from_value(Some("trap")).query(), (Some(KnowledgeKind::Trap), KnowledgeState::Live));
        assert_eq!(Shown::from_value(Some("closed")).query(), (None, KnowledgeState::Closed));
        assert_eq!(Shown::from_value(None).query(), (None, KnowledgeState::Live));
    }
}
