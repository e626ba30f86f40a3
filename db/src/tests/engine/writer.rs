//! The single writer: batches, savepoints and lost transactions.

use domain::board::plan::PlanRefusal;
use domain::team::token::TokenEvent;
use tokio::sync::oneshot;

use crate::engine::tx::{NoEventReason, Tx};
use crate::tests::store::{Store, code, new_task, probe};
use crate::{Caller, Error, Result};

/// Changes a row without recording an event.
async fn count(tx: &mut Tx) -> Result<()> {
    tx.next_number("test").await.map(|_| ())
}

#[tokio::test]
async fn change_without_an_event_is_rolled_back() {
    let store = Store::board().await;
    let before = store.dump().await;
    let silent = store.db.write(|tx| Box::pin(async move { count(tx).await })).await;
    assert!(matches!(silent, Err(Error::NoEvent)), "{silent:?}");
    assert_eq!(store.dump().await, before);
    // An earlier use case's exemption does not apply to the next one.
    store.db.claim_reference("a/.git", "refs/heads/a", None).await.unwrap();
    let silent = store.db.write(|tx| Box::pin(async move { count(tx).await })).await;
    assert!(matches!(silent, Err(Error::NoEvent)), "{silent:?}");
}

#[tokio::test]
async fn two_hundred_concurrent_writers_succeed() {
    let store = Store::board().await;
    let seq = store.db.latest();
    let writers: Vec<_> = (0..200)
        .map(|number| {
            let (db, project) = (store.db.clone(), store.project.clone());
            tokio::spawn(async move { db.create_task(&Caller::owner(), &project, new_task(&format!("Task {number}"))).await.unwrap().card.id })
        })
        .collect();
    let mut ids = Vec::new();
    for writer in writers {
        ids.push(writer.await.unwrap().number());
    }
    ids.sort_unstable();
    assert_eq!(ids, (1..=200).collect::<Vec<_>>());
    let events = store.db.events_after(seq, None, u32::MAX).await.unwrap();
    assert_eq!(events.iter().map(|envelope| envelope.seq).collect::<Vec<_>>(), (seq + 1..=seq + 200).collect::<Vec<_>>());
    assert_eq!(store.db.latest(), seq + 200);
    store.check_fold().await;
}

/// Blocks the writer in the middle of a batch until the returned sender is used.
pub(super) async fn hold(store: &Store) -> (oneshot::Sender<()>, tokio::task::JoinHandle<Result<()>>) {
    let (release, released) = oneshot::channel::<()>();
    let (entered, inside) = oneshot::channel::<()>();
    let db = store.db.clone();
    let held = tokio::spawn(async move {
        db.write(move |tx| {
            Box::pin(async move {
                tx.skip_event(NoEventReason::NothingChanged);
                entered.send(()).unwrap();
                released.await.unwrap();
                Ok(())
            })
        })
        .await
    });
    inside.await.unwrap();
    (release, held)
}

/// Returns once this many use cases are queued behind the blocked one.
pub(super) async fn queued(store: &Store, waiting: usize) {
    while store.db.writer.queue_len() < waiting {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn refused_use_case_in_a_batch_is_rolled_back_alone() {
    let store = Store::board().await;
    let (db, project, seq) = (store.db.clone(), store.project.clone(), store.db.latest());
    let (release, held) = hold(&store).await;
    let create = |title: &'static str| {
        let (db, project) = (db.clone(), project.clone());
        async move { db.create_task(&Caller::owner(), &project, new_task(title)).await }
    };
    let first = tokio::spawn(create("One"));
    queued(&store, 1).await;
    let bad = {
        let db = db.clone();
        tokio::spawn(async move {
            db.write(|tx| {
                Box::pin(async move {
                    count(tx).await?;
                    tx.record(&Caller::owner(), TokenEvent::Created {});
                    Err::<(), _>(PlanRefusal::NonePending.into())
                })
            })
            .await
        })
    };
    queued(&store, 2).await;
    let last = tokio::spawn(create("Two"));
    queued(&store, 3).await;
    assert!(!first.is_finished(), "nothing is answered before the commit");
    assert_eq!(db.events_after(seq, None, 9).await.unwrap(), [], "nothing is read before the commit");
    release.send(()).unwrap();
    held.await.unwrap().unwrap();
    first.await.unwrap().unwrap();
    assert_eq!(code(bad.await.unwrap()), "no-plan-waiting");
    last.await.unwrap().unwrap();
    let events = db.events_after(seq, None, 9).await.unwrap();
    assert_eq!(
        events.iter().map(|envelope| (envelope.seq, envelope.event.kind())).collect::<Vec<_>>(),
        [(seq + 1, "task_created"), (seq + 2, "task_created")]
    );
    assert!(!store.dump().await.iter().any(|row| row.starts_with("counters") && row.contains("74657374")), "\"test\" was not counted");
    store.check_fold().await;
}

#[tokio::test]
async fn lost_transaction_fails_only_its_batch() {
    let store = Store::board().await;
    let seq = store.db.latest();
    let (release, held) = hold(&store).await;
    let (db, project) = (store.db.clone(), store.project.clone());
    let good = tokio::spawn(async move { db.create_task(&Caller::owner(), &project, new_task("Lost with it")).await });
    queued(&store, 1).await;
    let db = store.db.clone();
    // SQLite does the same when the disk is full.
    let broken = tokio::spawn(async move {
        db.write(|tx| {
            Box::pin(async move {
                sqlx::query("ROLLBACK").execute(&mut tx.connection).await?;
                Err::<(), _>(Error::Storage("database or disk is full".into()))
            })
        })
        .await
    });
    queued(&store, 2).await;
    let (db, project) = (store.db.clone(), store.project.clone());
    let next = tokio::spawn(async move { db.create_task(&Caller::owner(), &project, new_task("Goes on")).await });
    queued(&store, 3).await;
    release.send(()).unwrap();
    for outcome in [held.await.unwrap(), good.await.unwrap().map(|_| ()), broken.await.unwrap()] {
        assert!(matches!(outcome, Err(Error::Storage(_))), "{outcome:?}");
    }
    // The next use case got its own transaction.
    assert_eq!(next.await.unwrap().unwrap().card.id.as_str(), "TASK-001");
    assert_eq!(store.kinds_since(seq).await, ["task_created"]);
    assert_eq!(store.db.latest(), seq + 1);
    store.check_fold().await;
}

#[tokio::test]
async fn busy_database_is_an_error_and_the_writer_continues() {
    let store = Store::board().await;
    let patience = store.db.write(|tx| {
        Box::pin(async move {
            tx.skip_event(NoEventReason::NothingChanged);
            sqlx::query("PRAGMA busy_timeout = 1").execute(&mut tx.connection).await?;
            Ok(())
        })
    });
    patience.await.unwrap();
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(store.db.path());
    let mut other = sqlx::ConnectOptions::connect(&options).await.unwrap();
    sqlx::query("BEGIN IMMEDIATE").execute(&mut other).await.unwrap();
    let new = domain::wire::NewProject { title: "Later".to_owned(), ..Default::default() };
    let outcome = store.db.create_project(&Caller::owner(), new.clone(), probe()).await;
    assert!(matches!(outcome, Err(Error::Storage(_))), "{outcome:?}");
    sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
    store.db.create_project(&Caller::owner(), new, probe()).await.unwrap();
}
