//! Reads and refusals that wait for the next commit, because none of them is worth a write to the disk of its own.
//!
//! Equal ones become one row with a number, and a commit gets a bounded number of rows, so that no caller can fill the disk with refusals.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::audit::{AuditKind, AuditRow};
use domain::time::Timestamp;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

use crate::engine::act::{Act, Named};

/// The most rows of a commit. The others are counted in one further row.
const MAX_WAITING: usize = 100;
/// How long the first one waits for a commit of something else.
const MAX_DELAY: Duration = Duration::from_secs(1);
/// The result of the row that counts the others.
const OMITTED: &str = "omitted";

/// Something that happened and changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Fact {
    pub(crate) kind: AuditKind,
    pub(crate) credential: Option<String>,
    pub(crate) action: String,
    pub(crate) named: Named,
    pub(crate) subject: Option<String>,
    pub(crate) result: String,
}

/// A fact, since when, and how often.
#[derive(Debug, Clone)]
pub(crate) struct Happened {
    fact: Fact,
    at: Timestamp,
    count: u32,
}

impl Happened {
    pub(super) fn row(&self, now: Timestamp) -> AuditRow {
        let fact = self.fact.clone();
        AuditRow {
            id: 0,
            at: self.at.min(now),
            kind: fact.kind,
            credential: fact.credential,
            actor: fact.named.actor(),
            run_id: fact.named.run,
            action: fact.action,
            project_id: fact.named.project,
            subject: fact.subject,
            result: fact.result,
            detail: None,
            seq: None,
            count: self.count,
            hash: String::new(),
        }
    }
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    added: Notify,
}

#[derive(Debug, Default)]
struct State {
    counts: HashMap<Fact, (Timestamp, u32)>,
    omitted: Option<(Timestamp, u32)>,
    since: Option<Instant>,
}

impl Waiting {
    pub(crate) fn add(&self, fact: Fact, at: Timestamp) {
        self.add_times(fact, at, 1);
    }

    fn add_times(&self, fact: Fact, at: Timestamp, times: u32) {
        let mut state = self.state();
        state.since.get_or_insert_with(Instant::now);
        let is_full = state.counts.len() >= MAX_WAITING && !state.counts.contains_key(&fact);
        let count = if is_full { state.omitted.get_or_insert((at, 0)) } else { state.counts.entry(fact).or_insert((at, 0)) };
        count.1 = count.1.saturating_add(times);
        drop(state);
        self.0.added.notify_one();
    }

    /// Takes everything that waits, oldest first.
    pub(super) fn take(&self) -> Vec<Happened> {
        let State { counts, omitted, .. } = std::mem::take(&mut *self.state());
        let omitted = omitted.map(|(at, count)| Happened { fact: Fact::omitted(), at, count });
        let mut all: Vec<Happened> = counts.into_iter().map(|(fact, (at, count))| Happened { fact, at, count }).chain(omitted).collect();
        all.sort_by(|one, other| (one.at, &one.fact.action).cmp(&(other.at, &other.fact.action)));
        all
    }

    /// Returns what a lost commit should have stored.
    pub(super) fn give_back(&self, lost: Vec<Happened>) {
        for happened in lost {
            self.add_times(happened.fact, happened.at, happened.count);
        }
    }

    /// Lets what waits wait again, because a commit failed.
    pub(super) fn postpone(&self) {
        let mut state = self.state();
        state.since = state.since.map(|_| Instant::now());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.state().since.is_none()
    }

    /// Waits until something has waited for long enough.
    pub(crate) async fn due(&self) {
        loop {
            let since = self.state().since;
            match since {
                Some(since) => return sleep_until(since + MAX_DELAY).await,
                None => self.0.added.notified().await,
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fact {
    pub(crate) fn of_act(kind: AuditKind, act: &Act, named: Named, subject: Option<String>, result: &str) -> Self {
        Self { kind, credential: act.credential.clone(), action: act.action.clone(), named, subject, result: result.to_owned() }
    }

    fn omitted() -> Self {
        let named = Named::default();
        Self { kind: AuditKind::Refusal, credential: None, action: "audit".to_owned(), named, subject: None, result: OMITTED.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(action: &str) -> Fact {
        Fact::of_act(AuditKind::Refusal, &Act::by_nobody(action), Named::default(), None, "not-found")
    }

    #[test]
    fn equal_facts_are_counted_and_others_are_bounded() {
        let (waiting, now) = (Waiting::default(), Timestamp::from_milliseconds(5));
        assert!(waiting.is_empty());
        for number in 0..1_000 {
            waiting.add(fact(&format!("tool{:03}", number % (MAX_WAITING + 20))), now);
        }
        let rows: Vec<AuditRow> = waiting.take().iter().map(|happened| happened.row(now)).collect();
        assert_eq!(rows.len(), MAX_WAITING + 1);
        assert_eq!(rows.iter().map(|row| row.count).sum::<u32>(), 1_000, "none is lost");
        assert_eq!(rows.iter().filter(|row| row.result == OMITTED).count(), 1);
        assert!(waiting.is_empty());
    }
}
