//! In-memory presence: open connections and the last heartbeat of each agent. Must not know what an agent is beyond its name.
//!
//! Heartbeats are too frequent for the event log. The store saves the latest one at intervals, so a restart keeps most of them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::ProjectId;
use domain::time::Timestamp;

use crate::now;

/// Minimum time between two stored heartbeats of one agent.
const STORE_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Presence(Arc<Mutex<PresenceMap>>);

#[derive(Debug)]
struct PresenceMap {
    listening_since: Timestamp,
    agents: BTreeMap<(ProjectId, String), AgentPresence>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AgentPresence {
    pub(crate) last: Option<Timestamp>,
    pub(crate) connections: u32,
    stored: Option<Timestamp>,
}

/// An open connection of an agent. Dropping it closes the connection.
#[derive(Debug)]
pub struct ConnectionGuard {
    presence: Presence,
    key: (ProjectId, String),
}

impl Presence {
    pub(crate) fn new(listening_since: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(PresenceMap { listening_since, agents: BTreeMap::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, PresenceMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, project: &ProjectId, name: &str) -> AgentPresence {
        self.lock().agents.get(&(project.clone(), name.to_owned())).copied().unwrap_or_default()
    }

    /// When this process began to track heartbeats. Agents connected to the previous process may not have reconnected yet.
    pub(crate) fn tracking_since(&self) -> Timestamp {
        self.lock().listening_since
    }

    /// Records a heartbeat. Returns true when it is time to store it.
    pub(crate) fn record_heartbeat(&self, project: &ProjectId, name: &str, now: Timestamp) -> bool {
        let mut map = self.lock();
        let agent = map.agents.entry((project.clone(), name.to_owned())).or_default();
        agent.last = Some(now);
        let due = agent.stored.is_none_or(|stored| now.since(stored) >= STORE_INTERVAL);
        if due {
            agent.stored = Some(now);
        }
        due
    }

    /// Clears the heartbeats of a name, because another agent has taken it.
    pub(crate) fn reset(&self, project: &ProjectId, name: &str) {
        if let Some(agent) = self.lock().agents.get_mut(&(project.clone(), name.to_owned())) {
            (agent.last, agent.stored) = (None, None);
        }
    }

    /// Gives the heartbeats of a name to another one of the same agent. Its connections are closed and opened again under that name.
    pub(crate) fn rename(&self, project: &ProjectId, name: &str, new_name: &str) {
        let mut map = self.lock();
        let last = map.agents.get_mut(&(project.clone(), name.to_owned())).and_then(|agent| agent.last.take());
        map.agents.entry((project.clone(), new_name.to_owned())).or_default().last = last;
    }

    pub(crate) fn connect(&self, project: &ProjectId, name: &str) -> ConnectionGuard {
        let key = (project.clone(), name.to_owned());
        self.lock().agents.entry(key.clone()).or_default().connections += 1;
        ConnectionGuard { presence: self.clone(), key }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if let Some(agent) = self.presence.lock().agents.get_mut(&self.key) {
            agent.connections = agent.connections.saturating_sub(1);
            // The agent was connected until now, even if it made no call.
            agent.last = agent.last.max(Some(now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Presence {
        /// Pretends that this process has tracked heartbeats since `since`.
        pub(crate) fn listen_since(&self, at: Timestamp) {
            self.lock().listening_since = at;
        }
    }

    #[test]
    fn connection_lasts_until_its_guard_is_dropped() {
        let (presence, project) = (Presence::new(now()), ProjectId::new(1));
        let one = presence.connect(&project, "mara");
        let other = presence.connect(&project, "mara");
        assert_eq!((presence.of(&project, "mara").connections, presence.of(&project, "mara").last), (2, None));
        drop(one);
        drop(other);
        assert_eq!(presence.of(&project, "mara").connections, 0);
        assert!(presence.of(&project, "mara").last.is_some(), "it was there until then");
    }

    #[test]
    fn heartbeats_follow_a_rename() {
        let (presence, project) = (Presence::new(now()), ProjectId::new(1));
        let start = Timestamp::from_milliseconds(1_000);
        let connection = presence.connect(&project, "ole");
        presence.record_heartbeat(&project, "ole", start);
        presence.rename(&project, "ole", "ole-audio");
        assert_eq!((presence.of(&project, "ole").last, presence.of(&project, "ole-audio").last), (None, Some(start)));
        drop(connection);
        assert_eq!(presence.of(&project, "ole-audio").connections, 0);
    }

    #[test]
    fn heartbeat_is_stored_at_intervals() {
        let (presence, project) = (Presence::new(now()), ProjectId::new(1));
        let start = Timestamp::from_milliseconds(1_000);
        let at = |seconds| presence.record_heartbeat(&project, "mara", start.after(Duration::from_secs(seconds)));
        assert_eq!([at(0), at(1), at(29), at(30), at(31)], [true, false, false, true, false]);
        assert_eq!(presence.of(&project, "mara").last, Some(start.after(Duration::from_secs(31))));
    }
}
