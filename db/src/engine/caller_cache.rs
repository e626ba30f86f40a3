//! Caches the holder of each token hash, so that a request does not read the database to authenticate.
//!
//! Revoking or changing a token clears the cache after the commit and before subscribers are notified. Must not decide whether a holder's time
//! is over.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use crate::caller::Holder;

/// Maximum number of cached callers. A full cache is cleared.
const MAX_CALLERS: usize = 1024;

#[derive(Debug, Clone, Default)]
pub(crate) struct CallerCache {
    holders: Arc<Mutex<HashMap<String, Holder>>>,
    /// How many times the cache was cleared. Changed and compared only while `holders` is locked.
    generation: watch::Sender<u64>,
}

impl CallerCache {
    fn holders(&self) -> MutexGuard<'_, HashMap<String, Holder>> {
        self.holders.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the holder of a token hash, or the generation to pass to [`Self::remember`] after a lookup.
    pub(crate) fn find(&self, hash: &str) -> Result<Holder, u64> {
        self.holders().get(hash).cloned().ok_or_else(|| *self.generation.borrow())
    }

    /// Caches the result of a lookup, unless the cache was cleared after the lookup began.
    pub(crate) fn remember(&self, generation: u64, hash: String, holder: Holder) {
        let mut holders = self.holders();
        if *self.generation.borrow() != generation {
            return;
        }
        if holders.len() >= MAX_CALLERS {
            holders.clear();
        }
        holders.insert(hash, holder);
    }

    pub(crate) fn clear(&self) {
        let mut holders = self.holders();
        holders.clear();
        self.generation.send_modify(|generation| *generation += 1);
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.generation.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use domain::team::token::{TokenAudience, TokenReach};

    use super::*;
    use crate::caller::Caller;

    fn owner() -> Holder {
        Holder { caller: Caller::owner(), audience: TokenAudience::Both, reach: TokenReach::Project, ends_at: None }
    }

    #[test]
    fn lookup_that_began_before_a_revocation_is_not_cached() {
        let cache = CallerCache::default();
        let generation = cache.find("a").unwrap_err();
        cache.clear();
        cache.remember(generation, "a".to_owned(), owner());
        let generation = cache.find("a").unwrap_err();
        cache.remember(generation, "a".to_owned(), owner());
        assert_eq!(cache.find("a"), Ok(owner()));
        cache.clear();
        assert!(cache.find("a").is_err());
    }
}
