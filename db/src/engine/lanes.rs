//! The queue before the writer: each caller has a lane, and the lanes take turns, so that no caller waits for all the jobs of another one.
//!
//! Must not know what a job does. A full lane makes its own caller wait and no other.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// The most jobs that wait in one lane.
pub(crate) const LANE_CAPACITY: usize = 256;
/// The most jobs of one lane in a commit that other lanes wait for, too.
const MAX_SHARE: usize = 64;
/// Above this number, lanes that are not in use are forgotten.
const MAX_IDLE_LANES: usize = 256;

/// Creates a queue. It ends when the last sender is dropped.
pub(crate) fn lanes<T>() -> (LaneSender<T>, Lanes<T>) {
    let (sender, receiver) = mpsc::unbounded_channel();
    (LaneSender { sender, places: Arc::default() }, Lanes { receiver, waiting: HashMap::new(), turns: VecDeque::new() })
}

pub(crate) struct LaneSender<T> {
    sender: mpsc::UnboundedSender<Queued<T>>,
    places: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
}

/// A job in its lane. Its place is free once it is taken out.
struct Queued<T> {
    lane: String,
    job: T,
    _place: Option<OwnedSemaphorePermit>,
}

// By hand, because jobs need neither.
impl<T> fmt::Debug for LaneSender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LaneSender").finish_non_exhaustive()
    }
}

impl<T> Clone for LaneSender<T> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), places: Arc::clone(&self.places) }
    }
}

impl<T> LaneSender<T> {
    /// Adds a job to a lane as soon as the lane has a place. False when the queue is closed.
    pub(crate) async fn send(&self, lane: String, job: T) -> bool {
        let places = self.places_of(&lane);
        // Semaphores of lanes are never closed.
        let place = places.acquire_owned().await.ok();
        self.sender.send(Queued { lane, job, _place: place }).is_ok()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    /// How many jobs wait, in all lanes.
    #[cfg(test)]
    pub(crate) fn len(&self) -> usize {
        let places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        places.values().map(|places| LANE_CAPACITY - places.available_permits()).sum()
    }

    fn places_of(&self, lane: &str) -> Arc<Semaphore> {
        let mut all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() > MAX_IDLE_LANES {
            all.retain(|_, places| Arc::strong_count(places) > 1);
        }
        Arc::clone(all.entry(lane.to_owned()).or_insert_with(|| Arc::new(Semaphore::new(LANE_CAPACITY))))
    }
}

/// The receiving end.
pub(crate) struct Lanes<T> {
    receiver: mpsc::UnboundedReceiver<Queued<T>>,
    waiting: HashMap<String, VecDeque<Queued<T>>>,
    /// The lanes with a waiting job, in the order of their turns.
    turns: VecDeque<String>,
}

/// How many jobs of each lane a commit holds.
#[derive(Debug, Default)]
pub(crate) struct Share(HashMap<String, usize>);

impl Share {
    /// Whether the lane has had its share of a commit that another lane waits for.
    fn is_used_up(&self, lane: &str) -> bool {
        self.0.len() > 1 && self.0.get(lane).is_some_and(|jobs| *jobs >= MAX_SHARE)
    }
}

impl<T> Lanes<T> {
    /// Waits for the next job. None when every sender is gone and nothing waits. No job is lost if the future is dropped.
    pub(crate) async fn next(&mut self, share: &mut Share) -> Option<T> {
        loop {
            if let Some(job) = self.next_waiting(share) {
                return Some(job);
            }
            let queued = self.receiver.recv().await?;
            self.add(queued);
        }
    }

    /// Returns the job of the lane whose turn it is, if one waits that has not had its share.
    pub(crate) fn next_waiting(&mut self, share: &mut Share) -> Option<T> {
        while let Ok(queued) = self.receiver.try_recv() {
            self.add(queued);
        }
        let turn = self.turns.iter().position(|lane| !share.is_used_up(lane))?;
        let lane = self.turns.remove(turn)?;
        let jobs = self.waiting.get_mut(&lane)?;
        let queued = jobs.pop_front()?;
        *share.0.entry(lane.clone()).or_default() += 1;
        if jobs.is_empty() {
            self.waiting.remove(&lane);
        } else {
            self.turns.push_back(lane);
        }
        Some(queued.job)
    }

    fn add(&mut self, queued: Queued<T>) {
        let lane = self.waiting.entry(queued.lane.clone()).or_default();
        if lane.is_empty() {
            self.turns.push_back(queued.lane.clone());
        }
        lane.push_back(queued);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn fill(sender: &LaneSender<(char, usize)>, lane: char, jobs: usize) {
        for number in 0..jobs {
            assert!(sender.send(lane.to_string(), (lane, number)).await);
        }
    }

    #[tokio::test]
    async fn lanes_take_turns_whatever_one_of_them_sent() {
        let (sender, mut lanes) = lanes();
        fill(&sender, 'g', 200).await;
        fill(&sender, 'a', 3).await;
        fill(&sender, 'b', 1).await;
        let mut share = Share::default();
        let order: Vec<(char, usize)> = (0..9).map(|_| lanes.next_waiting(&mut share).unwrap()).collect();
        assert_eq!(order, [('g', 0), ('a', 0), ('b', 0), ('g', 1), ('a', 1), ('g', 2), ('a', 2), ('g', 3), ('g', 4)]);
    }

    #[tokio::test]
    async fn commit_that_others_wait_for_holds_a_share_of_each_lane() {
        let (sender, mut lanes) = lanes();
        fill(&sender, 'g', 200).await;
        let mut alone = Share::default();
        assert_eq!((0..100).filter_map(|_| lanes.next_waiting(&mut alone)).count(), 100, "alone, a lane fills a commit");
        fill(&sender, 'g', 100).await;
        fill(&sender, 'a', 1).await;
        let mut shared = Share::default();
        let jobs: Vec<_> = std::iter::from_fn(|| lanes.next_waiting(&mut shared)).collect();
        assert_eq!((jobs.len(), jobs[1]), (MAX_SHARE + 1, ('a', 0)));
        assert_eq!(lanes.next(&mut Share::default()).await, Some(('g', 100 + MAX_SHARE)), "the rest is in the next commit");
    }

    #[tokio::test]
    async fn full_lane_holds_up_its_own_caller_alone() {
        let (sender, mut lanes) = lanes();
        fill(&sender, 'g', LANE_CAPACITY).await;
        let waits = tokio::spawn({
            let sender = sender.clone();
            async move { sender.send("g".to_owned(), ('g', LANE_CAPACITY)).await }
        });
        tokio::task::yield_now().await;
        fill(&sender, 'a', 1).await;
        assert!(!waits.is_finished());
        assert_eq!(lanes.next(&mut Share::default()).await, Some(('g', 0)));
        assert!(waits.await.unwrap(), "a place is free");
        drop(sender);
        let mut rest = 0;
        while lanes.next(&mut Share::default()).await.is_some() {
            rest += 1;
        }
        assert_eq!(rest, LANE_CAPACITY + 1);
    }
}
