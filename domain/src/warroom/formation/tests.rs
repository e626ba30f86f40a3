//! Tests of the formation for each size of a repository, and of what limits it.

use super::*;

fn facts(lines: u64, zones: usize, independent_tasks: u32) -> FormationFacts {
    let zones = (0..zones).map(|number| (format!("z{number}"), number == 0)).collect();
    FormationFacts { lines, zones, independent_tasks, max_coders: None, max_parallel_agents: 3 }
}

/// Name, leads, oracles, recons, coders and builders.
fn party(facts: FormationFacts) -> (&'static str, [u32; 5]) {
    let Formation { formation, leads, oracles, recons, coders, builders, .. } = Formation::propose(facts);
    (formation.as_str(), [leads, oracles, recons, coders, builders])
}

#[test]
fn size_of_the_repository_decides() {
    for (lines, expected) in [
        (0, ("skirmish", [1, 0, 0, 1, 1])),
        (49_999, ("skirmish", [1, 0, 0, 1, 1])),
        (50_000, ("dungeon", [1, 1, 1, 1, 1])),
        (199_999, ("dungeon", [1, 1, 1, 1, 1])),
        (200_000, ("raid", [1, 3, 1, 2, 1])),
        (MAX_LINES - 1, ("raid", [1, 3, 1, 2, 1])),
        (MAX_LINES, ("world_boss", [3, 5, 2, 3, 2])),
        (u64::MAX, ("world_boss", [3, 5, 2, 3, 2])),
    ] {
        assert_eq!(party(facts(lines, 5, 9)), expected, "{lines}");
    }
}

#[test]
fn zones_and_independent_tasks_decide_within_its_bounds() {
    for (zones, tasks, expected) in [(0, 0, [1, 2, 1, 1, 1]), (3, 1, [1, 3, 1, 1, 1]), (100, 2, [1, 3, 1, 2, 1]), (2, 99, [1, 2, 1, 2, 1])] {
        assert_eq!(party(facts(300_000, zones, tasks)).1, expected, "{zones} zones, {tasks} tasks");
    }
    assert_eq!(party(facts(MAX_LINES, 100, 2)).1, [4, 6, 2, 2, 2]);
}

#[test]
fn proposal_names_what_is_missing() {
    let proposed = Formation::propose(facts(MAX_LINES, 3, 9));
    assert_eq!(proposed.zones_without_oracle, ["z1", "z2"]);
    assert_eq!(proposed.configuration.as_deref(), Some("\"max_parallel_agents\": 5"));
    let enough = FormationFacts { max_parallel_agents: 5, max_coders: Some(3), ..facts(MAX_LINES, 1, 9) };
    let proposed = Formation::propose(enough);
    assert_eq!((proposed.configuration, proposed.max_coders, proposed.zones_without_oracle.len()), (None, Some(3), 0));
}
