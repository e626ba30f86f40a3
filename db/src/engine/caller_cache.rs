//! Caches the caller of each token hash, so that a request does not read the database to authenticate.
//!
//! Revoking a token clears the cache after the commit and before subscribers are notified.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::caller::Caller;

/// Maximum number of cached callers. A full cache is cleared.
const MAX_CALLERS: usize = 1024;

#[derive(Debug, Clone, Default)]
pub(crate) struct CallerCache {
    callers: Arc<Mutex<HashMap<String, Caller>>>,
    /// How many times the cache was cleared. Changed and compared only while `callers` is locked.
    generation: watch::Sender<u64>,
}

impl CallerCache {
    fn callers(&self) -> MutexGuard<'_, HashMap<String, Caller>> {
        self.callers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the caller of a token hash, or the generation to pass to [`Self::remember`] after a lookup.
    pub(crate) fn find(&self, hash: &str) -> Result<Caller, u64> {
        self.callers().get(hash).cloned().ok_or_else(|| *self.generation.borrow())
    }

    /// Caches the result of a lookup, unless the cache was cleared after the lookup began.
    pub(crate) fn remember(&self, generation: u64, hash: String, caller: Caller) {
        let mut callers = self.callers();
        if *self.generation.borrow() != generation {
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
        self.generation.send_modify(|generation| *generation += 1);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lookup_that_began_before_a_revocation_is_not_cached() {
        let cache = CallerCache::default();
        let generation = cache.find("a").unwrap_err();
        cache.clear();
        cache.remember(generation, "a".to_owned(), Caller::owner());
        let generation = cache.find("a").unwrap_err();
        cache.remember(generation, "a".to_owned(), Caller::owner());
        assert_eq!(cache.find("a"), Ok(Caller::owner()));
        cache.clear();
        assert!(cache.find("a").is_err());
    }
}
