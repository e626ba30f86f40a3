//! Leases ports to agents and apps: from the configured range, leased to no live run or preview, and free on this machine.
//!
//! It must not know what listens on them.

use std::collections::BTreeSet;

use crate::blocking::off_thread;
use crate::runs::run::RunContext;

/// Leases up to `wanted` ports; fewer when the range is used up. An agent then chooses its own. The store refuses a second lease of the port of a
/// run.
///
/// # Errors
/// When the store fails.
pub(crate) async fn lease_ports(context: &RunContext, wanted: usize) -> db::Result<Vec<u16>> {
    let mut leased: BTreeSet<u16> = context.db.live_runs().await?.iter().filter_map(|run| run.port).collect();
    leased.extend(context.db.live_previews().await?.into_iter().flat_map(|live| live.preview.ports));
    let range = context.config().port_range;
    // Nobody fails without a port, so an interruption is no failure.
    Ok(off_thread(move || free_ports(range, &leased, wanted)).await.unwrap_or_default())
}

/// Binds sockets, so it blocks.
fn free_ports(range: (u16, u16), leased: &BTreeSet<u16>, wanted: usize) -> Vec<u16> {
    (range.0..=range.1).filter(|port| !leased.contains(port) && portpicker::is_free_tcp(*port)).take(wanted).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn leased_and_used_ports_are_skipped() {
        // The listener uses the only port of the range.
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let used = listener.local_addr().unwrap().port();
        assert!(free_ports((used, used), &BTreeSet::new(), 1).is_empty());
        let free = portpicker::pick_unused_port().unwrap();
        assert_eq!(free_ports((free, free), &BTreeSet::new(), 2), [free]);
        assert!(free_ports((free, free), &BTreeSet::from([free]), 1).is_empty());
    }
}
