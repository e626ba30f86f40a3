//! The heat map: the repository as a treemap whose colours say how much work its parts take, with the same in tables.
//!
//! Must not compute positions: `layout` does.

mod layout;
mod table;
mod tile;

use std::time::Duration;

use domain::warroom::heat_map::HeatMap;
use leptos::prelude::*;

use crate::client::Client;
use crate::components::section_box::SectionBox;
use crate::components::warroom::words::{Word, name_of};
use crate::invalidation::ListKind;
use crate::live_list::LiveList;
use crate::project_data::ProjectData;
use crate::store::Store;
use table::{FolderTable, Uncovered, ZoneTable};
use tile::Map;

/// Work changes the map all the time, and no event of its own says so.
const POLL_INTERVAL: Duration = Duration::from_secs(60);
/// The shades of the map.
const LEVELS: u8 = 5;

/// The shade of a heat from 0 to 100. Only what takes no work has the first one.
const fn level(heat: u8) -> u8 {
    match heat {
        0 => 0,
        1..25 => 1,
        25..50 => 2,
        50..75 => 3,
        _ => 4,
    }
}

#[component]
pub(crate) fn HeatMapSection() -> impl IntoView {
    let (client, store, data) = (Client::from_context(), Store::from_context(), ProjectData::from_context());
    let map = LiveList::new(store.revision_of(ListKind::Zones), |_| false, move || client.heat_map(data.project())).watch().poll(POLL_INTERVAL);
    // Drawn again only when something has changed.
    let shown = Memo::new(move |_| map.value.get());
    let shades = (0..LEVELS).map(|level| view! { <i data-heat=level.to_string()></i> }).collect_view();
    let legend = view! { <span class="heat-legend faint" aria-hidden="true">"little work" {shades} "much"</span> };
    view! {
        <SectionBox
            id="war-room-map"
            title=name_of(Word::Map)
            summary=String::new()
            tools=Some(legend.into_any())
            loaded=Signal::derive(move || map.value.with(Option::is_some))
            failure=map.failure
            empty=Signal::derive(move || shown.with(|map| map.as_ref().is_some_and(|map| map.folders.is_empty())))
            empty_heading="No files yet"
            empty_hint="The map shows the files of the repository, and which of them take the most work. Commit a file first."
        >
            {move || shown.get().filter(|map| !map.folders.is_empty()).map(|map| view! { <Content map=map /> })}
        </SectionBox>
    }
    .into_any()
}

#[component]
fn Content(map: HeatMap) -> impl IntoView {
    let basis = basis(&map);
    let has_zones = map.zones.iter().any(|zone| zone.zone.is_some());
    let HeatMap { zones, folders, coverage, .. } = map;
    let tiles = folders.clone();
    view! {
        <div class="heat">
            <div class="heat-drawing">
                <Map folders=tiles />
                <p class="faint small-text">{basis}</p>
            </div>
            <div class="heat-tables">
                {has_zones.then(|| view! { <ZoneTable zones=zones /> })}
                <FolderTable folders=folders open=!has_zones />
                {has_zones.then(|| view! { <Uncovered coverage=coverage /> })}
            </div>
        </div>
    }
    .into_any()
}

/// The basis of the sizes and colours, in a sentence.
fn basis(map: &HeatMap) -> String {
    let without = match map.tasks_without_files {
        0 => String::new(),
        1 => " 1 of them does not name a file.".to_owned(),
        count => format!(" {count} of them do not name a file."),
    };
    let tasks = match (map.tasks, map.is_cut) {
        (0, _) => return "Sizes are those of the files. No task counts yet: colours appear when tasks change files.".to_owned(),
        (1, _) => "1 task".to_owned(),
        (count, false) => format!("{count} tasks"),
        (count, true) => format!("The last {count} tasks"),
    };
    format!(
        "Sizes are those of the files; colours come from runs, comments, updates, send-backs, conflicts and cost. {tasks} of the last 30 days.{without}"
    )
}

#[cfg(test)]
mod tests {
    use super::level;

    #[test]
    fn shades_grow_with_the_heat() {
        assert_eq!([0, 1, 24, 25, 49, 50, 74, 75, 100].map(level), [0, 1, 1, 2, 2, 3, 3, 4, 4]);
    }
}
