//! Usage: requests, tokens and money that agents consumed, and the estimate of the cost that no program has reported yet.
//!
//! Must not know which limits apply.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The consumption that an agent's output has reported so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    pub cost_micro_usd: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    pub context_tokens: Option<i64>,
    pub context_limit: Option<i64>,
    /// Requests to the model.
    pub turns: i64,
}

/// Tokens of requests to one model, by how they are priced.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Tokens that the model read for the first time, neither from nor into its cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
}

impl Tokens {
    /// All tokens that the model read.
    pub const fn total_input(self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_write)
    }

    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }

    /// Returns the larger of both counts of each kind.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }

    /// Twenty times the number of input tokens that cost as much.
    fn weight(self) -> u128 {
        20 * u128::from(self.input) + 100 * u128::from(self.output) + 2 * u128::from(self.cache_read) + 25 * u128::from(self.cache_write)
    }
}

/// The price of a model: millionths of a US dollar for a million input tokens.
///
/// A program reports one sum for all kinds of tokens. The price assumes that output costs five times as much as input, a write to the
/// cache 1.25 times, and a read from it a tenth, as vendors publish. The next reported sum replaces whatever was estimated with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Price(i64);

impl Price {
    pub const fn new(micro_usd_per_million: i64) -> Self {
        Self(micro_usd_per_million)
    }

    pub const fn micro_usd_per_million(self) -> i64 {
        self.0
    }

    /// Returns the price at which these tokens have this cost; none if one of them is zero.
    pub fn of(tokens: Tokens, cost_micro_usd: i64) -> Option<Self> {
        let (weight, cost) = (tokens.weight(), u128::try_from(cost_micro_usd).ok()?);
        let price = (cost * 20_000_000).checked_div(weight)?;
        i64::try_from(price).ok().filter(|price| *price > 0).map(Self)
    }

    /// Returns the estimated cost of `tokens` in millionths of a US dollar.
    pub fn estimate(self, tokens: Tokens) -> i64 {
        let price = u128::try_from(self.0).unwrap_or_default();
        i64::try_from(tokens.weight().saturating_mul(price) / 20_000_000).unwrap_or(i64::MAX)
    }
}

/// Facts about a model from the reports of ended turns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Missing for a model that costs nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// How much the model can read, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<i64>,
}

/// Sums over the runs of a project, or of some of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct UsageSums {
    /// Requests to models.
    pub turns: i64,
    pub input_tokens: i64,
    pub output_tokens: i64,
    /// In millionths of a US dollar. Zero if the agent program reports no costs.
    pub cost_micro_usd: i64,
}

impl UsageSums {
    pub const fn tokens(&self) -> i64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    #[must_use]
    pub const fn plus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_add(other.turns),
            input_tokens: self.input_tokens.saturating_add(other.input_tokens),
            output_tokens: self.output_tokens.saturating_add(other.output_tokens),
            cost_micro_usd: self.cost_micro_usd.saturating_add(other.cost_micro_usd),
        }
    }

    #[must_use]
    pub const fn minus(self, other: Self) -> Self {
        Self {
            turns: self.turns.saturating_sub(other.turns),
            input_tokens: self.input_tokens.saturating_sub(other.input_tokens),
            output_tokens: self.output_tokens.saturating_sub(other.output_tokens),
            cost_micro_usd: self.cost_micro_usd.saturating_sub(other.cost_micro_usd),
        }
    }
}

impl From<Usage> for UsageSums {
    fn from(usage: Usage) -> Self {
        let Usage { turns, input_tokens, output_tokens, cost_micro_usd, .. } = usage;
        Self { turns, input_tokens, output_tokens, cost_micro_usd }
    }
}

/// Returns the cost, or the tokens where the agent program reports no cost. None for nothing.
pub fn consumption(cost_micro_usd: i64, token_count: i64) -> Option<String> {
    money(cost_micro_usd).or_else(|| (token_count > 0).then(|| format!("{} tokens", tokens(token_count))))
}

/// An amount in millionths of a US dollar, such as `$0.42` or `<$0.01`. None for zero.
pub fn money(micro_usd: i64) -> Option<String> {
    match micro_usd {
        ..=0 => None,
        1..5_000 => Some("<$0.01".to_owned()),
        _ => {
            let cents = (micro_usd + 5_000) / 10_000;
            Some(format!("${}.{:02}", cents / 100, cents % 100))
        }
    }
}

/// A count of tokens: `940`, `12.3k`, `1.2M`.
pub fn tokens(count: i64) -> String {
    match count {
        ..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}.{}k", count / 1_000, count % 1_000 / 100),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_explains_its_cost() {
        let tokens = Tokens { input: 3, output: 32, cache_read: 0, cache_write: 12_328 };
        let price = Price::of(tokens, 62_292).unwrap();
        assert_eq!(price.micro_usd_per_million(), 4_000_000);
        assert_eq!(price.estimate(tokens), 62_292);
        assert_eq!(price.estimate(Tokens { input: 200_000, output: 32, cache_read: 0, cache_write: 12_338 }), 862_330);
    }

    #[test]
    fn free_or_empty_turns_have_no_price() {
        let tokens = Tokens { output: 5, ..Tokens::default() };
        for (tokens, cost) in [(tokens, 0), (tokens, -1), (Tokens::default(), 7)] {
            assert_eq!(Price::of(tokens, cost), None);
        }
        assert_eq!(Price::new(i64::MAX).estimate(Tokens { output: u64::MAX, ..Tokens::default() }), i64::MAX);
    }

    #[test]
    fn tokens_stand_for_an_unknown_cost() {
        assert_eq!(
            [(15_000, 7), (0, 1_250), (0, 0)].map(|(cost, count)| consumption(cost, count)),
            [Some("$0.02".to_owned()), Some("1.2k tokens".to_owned()), None]
        );
    }

    #[test]
    fn money_is_rounded_to_cents_and_zero_is_hidden() {
        let words: Vec<_> = [0, 1, 4_999, 5_000, 14_999, 15_000, 1_234_567].map(money).into();
        let words: Vec<_> = words.iter().map(|word| word.as_deref().unwrap_or("")).collect();
        assert_eq!(words, ["", "<$0.01", "<$0.01", "$0.01", "$0.01", "$0.02", "$1.23"]);
    }

    #[test]
    fn token_counts_are_abbreviated() {
        assert_eq!([0, 999, 1_000, 12_345, 999_999, 1_250_000].map(tokens), ["0", "999", "1.0k", "12.3k", "999.9k", "1.2M"]);
    }
}
