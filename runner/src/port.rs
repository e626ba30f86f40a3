//! Ports for agents that serve what they build: from the configured range, not given to a live run, and free on this machine.

use std::collections::BTreeSet;

use domain::run::Run;

/// A free port, or none when the range is used up; the agent then has to choose its own. That no two live runs get the same one is
/// guaranteed by the store, which refuses the second.
pub(crate) fn choose(range: (u16, u16), live: &[Run]) -> Option<u16> {
    let taken: BTreeSet<u16> = live.iter().filter_map(|run| run.port).collect();
    (range.0..=range.1).find(|port| !taken.contains(port) && portpicker::is_free_tcp(*port))
}
