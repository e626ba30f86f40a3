//! Concurrent clients that each wait for their own answers. It must not know the aims.

use std::future::Future;
use std::path::Path;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

use crate::store::{Outcome, Store};

pub(crate) const CLIENTS: usize = 16;
pub(crate) const CARDS_EACH: usize = 20;
const COMMENTS_EACH: usize = 100;

/// Creates cards concurrently and returns the rate per second.
pub(crate) async fn create_cards(store: &Store) -> Outcome<f64> {
    let client = |_| {
        let store = store.clone();
        async move {
            for _ in 0..CARDS_EACH {
                store.create_held().await?;
            }
            Ok(())
        }
    };
    rate(CLIENTS * CARDS_EACH, run((0..CLIENTS).map(client)).await?)
}

/// Adds comments concurrently on a small board in a new file and returns the rate per second, which is the group-commit rate.
pub(crate) async fn group_commit_rate(file: &Path) -> Outcome<f64> {
    let store = Store::open(file, true).await?;
    let mut cards = Vec::new();
    for _ in 0..CLIENTS {
        cards.push(store.create_held().await?);
    }
    let client = |card| {
        let store = store.clone();
        async move {
            for _ in 0..COMMENTS_EACH {
                store.comment(&card).await?;
            }
            Ok(())
        }
    };
    rate(CLIENTS * COMMENTS_EACH, run(cards.into_iter().map(client)).await?)
}

/// Runs all clients concurrently and returns the total time.
pub(crate) async fn run<F>(clients: impl Iterator<Item = F>) -> Outcome<Duration>
where
    F: Future<Output = Outcome> + Send + 'static,
{
    let start = Instant::now();
    let mut clients: JoinSet<Outcome> = clients.collect();
    while let Some(client) = clients.join_next().await {
        client??;
    }
    Ok(start.elapsed())
}

pub(crate) fn rate(count: usize, took: Duration) -> Outcome<f64> {
    Ok(f64::from(u32::try_from(count)?) / took.as_secs_f64())
}
