//! Rate limits, and that a greedy caller delays no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use domain::rate_limit::{Cost, RateLimits};

use crate::engine::lanes::LANE_CAPACITY;
use crate::tests::store::{Store, code, new_task};
use crate::{Act, Caller, Error};

#[tokio::test]
async fn each_caller_has_an_allowance_of_its_own() {
    let limits = RateLimits { writes_per_minute: Some(2), ..RateLimits::NONE };
    let store = Store::with_config(|config| config.rate_limits = limits).await;
    let (mara, ole) = (store.member("mara", &[]).await, store.member("ole", &[]).await);
    let write = Cost { writes: 1, ..Cost::default() };
    let spend = |caller: &Caller, token: &str| store.db.spend(caller, &Act::by_token(token, "send"), write).map_err(Error::from);
    spend(&mara, "a").unwrap();
    spend(&mara, "b").unwrap();
    assert_eq!(code(spend(&mara, "c")), "rate-limited", "another token of the same agent changes nothing");
    store.db.spend(&mara, &Act::by_token("a", "get_task"), Cost::default()).unwrap();
    spend(&ole, "a").unwrap();
    for _ in 0..10 {
        spend(&Caller::Runner, "a").unwrap();
    }
    for token in ["d", "e"] {
        spend(&Caller::owner(), token).unwrap();
        spend(&Caller::owner(), token).unwrap();
        assert_eq!(code(spend(&Caller::owner(), token)), "rate-limited");
    }
}

/// A write of another caller waits for the commit that is under way and its own, however many jobs the greedy caller has waiting.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn greedy_caller_leaves_the_latency_of_another_bounded() {
    let store = Store::board().await;
    let (written, ends) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
    let greedy: Vec<_> = (0..LANE_CAPACITY + 64)
        .map(|_| {
            let (db, project, written, ends) = (store.db.clone(), store.project.clone(), Arc::clone(&written), Arc::clone(&ends));
            let work = async move {
                while !ends.load(Ordering::Relaxed) {
                    db.create_task(&Caller::owner(), &project, new_task("Greedy")).await.unwrap();
                    written.fetch_add(1, Ordering::Relaxed);
                }
            };
            tokio::spawn(Act::by_token("greedy", "create_task").run(work))
        })
        .collect();
    let mut worst = 0;
    for _ in 0..10 {
        while store.db.writer.queue_len() < LANE_CAPACITY {
            tokio::task::yield_now().await;
        }
        let before = written.load(Ordering::Relaxed);
        let polite = async { store.db.create_task(&Caller::owner(), &store.project, new_task("Polite")).await };
        Act::by_token("polite", "create_task").run(polite).await.unwrap();
        worst = worst.max(written.load(Ordering::Relaxed) - before);
    }
    ends.store(true, Ordering::Relaxed);
    for task in greedy {
        task.await.unwrap();
    }
    // The commit under way holds up to 256 jobs of a lone lane, and its own at most 64 of the other lane.
    assert!(worst <= 256 + 2 * 64, "{worst} writes of the greedy caller went before one of the other");
}
