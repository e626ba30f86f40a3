//! Leases ports to agents that serve what they build: from the configured range, leased to no live run, and free on this machine.
//!
//! It must not know what an agent serves.

use std::collections::BTreeSet;

use domain::runs::run::Run;

/// Picks a free port; none when the range is used up, and then the agent chooses its own. The store refuses a second lease of the same
/// port. Binds sockets, so it blocks.
pub(crate) fn lease_port(range: (u16, u16), live: &[Run]) -> Option<u16> {
    let leased: BTreeSet<u16> = live.iter().filter_map(|run| run.port).collect();
    (range.0..=range.1).find(|port| !leased.contains(port) && portpicker::is_free_tcp(*port))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use domain::id::TaskId;
    use domain::runs::agent_kind::AgentKind;
    use domain::time::Timestamp;

    use super::*;
    use crate::fixture::live_run;

    fn run_with(port: u16) -> Run {
        Run { port: Some(port), ..live_run(1, TaskId::new(1), AgentKind::Coder, Timestamp::from_milliseconds(0)) }
    }

    #[test]
    fn leased_and_used_ports_are_skipped() {
        // The listener uses the only port of the range.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let used = listener.local_addr().unwrap().port();
        assert_eq!(lease_port((used, used), &[]), None);
        let free = portpicker::pick_unused_port().unwrap();
        assert_eq!(lease_port((free, free), &[]), Some(free));
        assert_eq!(lease_port((free, free), &[run_with(free)]), None);
    }
}
