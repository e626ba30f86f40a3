//! Spreads work on many files over the processors. Must not know what the work is.

use std::num::NonZero;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// More threads wait for the same disk.
const MAX_THREADS: usize = 8;
/// Neighbours that one thread takes at once: files of the same folder, whose contents are close to each other in the repository.
const BLOCK: usize = 64;

/// Calls `work` with each item, in several threads, and returns the results in the order of the items. `begin` makes what each thread needs.
///
/// # Errors
/// The first failure of any thread. The others then stop.
pub(crate) fn each<T: Sync, State, R: Send, E: Send>(
    items: &[T],
    begin: impl Fn() -> Result<State, E> + Sync,
    work: impl Fn(&mut State, &T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let next = AtomicUsize::new(0);
    let run_blocks = || {
        let mut state = begin()?;
        let mut done = Vec::new();
        loop {
            let start = next.fetch_add(BLOCK, Ordering::Relaxed);
            if start >= items.len() {
                return Ok(done);
            }
            let block = items[start..].iter().take(BLOCK);
            done.push((start, block.map(|item| work(&mut state, item)).collect::<Result<Vec<R>, E>>()?));
        }
    };
    let run = || run_blocks().inspect_err(|_| next.store(items.len(), Ordering::Relaxed));
    let threads = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS).min(items.len().div_ceil(BLOCK));
    let finished: Vec<_> = thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(run)).collect();
        let own = run();
        let joined = others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        std::iter::once(own).chain(joined).collect()
    });
    let mut blocks = Vec::new();
    for result in finished {
        blocks.extend(result?);
    }
    blocks.sort_unstable_by_key(|(start, _)| *start);
    Ok(blocks.into_iter().flat_map(|(_, results)| results).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..10 * BLOCK + 3).collect();
        let doubled: Result<Vec<usize>, ()> = each(&items, || Ok(2), |factor, item| Ok(item * *factor));
        assert_eq!(doubled.unwrap(), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        let none: Result<Vec<usize>, ()> = each(&[], || Ok(2), |factor, item: &usize| Ok(item * *factor));
        assert_eq!(none, Ok(Vec::new()));
    }

    #[test]
    fn a_failure_ends_the_work() {
        let items: Vec<usize> = (0..1000 * BLOCK).collect();
        let tried = AtomicUsize::new(0);
        let work = |_: &mut (), item: &usize| {
            tried.fetch_add(1, Ordering::Relaxed);
            if *item == 5 { Err("five") } else { Ok(()) }
        };
        assert_eq!(each(&items, || Ok(()), work), Err("five"));
        assert_eq!(each(&items, || Err("begin"), work), Err("begin"));
    }
}
