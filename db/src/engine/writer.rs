//! The one writer: takes waiting use-cases together into one commit, so that each success is on the disk at the price of a share.
//!
//! Each use-case has a savepoint of its own: a refused one is undone alone. Answers are given after the commit, never before.

use std::future::Future;
use std::pin::Pin;

use domain::event::{Envelope, Seq};
use sqlx::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::engine::lock::Lock;
use crate::engine::tx::Tx;
use crate::error::{Error, Result};
use crate::now;

/// The most use-cases in one commit.
const MAX_BATCH: usize = 256;

/// What a use-case does, borrowed from its transaction.
pub(crate) type UseCase<'t, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 't>>;
/// Gives the answer, once it is known whether the commit held.
type ReplyFn = Box<dyn FnOnce(std::result::Result<(), String>) + Send>;
/// A use-case that was run: how to answer it, and whether the transaction can go on.
type FinishedJob = (ReplyFn, Result<()>);
type Job = Box<dyn for<'t> FnOnce(&'t mut Tx) -> Pin<Box<dyn Future<Output = FinishedJob> + Send + 't>> + Send>;

/// The way to the writer.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    /// How many use-cases wait for the one that is under way.
    #[cfg(test)]
    pub(crate) fn queue_len(&self) -> usize {
        self.jobs.max_capacity() - self.jobs.capacity()
    }

    /// Starts the writer on a connection that nobody else writes with. The lock is kept until its last commit.
    pub(crate) fn start(tx: Tx, committed: watch::Sender<Seq>, lock: Lock) -> Self {
        let (jobs, queue) = mpsc::channel(4 * MAX_BATCH);
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
        let job: Job = Box::new(move |tx| {
            Box::pin(async move {
                // A refusal travels as an answer; only a savepoint that cannot be closed stops the group.
                let (outcome, health) = match run(tx, work).await {
                    Ok(outcome) => (outcome, Ok(())),
                    Err(error) => (Err(Error::Storage(error.to_string().into())), Err(error)),
                };
                let answer: ReplyFn = Box::new(move |committed: std::result::Result<(), String>| {
                    let outcome = match committed {
                        Ok(()) => outcome,
                        Err(error) => outcome.and(Err(Error::Storage(error.into()))),
                    };
                    // Whoever asked may be gone; the commit stands.
                    drop(reply.send(outcome));
                });
                (answer, health)
            })
        });
        self.jobs.send(job).await.map_err(|_| Error::Closed)?;
        answer
            .await
            .unwrap_or_else(|_| if self.jobs.is_closed() { Err(Error::Closed) } else { Err(Error::Storage("no transaction could be begun".into())) })
    }
}

/// Runs one use-case in the savepoint that is open. The outer error says that the savepoint is lost, and with it the transaction.
async fn run<T, F>(tx: &mut Tx, work: F) -> Result<Result<T>>
where
    F: for<'t> FnOnce(&'t mut Tx) -> UseCase<'t, T>,
{
    tx.begin(now());
    let outcome = match work(tx).await {
        Ok(value) => tx.finish().await.map(|_: Vec<Envelope>| value),
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        sqlx::query("ROLLBACK TO use_case").execute(&mut tx.connection).await?;
    }
    Ok(outcome)
}

async fn run_loop(mut tx: Tx, mut queue: mpsc::Receiver<Job>, committed: watch::Sender<Seq>) {
    while let Some(first) = queue.recv().await {
        let before = tx.seq;
        let mut answers = Vec::new();
        let outcome = commit_batch(&mut tx, first, &mut queue, &mut answers).await;
        if let Err(error) = &outcome {
            tracing::error!(%error, "a commit failed; its use-cases are answered with the failure");
            tx.seq = before;
            // There may be nothing to roll back any more.
            drop(sqlx::query("ROLLBACK").execute(&mut tx.connection).await);
        }
        if std::mem::take(&mut tx.tokens_revoked) {
            tx.caller_cache.clear();
        }
        if tx.seq > before {
            committed.send_replace(tx.seq);
        }
        for answer in answers {
            answer(outcome.as_ref().copied().map_err(ToString::to_string));
        }
    }
    drop(tx.connection.close().await);
}

async fn commit_batch(tx: &mut Tx, first: Job, queue: &mut mpsc::Receiver<Job>, answers: &mut Vec<ReplyFn>) -> Result<()> {
    // Two statements in one: every way to the connection's own thread and back costs more than SQLite's part of it.
    sqlx::query("BEGIN IMMEDIATE; SAVEPOINT use_case").execute(&mut tx.connection).await?;
    let mut next = Some(first);
    while let Some(job) = next {
        let (answer, health) = job(tx).await;
        answers.push(answer);
        // A full disk, for one, makes SQLite undo the whole transaction: what came before is lost with it and answered so.
        health?;
        next = if answers.len() < MAX_BATCH { queue.try_recv().ok() } else { None };
        if next.is_some() {
            sqlx::query("RELEASE use_case; SAVEPOINT use_case").execute(&mut tx.connection).await?;
        }
    }
    sqlx::query("RELEASE use_case; COMMIT").execute(&mut tx.connection).await?;
    Ok(())
}
