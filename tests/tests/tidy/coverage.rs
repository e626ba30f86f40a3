//! Coverage by enumeration: what the product offers is read from its sources, and some test must name each of it. Routes and functions of
//! the store are counted where they are, by `api/src/tests/story.rs` and `db/src/tests/coverage.rs`. It must not know what the tests prove.

use crate::generated::kinds;
use crate::source::{none, read, rust};

/// The text of all tests, these aside.
fn tests() -> String {
    let others = rust().into_iter().filter(|file| !file.path.starts_with("tests/tests/tidy/"));
    others.map(|file| file.tests().to_owned()).collect()
}

#[test]
fn every_kind_of_event_is_named_by_a_test() {
    let (kinds, tests) = (kinds(), tests());
    assert!(kinds.len() > 50, "the events were not read");
    let unnamed = kinds.iter().filter(|kind| !tests.contains(&kind.variant) && !tests.contains(&format!("\"{}\"", kind.name)));
    none("no test names these events", unnamed.map(|kind| kind.name.clone()).collect());
}

/// The tools, from the snapshot that a test of `mcp` compares with the code.
fn tools() -> Vec<String> {
    let snapshot = read("mcp/src/tests/snapshots/mcp__tests__table__the_tools_on_the_wire.snap");
    let names = snapshot.lines().filter_map(|line| line.strip_prefix("{\"name\":\"")?.split('"').next());
    names.map(str::to_owned).collect()
}

#[test]
fn every_tool_is_called_by_a_test() {
    let (tools, tests) = (tools(), tests());
    assert!(tools.len() > 8, "the table of tools was not read: {tools:?}");
    none("no test calls these tools", tools.into_iter().filter(|tool| !tests.contains(&format!("\"{tool}\""))).collect());
}
