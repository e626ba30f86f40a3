//! The short facts about a task that its card and its panel show. Must not know how they are drawn.

use domain::board::card::Card;

use crate::time::money;

/// Returns the known facts, each with its name.
pub(crate) fn card_facts(card: &Card) -> Vec<(&'static str, String)> {
    [("Cost", money(card.cost_micro_usd))].into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}
