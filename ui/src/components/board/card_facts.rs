//! The short facts about a task that its card and its panel show. Must not know how they are drawn.

use domain::board::card::Card;
use domain::runs::usage::consumption;

/// Returns the known facts, each with its name.
pub(crate) fn card_facts(card: &Card) -> Vec<(&'static str, String)> {
    let cost = consumption(card.cost_micro_usd, card.tokens).map(|cost| ("Cost", cost));
    let protected = card.protected_paths.as_ref().map(|change| ("Protected paths", format!("changes {}", change.named())));
    let port = card.run.as_ref().and_then(|run| run.port).map(|port| ("Port", format!("{port}, reserved for its agent")));
    protected.into_iter().chain(port).chain(cost).collect()
}
