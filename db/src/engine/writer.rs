//! The only writer: it commits waiting use-cases together, so that one write to the disk serves them all.
//!
//! Each use-case has its own savepoint, so a refused one is undone alone. Answers are sent after the commit. Must not know any use-case.

use std::future::Future;
use std::pin::Pin;

use domain::event::{Envelope, Seq};
use sqlx::Connection;
use tokio::sync::{oneshot, watch};

use crate::engine::act::Act;
use crate::engine::dialect;
use crate::engine::lanes::{LaneSender, Lanes, Share, lanes};
use crate::engine::lock::Lock;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::now;

/// The most use-cases in one commit.
const MAX_BATCH: usize = 256;

/// The future of a use-case, which borrows its transaction.
pub(crate) type UseCase<'t, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 't>>;
/// Sends the answer once the result of the commit is known.
type ReplyFn = Box<dyn FnOnce(Result<()>) + Send>;
/// A finished use-case: its answer, and whether the transaction is intact.
type FinishedJob = (ReplyFn, Result<()>);
type Job = Box<dyn for<'t> FnOnce(&'t mut Tx) -> Pin<Box<dyn Future<Output = FinishedJob> + Send + 't>> + Send>;

/// A handle of the writer.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: LaneSender<Job>,
}

impl Writer {
    /// How many use-cases wait for the running one.
    #[cfg(test)]
    pub(crate) fn queue_len(&self) -> usize {
        self.jobs.len()
    }

    /// Starts the writer on a connection that nobody else writes with. The lock is kept until its last commit.
    pub(crate) fn start(tx: Tx, committed: watch::Sender<Seq>, lock: Lock) -> Self {
        let (jobs, queue) = lanes();
        tokio::spawn(async move {
            run_loop(tx, queue, committed).await;
            drop(lock);
        });
        Self { jobs }
    }

    /// Runs one use-case and waits until it is committed.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> UseCase<'t, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let act = Act::current();
        let lane = act.as_ref().and_then(|act| act.credential.clone()).unwrap_or_default();
        let job: Job = Box::new(move |tx| {
            Box::pin(async move {
                // A refusal is an answer; only a savepoint that cannot be closed stops the batch.
                let (outcome, health) = match run(tx, act, work).await {
                    Ok(outcome) => (outcome, Ok(())),
                    Err(error) => (Err(error.of_commit()), Err(error)),
                };
                let answer: ReplyFn = Box::new(move |committed: Result<()>| {
                    let outcome = match committed {
                        Ok(()) => outcome,
                        Err(error) => outcome.and(Err(error)),
                    };
                    // The caller may have stopped waiting; the commit stands.
                    drop(reply.send(outcome));
                });
                (answer, health)
            })
        });
        if !self.jobs.send(lane, job).await {
            return Err(Error::Closed);
        }
        answer.await.unwrap_or_else(|_| {
            if self.jobs.is_closed() { Err(Error::Closed) } else { Err(Error::Storage("no transaction could be started".into())) }
        })
    }
}

/// Runs one use-case in the savepoint that is open. The outer error says that the savepoint is lost, and with it the transaction.
async fn run<T, F>(tx: &mut Tx, act: Option<Act>, work: F) -> Result<Result<T>>
where
    F: for<'t> FnOnce(&'t mut Tx) -> UseCase<'t, T>,
{
    tx.begin(now(), act);
    let outcome = match work(tx).await {
        Ok(value) => tx.finish().await.map(|_: Vec<Envelope>| value),
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        dialect::undo_use_case(&mut tx.connection).await?;
    }
    Ok(outcome)
}

async fn run_loop(mut tx: Tx, mut queue: Lanes<Job>, committed: watch::Sender<Seq>) {
    let waiting = tx.audit.waiting.clone();
    let mut is_open = true;
    while is_open {
        let mut share = Share::default();
        // Without a job, the commit holds what waits for the audit log.
        let first = tokio::select! {
            biased;
            job = queue.next(&mut share) => job,
            () = waiting.due() => None,
        };
        is_open = first.is_some() || !waiting.is_empty();
        if !is_open {
            break;
        }
        let before = tx.seq;
        let mut answers = Vec::new();
        let outcome = commit_batch(&mut tx, first, &mut queue, &mut share, &mut answers).await;
        if let Err(error) = &outcome {
            tracing::error!(error = error as &dyn std::error::Error, "a commit failed; its use-cases are answered with the failure");
            tx.seq = before;
            tx.audit.undo();
            // SQLite may have rolled it back already.
            drop(dialect::roll_back_batch(&mut tx.connection).await);
        }
        if std::mem::take(&mut tx.tokens_revoked) {
            tx.caller_cache.clear();
        }
        if tx.seq > before {
            committed.send_replace(tx.seq);
        }
        for answer in answers {
            answer(outcome.as_ref().copied().map_err(Error::of_commit));
        }
    }
    drop(tx.connection.close().await);
}

async fn commit_batch(tx: &mut Tx, first: Option<Job>, queue: &mut Lanes<Job>, share: &mut Share, answers: &mut Vec<ReplyFn>) -> Result<()> {
    dialect::begin_batch(&mut tx.connection).await?;
    let mut next = first;
    while let Some(job) = next {
        let (answer, health) = job(tx).await;
        answers.push(answer);
        // A full disk, for example, makes SQLite undo the whole transaction; the use-cases before are answered with the failure.
        health?;
        next = if answers.len() < MAX_BATCH { queue.next_waiting(share) } else { None };
        if next.is_some() {
            dialect::next_use_case(&mut tx.connection).await?;
        }
    }
    let appended = tx.audit.append(&mut tx.connection, now()).await?;
    match dialect::commit_batch(&mut tx.connection).await {
        Ok(()) => tx.audit.committed(appended),
        Err(error) => {
            tx.audit.lost(appended);
            return Err(error.into());
        }
    }
    Ok(())
}
