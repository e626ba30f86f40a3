//! The heat map as tables: the work on each zone, the parts of the repository, and what no zone covers.

use domain::runs::usage::money;
use domain::warroom::heat_map::{FolderHeat, ZoneHeat};
use domain::warroom::zone::coverage::ZoneCoverage;
use leptos::prelude::*;

use super::level;
use super::tile::{heat_text, label};
use crate::components::warroom::table::FactTable;

/// Parts that are named at first.
const SHOWN: usize = 6;

/// A number from 0 to 100 with its shade.
#[component]
fn Heat(heat: u8) -> impl IntoView {
    view! {
        <td class="tabular"><i class="shade" data-heat=level(heat).to_string() aria-hidden="true"></i>{heat_text(heat)}</td>
    }
    .into_any()
}

#[component]
pub(super) fn ZoneTable(mut zones: Vec<ZoneHeat>) -> impl IntoView {
    zones.sort_by_key(|zone| std::cmp::Reverse(zone.heat));
    let row = |zone: ZoneHeat| {
        let facts = facts(&zone);
        view! {
            <tr>
                <th scope="row">{zone.zone.unwrap_or_else(|| "In no zone".to_owned())}</th>
                <Heat heat=zone.heat />
                <td>{facts}</td>
            </tr>
        }
    };
    view! {
        <FactTable caption="Work on each zone" columns=["Zone", "Heat", "Work"]>{zones.into_iter().map(row).collect_view()}</FactTable>
    }
    .into_any()
}

/// The work on a zone, such as `4 tasks, 1 open · 2 sent back · $1.20`.
fn facts(zone: &ZoneHeat) -> String {
    let tasks = match (zone.tasks, zone.open_tasks) {
        (0, _) => return "no task".to_owned(),
        (1, 0) => "1 task".to_owned(),
        (1, _) => "1 open task".to_owned(),
        (tasks, open) if tasks == open => format!("{tasks} open tasks"),
        (tasks, 0) => format!("{tasks} tasks"),
        (tasks, open) => format!("{tasks} tasks, {open} open"),
    };
    let sent_back = (zone.send_backs > 0).then(|| format!("{} sent back", zone.send_backs));
    let conflicts = (zone.conflicts > 0).then(|| if zone.conflicts == 1 { "1 conflict".to_owned() } else { format!("{} conflicts", zone.conflicts) });
    [Some(tasks), sent_back, conflicts, money(zone.cost_micro_usd)].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

/// The parts of the repository, those with the most work first.
#[component]
pub(super) fn FolderTable(
    mut folders: Vec<FolderHeat>,
    /// Whether the table is open at first.
    open: bool,
) -> impl IntoView {
    folders.sort_by(|one, other| (other.heat, other.bytes, &one.path).cmp(&(one.heat, one.bytes, &other.path)));
    let row = |folder: FolderHeat| {
        let files = if folder.files == 1 { "1 file".to_owned() } else { format!("{} files", folder.files) };
        view! {
            <tr>
                <th scope="row" class="mono">{label(&folder.path).to_owned()}</th>
                <Heat heat=folder.heat />
                <td>{files}</td>
            </tr>
        }
    };
    view! {
        <details class="fold" open=open>
            <summary>"Parts of the repository"</summary>
            <div class="heat-scroll" tabindex="0" role="region" aria-label="Parts of the repository">
                <FactTable columns=["Part", "Heat", "Files"]>{folders.into_iter().map(row).collect_view()}</FactTable>
            </div>
        </details>
    }
    .into_any()
}

/// The files in no zone, and the zones without an expert.
#[component]
pub(super) fn Uncovered(coverage: ZoneCoverage) -> impl IntoView {
    view! {
        {uncovered(&coverage).map(|text| view! { <p class="soft small-text">{text}</p> })}
        {without_expert(&coverage.without_oracle).map(|text| view! { <p class="soft small-text">{text}</p> })}
    }
    .into_any()
}

fn uncovered(coverage: &ZoneCoverage) -> Option<String> {
    let files = match coverage.uncovered_files {
        0 => return None,
        1 => "1 file is".to_owned(),
        files => format!("{files} files are"),
    };
    let names: Vec<&str> = coverage.uncovered.iter().take(SHOWN).map(|part| label(&part.path)).collect();
    let more = if coverage.uncovered.len() > SHOWN { " and more" } else { "" };
    Some(format!("{files} in no zone: {}{more}.", names.join(", ")))
}

fn without_expert(zones: &[String]) -> Option<String> {
    let names: Vec<&str> = zones.iter().take(SHOWN).map(String::as_str).collect();
    let more = if zones.len() > SHOWN { " and more" } else { "" };
    (!names.is_empty()).then(|| format!("Nobody answers questions about: {}{more}.", names.join(", ")))
}

#[cfg(test)]
mod tests {
    use domain::warroom::zone::coverage::UncoveredPart;

    use super::*;

    #[test]
    fn work_on_a_zone_leaves_out_what_did_not_happen() {
        let zone = ZoneHeat { tasks: 4, open_tasks: 1, send_backs: 2, conflicts: 1, cost_micro_usd: 1_200_000, ..ZoneHeat::default() };
        assert_eq!(facts(&zone), "4 tasks, 1 open · 2 sent back · 1 conflict · $1.20");
        assert_eq!(facts(&ZoneHeat { tasks: 1, ..ZoneHeat::default() }), "1 task");
        assert_eq!(facts(&ZoneHeat::default()), "no task");
    }

    #[test]
    fn gaps_are_named_and_long_lists_cut() {
        let part = |place: usize| UncoveredPart { path: format!("d{place}/"), files: 1, bytes: 1 };
        let mut coverage = ZoneCoverage { uncovered_files: 7, uncovered: (1..=7).map(part).collect(), ..ZoneCoverage::default() };
        assert_eq!(uncovered(&coverage).as_deref(), Some("7 files are in no zone: d1/, d2/, d3/, d4/, d5/, d6/ and more."));
        coverage.uncovered.truncate(1);
        coverage.uncovered_files = 1;
        assert_eq!(uncovered(&coverage).as_deref(), Some("1 file is in no zone: d1/."));
        assert_eq!(uncovered(&ZoneCoverage::default()), None);
        assert_eq!(without_expert(&["audio".to_owned()]).as_deref(), Some("Nobody answers questions about: audio."));
        assert_eq!(without_expert(&[]), None);
    }
}
