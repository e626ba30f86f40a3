//! Signs of life, kept in memory: who is connected this moment, and when each agent was last heard of.
//!
//! They are too frequent for the log. The store's rows get the last one now and then, so that a restart does not forget everybody.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::id::ProjectId;
use domain::team::agent::{Agent, Health};
use domain::time::Timestamp;

use crate::now;

/// How old the stored sign of life of somebody who is there may become.
const STORE_INTERVAL: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub(crate) struct Presence(Arc<Mutex<PresenceMap>>);

#[derive(Debug)]
struct PresenceMap {
    listening_since: Timestamp,
    signs: BTreeMap<(ProjectId, String), AgentPresence>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct AgentPresence {
    pub(crate) last: Option<Timestamp>,
    pub(crate) connections: u32,
    stored: Option<Timestamp>,
}

/// Somebody who can be told something this moment, for as long as this is kept.
#[derive(Debug)]
pub struct ConnectionGuard {
    presence: Presence,
    key: (ProjectId, String),
}

impl Presence {
    pub(crate) fn new(listening_since: Timestamp) -> Self {
        Self(Arc::new(Mutex::new(PresenceMap { listening_since, signs: BTreeMap::new() })))
    }

    fn lock(&self) -> MutexGuard<'_, PresenceMap> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of(&self, project: &ProjectId, name: &str) -> AgentPresence {
        self.lock().signs.get(&(project.clone(), name.to_owned())).copied().unwrap_or_default()
    }

    /// Since when signs of life are heard at all: whoever was connected to an earlier process may not be back yet.
    pub(crate) fn tracking_since(&self) -> Timestamp {
        self.lock().listening_since
    }

    /// Notes a sign of life; true when it is time to store it.
    pub(crate) fn record_heartbeat(&self, project: &ProjectId, name: &str, now: Timestamp) -> bool {
        let mut heard = self.lock();
        let signs = heard.signs.entry((project.clone(), name.to_owned())).or_default();
        signs.last = Some(now);
        let due = signs.stored.is_none_or(|stored| now.since(stored) >= STORE_INTERVAL);
        if due {
            signs.stored = Some(now);
        }
        due
    }

    /// Puts what is known only here onto what the store knows of an agent.
    pub(crate) fn apply_to(&self, agent: &mut Agent, now: Timestamp) {
        let signs = self.of(&agent.project_id, &agent.name);
        agent.last_seen = agent.last_seen.max(signs.last);
        agent.connected = signs.connections > 0 && agent.left_at.is_none();
        // An open connection is as good as a sign of life.
        agent.health = if agent.connected { Health::Healthy } else { Health::of(agent.last_seen, now) };
    }

    /// Forgets when an agent was last heard of, because somebody else has its name now.
    pub(crate) fn reset(&self, project: &ProjectId, name: &str) {
        if let Some(signs) = self.lock().signs.get_mut(&(project.clone(), name.to_owned())) {
            (signs.last, signs.stored) = (None, None);
        }
    }

    pub(crate) fn connect(&self, project: &ProjectId, name: &str) -> ConnectionGuard {
        let key = (project.clone(), name.to_owned());
        self.lock().signs.entry(key.clone()).or_default().connections += 1;
        ConnectionGuard { presence: self.clone(), key }
    }
}

impl Drop for ConnectionGuard {
    fn drop(&mut self) {
        if let Some(signs) = self.presence.lock().signs.get_mut(&self.key) {
            signs.connections = signs.connections.saturating_sub(1);
            // It was there until now, however little it said.
            signs.last = signs.last.max(Some(now()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Presence {
        /// As if the process were older.
        pub(crate) fn listen_since(&self, at: Timestamp) {
            self.lock().listening_since = at;
        }
    }

    #[test]
    fn a_connection_lasts_as_long_as_it_is_kept() {
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
    fn a_sign_of_life_is_stored_now_and_then() {
        let (presence, project) = (Presence::new(now()), ProjectId::new(1));
        let start = Timestamp::from_milliseconds(1_000);
        let at = |seconds| presence.record_heartbeat(&project, "mara", start.after(Duration::from_secs(seconds)));
        assert_eq!([at(0), at(1), at(29), at(30), at(31)], [true, false, false, true, false]);
        assert_eq!(presence.of(&project, "mara").last, Some(start.after(Duration::from_secs(31))));
    }
}
