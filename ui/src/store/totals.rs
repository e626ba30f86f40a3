//! Sums over all cards of a project, loaded or not. Pure.

use domain::board::card::Card;
use domain::wire::FinishedCards;

use crate::components::badge::card_state::CardState;
use crate::components::progress::Segments;

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    /// Cards that are open or done. Cancelled ones are no longer part of the work.
    pub(crate) cards: usize,
    pub(crate) done: usize,
    /// Coders' tasks whose work is in the project branch.
    pub(crate) merged: usize,
    pub(crate) in_review: usize,
    pub(crate) at_work: usize,
    pub(crate) needs_you: usize,
    pub(crate) cost_micro_usd: i64,
}

impl Totals {
    /// The sums over the loaded `cards` and the `unloaded` ones, which are all finished.
    pub(crate) fn of(cards: &[Card], unloaded: &FinishedCards) -> Self {
        let mut totals = Self::default();
        for card in cards {
            totals.cards += usize::from(card.status.counts_as_work());
            totals.done += usize::from(card.status.counts_as_work() && !card.status.is_open());
            totals.merged += usize::from(card.is_merged());
            totals.needs_you += usize::from(card.attention.is_some());
            match CardState::of(card) {
                CardState::InReview | CardState::Approved => totals.in_review += 1,
                CardState::Working => totals.at_work += 1,
                _ => {}
            }
            totals.cost_micro_usd += card.cost_micro_usd;
        }
        let count = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
        let unloaded_done = count(unloaded.done.total);
        totals.cards += unloaded_done;
        totals.done += unloaded_done;
        totals.merged += count(unloaded.done.merged);
        totals.cost_micro_usd += unloaded.done.cost_micro_usd + unloaded.cancelled.cost_micro_usd;
        totals
    }

    pub(crate) fn segments(&self) -> Segments {
        let Self { cards, done, in_review, at_work, needs_you, .. } = *self;
        Segments { all: cards, done, in_review, at_work, needs_you }
    }
}
