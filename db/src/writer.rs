//! The one writer: takes waiting use-cases together into one commit, so that each success is on the disk at the price of a share.
//!
//! Each use-case has a savepoint of its own: a refused one is undone alone. Answers are given after the commit, never before.

use std::future::Future;
use std::pin::Pin;

use domain::event::{Envelope, Seq};
use sqlx::Connection;
use tokio::sync::{mpsc, oneshot, watch};

use crate::error::{Error, Result};
use crate::now;
use crate::tx::Tx;

/// The most use-cases in one commit.
const GROUP: usize = 256;

/// What a use-case does, borrowed from its transaction.
pub(crate) type Work<'t, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 't>>;
/// Gives the answer, once it is known whether the commit held.
type Answer = Box<dyn FnOnce(std::result::Result<(), String>) + Send>;
type Job = Box<dyn for<'t> FnOnce(&'t mut Tx) -> Pin<Box<dyn Future<Output = Result<Answer>> + Send + 't>> + Send>;

/// The way to the writer.
#[derive(Debug, Clone)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    /// Starts the writer on a connection that nobody else writes with.
    pub(crate) fn start(tx: Tx, committed: watch::Sender<Seq>) -> Self {
        let (jobs, queue) = mpsc::channel(4 * GROUP);
        tokio::spawn(serve(tx, queue, committed));
        Self { jobs }
    }

    /// Runs one use-case and waits until it is committed.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: for<'t> FnOnce(&'t mut Tx) -> Work<'t, T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |tx| {
            Box::pin(async move {
                let outcome = run(tx, work).await;
                // A refusal travels as an answer; only a broken connection is an error of the writer.
                Ok(Box::new(move |committed: std::result::Result<(), String>| {
                    let outcome = match committed {
                        Ok(()) => outcome,
                        Err(error) => outcome.and(Err(Error::Storage(error.into()))),
                    };
                    // Whoever asked may be gone; the commit stands.
                    drop(reply.send(outcome));
                }) as Answer)
            })
        });
        self.jobs.send(job).await.map_err(|_| Error::Closed)?;
        answer.await.map_err(|_| Error::Closed)?
    }
}

async fn run<T, F>(tx: &mut Tx, work: F) -> Result<T>
where
    F: for<'t> FnOnce(&'t mut Tx) -> Work<'t, T>,
{
    let before = tx.seq;
    tx.begin(now());
    sqlx::query("SAVEPOINT use_case").execute(&mut tx.connection).await?;
    let outcome = match work(tx).await {
        Ok(value) => tx.finish().await.map(|_: Vec<Envelope>| value),
        Err(error) => Err(error),
    };
    if outcome.is_err() {
        tx.seq = before;
        sqlx::query("ROLLBACK TO use_case").execute(&mut tx.connection).await?;
    }
    sqlx::query("RELEASE use_case").execute(&mut tx.connection).await?;
    outcome
}

async fn serve(mut tx: Tx, mut queue: mpsc::Receiver<Job>, committed: watch::Sender<Seq>) {
    while let Some(first) = queue.recv().await {
        let before = tx.seq;
        let mut answers = Vec::new();
        let outcome = group(&mut tx, first, &mut queue, &mut answers).await;
        if let Err(error) = &outcome {
            tracing::error!(%error, "a commit failed; its use-cases are answered with the failure");
            tx.seq = before;
            // There may be nothing to roll back any more.
            drop(sqlx::query("ROLLBACK").execute(&mut tx.connection).await);
        }
        if tx.seq > before {
            committed.send_replace(tx.seq);
        }
        for answer in answers {
            answer(outcome.as_ref().map(|()| ()).map_err(ToString::to_string));
        }
    }
    drop(tx.connection.close().await);
}

async fn group(tx: &mut Tx, first: Job, queue: &mut mpsc::Receiver<Job>, answers: &mut Vec<Answer>) -> Result<()> {
    sqlx::query("BEGIN IMMEDIATE").execute(&mut tx.connection).await?;
    let mut next = Some(first);
    while let Some(job) = next {
        answers.push(job(tx).await?);
        next = if answers.len() < GROUP { queue.try_recv().ok() } else { None };
    }
    sqlx::query("COMMIT").execute(&mut tx.connection).await?;
    Ok(())
}
