//! Sums over all cards of a project, loaded or not. Pure.

use domain::board::card::Card;
use domain::wire::FinishedCards;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Cards that are open or count as done.
    pub(crate) cards: usize,
    pub(crate) done: usize,
    /// Coders' tasks whose work is in the project branch.
    pub(crate) merged: usize,
    pub(crate) needs_you: usize,
    pub(crate) cost_micro_usd: i64,
}

impl Totals {
    /// The sums over the loaded `cards` and the `unloaded` ones, which are all finished.
    pub(crate) fn of(cards: &[Card], unloaded: &FinishedCards) -> Self {
        let mut totals = Self::default();
        for card in cards {
            let is_done = card.satisfies_dependents();
            totals.cards += usize::from(card.status.is_open() || is_done);
            totals.done += usize::from(is_done);
            totals.merged += usize::from(card.is_merged());
            totals.needs_you += usize::from(card.attention.is_some());
            totals.cost_micro_usd += card.cost_micro_usd;
        }
        let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let unloaded_done = count(unloaded.done.total) + count(unloaded.cancelled.counts_as_done);
        totals.cards += unloaded_done;
        totals.done += unloaded_done;
        totals.merged += count(unloaded.done.merged);
        totals.cost_micro_usd += unloaded.done.cost_micro_usd + unloaded.cancelled.cost_micro_usd;
        totals
    }
}
