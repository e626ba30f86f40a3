//! Callers that were looked up before, so that not every request asks the disk who it is.
//!
//! Whoever changes a token makes all of them be looked up anew, after the commit and before anybody is told of the change.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::caller::Caller;

/// How many callers are remembered; beyond that all are looked up anew.
const MAX_CALLERS: usize = 1024;

#[derive(Debug, Clone, Default)]
pub(crate) struct CallerCache {
    callers: Arc<Mutex<HashMap<String, Caller>>>,
    /// How often everything was forgotten; changed and compared only while the callers are locked.
    generation: watch::Sender<u64>,
}

impl CallerCache {
    fn callers(&self) -> MutexGuard<'_, HashMap<String, Caller>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The caller behind the hash of a token, or the life in which a lookup begins now.
    pub(super) fn find(&self, hash: &str) -> Result<Caller, u64> {
        self.callers().get(hash).cloned().ok_or_else(|| *self.generation.borrow())
    }

    /// Remembers what a lookup found, unless tokens changed since it began.
    pub(super) fn remember(&self, life: u64, hash: String, caller: Caller) {
        let mut callers = self.callers();
        if *self.generation.borrow() != life {
            return;
        }
        if callers.len() >= MAX_CALLERS {
            callers.clear();
        }
        callers.insert(hash, caller);
    }

    pub(crate) fn clear(&self) {
        let mut callers = self.callers();
        callers.clear();
        self.generation.send_modify(|life| *life += 1);
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lookup_that_tokens_overtook_is_not_remembered() {
        let known = CallerCache::default();
        let life = known.find("a").unwrap_err();
        known.clear();
        known.remember(life, "a".to_owned(), Caller::Human);
        let life = known.find("a").unwrap_err();
        known.remember(life, "a".to_owned(), Caller::Human);
        assert_eq!(known.find("a"), Ok(Caller::Human));
        known.clear();
        assert!(known.find("a").is_err());
    }
}
