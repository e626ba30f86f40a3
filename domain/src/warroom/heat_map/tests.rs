//! Work is attributed to zones and parts of a repository.

use super::*;
use crate::id::ProjectId;
use crate::warroom::commit_files::{CommitFile, CommitFiles};

fn zone(name: &str, paths: &[&str], oracle: Option<&str>) -> Zone {
    Zone {
        project_id: ProjectId::new(1),
        name: name.to_owned(),
        paths: paths.iter().map(|path| path.parse().unwrap()).collect(),
        owner: None,
        oracle: oracle.map(str::to_owned),
        author: "human".to_owned(),
        set_at: since(),
    }
}

fn since() -> Timestamp {
    "2026-01-31T09:05:00.000Z".parse().unwrap()
}

fn files(sizes: &[(&str, u64)]) -> CommitFiles {
    let files = sizes.iter().map(|(path, bytes)| CommitFile { path: (*path).to_owned(), bytes: *bytes }).collect();
    CommitFiles { branch: "main".to_owned(), commit: "1234567".to_owned(), files }
}

fn task(paths: &[&str], cost: i64) -> TaskActivity {
    TaskActivity { paths: paths.iter().map(|path| path.parse().unwrap()).collect(), cost_micro_usd: cost, ..TaskActivity::default() }
}

fn facts(zones: Vec<Zone>, tasks: Vec<TaskActivity>) -> HeatFacts {
    HeatFacts { since: since(), is_cut: false, zones, tasks }
}

#[test]
fn work_counts_in_the_zones_of_its_files() {
    let zones = vec![zone("audio", &["audio/"], Some("ivy")), zone("core", &["src/"], None)];
    let tasks = vec![
        TaskActivity { is_open: true, runs: 2, updates: 4, send_backs: 1, ..task(&["audio/mix.rs", "audio/a.rs", "audio/b.rs", "src/lib.rs"], 400) },
        TaskActivity { conflicts: 1, ..task(&["README.md"], 50) },
        TaskActivity { runs: 1, ..task(&["**/*.rs"], 0) },
        task(&[], 1_000),
    ];
    let found = files(&[("README.md", 10), ("audio/mix.rs", 20), ("docs/a.md", 5), ("docs/deep/b.md", 6), ("src/lib.rs", 30), ("src/main.rs", 1)]);
    let map = HeatMap::of(&facts(zones, tasks), &found);
    let rows: Vec<_> = map.zones.iter().map(|row| (row.zone.as_deref(), row.files, row.bytes, row.tasks, row.runs, row.cost_micro_usd)).collect();
    assert_eq!(rows, [(Some("audio"), 1, 20, 2, 3, 300), (Some("core"), 2, 31, 2, 3, 100), (None, 3, 21, 1, 0, 50)]);
    let work: Vec<_> = map.zones.iter().map(|row| (row.open_tasks, row.updates, row.send_backs, row.conflicts, row.heat)).collect();
    // The first has all of the activity (6 of 8 by its files), send-backs and cost, but no conflict; the last has one and a sixth of the cost.
    assert_eq!(work, [(1, 4, 1, 0, 75), (1, 4, 1, 0, 27), (0, 0, 0, 1, 29)]);
    assert_eq!((map.tasks, map.tasks_without_files), (4, 1));
    let open: Vec<_> = map.coverage.uncovered.iter().map(|part| (part.path.as_str(), part.files, part.bytes)).collect();
    assert_eq!(open, [("docs/", 2, 11), ("*", 1, 10)]);
    assert_eq!(map.coverage.without_oracle, ["core"]);
    let parts: Vec<_> = map.folders.iter().map(|part| (part.path.as_str(), part.bytes, part.zone.as_deref(), part.heat)).collect();
    assert_eq!(parts[0], ("*", 10, None, 30), "a pattern of all folders counts in each");
    assert!(parts.contains(&("audio/", 20, Some("audio"), 75)), "{parts:?}");
    assert_eq!(parts.iter().map(|part| part.1).sum::<u64>(), 72, "{parts:?}");
}

#[test]
fn without_work_or_files_nothing_is_hot() {
    let map = HeatMap::of(&facts(Vec::new(), Vec::new()), &files(&[]));
    assert_eq!((map.zones.len(), map.zones[0].heat, map.folders.len(), map.coverage), (1, 0, 0, ZoneCoverage::default()));
}

#[test]
fn large_folders_are_divided_and_small_ones_stay_whole() {
    let found = files(&[
        ("Cargo.toml", 1),
        ("deep/only/child/one.rs", 300),
        ("deep/only/child/two/a.rs", 300),
        ("docs/a/b.md", 9),
        ("src/a/x.rs", 200),
        ("src/lib.rs", 190),
    ]);
    let map = HeatMap::of(&facts(Vec::new(), vec![task(&["src/"], 10), task(&["deep/only/child/one.rs"], 5)]), &found);
    let parts: Vec<_> = map.folders.iter().map(|part| (part.path.as_str(), part.bytes, part.heat)).collect();
    assert_eq!(
        parts,
        [("*", 1, 0), ("deep/only/child/*", 300, 100), ("deep/only/child/two/", 300, 0), ("docs/", 9, 0), ("src/*", 190, 100), ("src/a/", 200, 100)]
    );
}

#[test]
fn number_of_parts_is_bounded() {
    let wide: Vec<(String, u64)> = (1..=200).map(|number| (format!("f{number:03}/a.rs"), number)).collect();
    let wide: Vec<(&str, u64)> = wide.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    let map = HeatMap::of(&facts(Vec::new(), vec![task(&["f001/a.rs"], 1), task(&["f200/"], 2)]), &files(&wide));
    assert_eq!(map.folders.len(), 60);
    let rest = map.folders.iter().find(|part| part.path == "**").unwrap();
    assert_eq!((rest.files, rest.bytes, rest.heat), (141, (1..=141).sum(), 50));
    let tall: Vec<(String, u64)> = (0..400).map(|number| (format!("a/{}/{number}/x.rs", number % 20), 1_000)).collect();
    let tall: Vec<(&str, u64)> = tall.iter().map(|(path, bytes)| (path.as_str(), *bytes)).collect();
    let map = HeatMap::of(&facts(Vec::new(), Vec::new()), &files(&tall));
    assert!((20..=60).contains(&map.folders.len()), "{}", map.folders.len());
    assert_eq!(map.folders.iter().map(|part| part.files).sum::<u32>(), 400);
}
