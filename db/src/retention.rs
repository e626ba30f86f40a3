//! Removes rows past their retention. Must not remove anything that a person wrote.
//!
//! Finds rows on a reading connection and removes them in small batches, so that the writer is never busy for long.

use std::time::Duration;

use domain::time::Timestamp;

use crate::context::memory::write as memory;
use crate::engine::audit::chain;
use crate::engine::open::Db;
use crate::engine::tx::{NoEventReason, Tx};
use crate::engine::writer::UseCase;
use crate::engine::{checkpoint, idempotent};
use crate::error::Result;
use crate::now;
use crate::runs::check::write as check;
use crate::team::message::removable;
use crate::team::token;
use crate::warroom::oracle::write as oracle;

/// Maximum number of rows that one write removes.
const BATCH: u32 = 200;
/// Maximum number of rows of one kind that one call finds. The next call finds the rest.
const MAX_CANDIDATES: u32 = 10_000;

/// Limits of what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetentionLimits {
    /// The age until which events, deliveries, messages, questions to oracles and results of checks are kept.
    pub keep: Duration,
    /// The number of events that are kept. Older ones are removed whatever their age.
    pub max_events: u32,
}

/// Numbers of removed rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pruned {
    pub events: u64,
    /// Stored answers to calls, which are kept for a day.
    pub calls: u64,
    /// Deliveries of broadcasts that were read.
    pub deliveries: u64,
    /// Messages of managed agents or the runner, whose recipients were managed agents that had read them before they departed.
    pub messages: u64,
    /// Questions of agents to oracles that are agents.
    pub oracle_questions: u64,
    /// Results of checks.
    pub check_results: u64,
    /// Entries of agents' memory that expired.
    pub memories: u64,
    /// Tokens that ended a week ago.
    pub tokens: u64,
}

impl Db {
    /// Removes rows past their retention. A replay of the log still yields the current board.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn prune(&self, limits: RetentionLimits) -> Result<Pruned> {
        let cutoff = now().before(limits.keep);
        let (max_events, batch) = (i64::from(limits.max_events), i64::from(BATCH));
        Ok(Pruned {
            events: self.remove_until_none(move |tx| Box::pin(checkpoint::remove_oldest_events(tx, cutoff, max_events, batch))).await?,
            calls: self.remove_until_none(move |tx| Box::pin(idempotent::remove_old_answers(tx, batch))).await?,
            deliveries: self.remove_deliveries(cutoff).await?,
            messages: self.remove_messages(cutoff).await?,
            oracle_questions: self.remove_until_none(move |tx| Box::pin(oracle::remove_old(tx, cutoff, batch))).await?,
            check_results: self.remove_until_none(move |tx| Box::pin(check::remove_old(tx, cutoff, batch))).await?,
            memories: self.remove_until_none(move |tx| Box::pin(memory::remove_expired(tx, batch))).await?,
            tokens: self.remove_until_none(move |tx| Box::pin(token::remove_expired(tx, batch))).await?,
        })
    }

    /// Removes the rows of the audit log that are older. The hash of the last one stays, so that the rest can still be checked.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn prune_audit(&self, keep: Duration) -> Result<u64> {
        let cutoff = now().before(keep);
        self.remove_until_none(move |tx| Box::pin(chain::remove_oldest(&mut tx.connection, cutoff, i64::from(BATCH)))).await
    }

    /// Repeats one small write until it removes nothing.
    async fn remove_until_none(&self, step: impl for<'t> Fn(&'t mut Tx) -> UseCase<'t, u64> + Clone + Send + 'static) -> Result<u64> {
        let mut total = 0;
        loop {
            let removed = self.remove(step.clone()).await?;
            total += removed;
            if removed == 0 {
                return Ok(total);
            }
        }
    }

    async fn remove(&self, step: impl for<'t> FnOnce(&'t mut Tx) -> UseCase<'t, u64> + Send + 'static) -> Result<u64> {
        self.write(move |tx| {
            tx.skip_event(NoEventReason::Retention);
            step(tx)
        })
        .await
    }

    async fn remove_deliveries(&self, cutoff: Timestamp) -> Result<u64> {
        let mut connection = self.readers.acquire().await?;
        let found = removable::deliveries(&mut connection, cutoff, MAX_CANDIDATES).await?;
        drop(connection);
        let mut total = 0;
        for batch in found.chunks(BATCH as usize) {
            let batch = batch.to_vec();
            total += self.remove(move |tx| Box::pin(async move { removable::remove_deliveries(tx, &batch).await })).await?;
        }
        Ok(total)
    }

    async fn remove_messages(&self, cutoff: Timestamp) -> Result<u64> {
        let mut connection = self.readers.acquire().await?;
        let found = removable::messages(&mut connection, cutoff, MAX_CANDIDATES).await?;
        drop(connection);
        let mut total = 0;
        for batch in found.chunks(BATCH as usize) {
            let batch = batch.to_vec();
            total += self.remove(move |tx| Box::pin(async move { removable::remove_messages(tx, &batch).await })).await?;
        }
        Ok(total)
    }
}
