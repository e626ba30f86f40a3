//! The code map of a project: when it was made, and how much source code it maps. The reader makes a new one, or zones from it.

use std::time::Duration;

use domain::warroom::code_map::{CodeMapView, LanguageSum};
use domain::warroom::zone::proposal::ProposalSource;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::form::Sending;
use crate::components::section_box::SectionBox;
use crate::components::toast::Toasts;
use crate::components::warroom::number::counted;
use crate::components::warroom::table::FactTable;
use crate::components::warroom::zone::propose::ProposeDialog;
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::reader::Reader;
use crate::store::Store;
use crate::time::Clock;

/// Planners make the map too, and no event says so.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// Languages that are named.
const SHOWN_LANGUAGES: usize = 6;

#[component]
pub(crate) fn CodeMapSection() -> impl IntoView {
    let (client, store, data, toasts) = (Client::from_context(), Store::from_context(), ProjectData::from_context(), Toasts::from_context());
    let request = move || client.code_map(data.project());
    let map = LiveList::new(store.revision_of(ListKind::Zones), |_| true, request).watch().poll(POLL_INTERVAL);
    let shown = Memo::new(move |_| map.value.get().flatten());
    let (sending, proposing) = (Sending::new(), RwSignal::new(false));
    let make = move |_| {
        let before = shown.with_untracked(|map| map.as_ref().map(|map| map.made_at));
        sending.run(client.map_code(data.project()), move |made| {
            toasts.success(if before == Some(made.made_at) { "No file has changed since the last map." } else { "The map is ready." });
            map.value.set(Some(Some(made)));
        });
    };
    let tools = Reader::may_write().then(|| {
        view! {
            <Show when=move || shown.with(Option::is_some)>
                <button type="button" class="button small" aria-label="Propose zones from the code map" on:click=move |_| proposing.set(true)>
                    "Propose zones"
                </button>
            </Show>
            <button
                type="button"
                class="button small"
                disabled=move || sending.is_busy()
                aria-busy=move || sending.is_busy().to_string()
                on:click=make
            >
                "Map the code"
            </button>
        }
        .into_any()
    });
    view! {
        <SectionBox
            id="war-room-code-map"
            title="Code map"
            summary=String::new()
            tools=tools
            loaded=Signal::derive(move || map.value.with(Option::is_some))
            failure=map.failure
            empty=Signal::derive(move || shown.with(Option::is_none))
            empty_heading="No map yet"
            empty_hint="The map lists folders, files and public names, so that agents find their way without reading everything. A planner makes it before it plans."
        >
            {move || shown.get().map(|map| view! { <Content map=map /> })}
        </SectionBox>
        {move || proposing.get().then(|| view! { <ProposeDialog from=ProposalSource::CodeMap close=Callback::new(move |()| proposing.set(false)) /> })}
    }
    .into_any()
}

#[component]
fn Content(map: CodeMapView) -> impl IntoView {
    let clock = Clock::from_context();
    let (size, at, path) = (size(&map), map.made_at, map.path.clone());
    let hidden = map.summary.languages.len().saturating_sub(SHOWN_LANGUAGES);
    let row = |language: LanguageSum| {
        view! {
            <tr>
                <th scope="row">{language.name}</th>
                <td>{counted(language.lines, "line")}</td>
                <td>{counted(language.files.into(), "file")}</td>
            </tr>
        }
    };
    let languages = map.summary.languages.into_iter().take(SHOWN_LANGUAGES).map(row).collect_view();
    view! {
        <div class="room-facts">
            <p class="small-text">
                {size} " "
                <span class="soft">"Made " <time datetime=at.to_string() title=at.to_string()>{move || clock.ago(at)}</time> "."</span>
            </p>
            <FactTable caption="Languages" columns=["Language", "Lines", "Files"]>{languages}</FactTable>
            {(hidden > 0).then(|| view! { <p class="faint small-text">{format!("and {hidden} more")}</p> })}
            <p class="faint small-text">"It is in " <code class="mono">{path}</code></p>
        </div>
    }
    .into_any()
}

/// How much is mapped, such as `1,200 lines of code in 12 files and 3 folders.`
fn size(map: &CodeMapView) -> String {
    let lines = map.summary.languages.iter().map(|language| language.lines).sum();
    let files = map.summary.languages.iter().map(|language| u64::from(language.files)).sum();
    let folders = map.summary.folders.len() as u64;
    format!("{} of code in {} and {}.", counted(lines, "line"), counted(files, "file"), counted(folders, "folder"))
}

#[cfg(test)]
mod tests {
    use domain::time::Timestamp;
    use domain::warroom::code_map::{CodeMapSummary, SourceFolder};

    use super::*;

    #[test]
    fn size_counts_all_languages() {
        let language = |name: &str, files, lines| LanguageSum { name: name.to_owned(), files, lines };
        let summary = CodeMapSummary {
            languages: vec![language("Rust", 3, 1_000), language("C", 1, 200)],
            folders: vec![SourceFolder { path: "src".to_owned(), files: 4, lines: 1_200 }],
            ..CodeMapSummary::default()
        };
        let map = CodeMapView { summary, made_at: Timestamp::from_milliseconds(0), path: String::new(), bytes: 0 };
        assert_eq!(size(&map), "1,200 lines of code in 4 files and 1 folder.");
    }
}
