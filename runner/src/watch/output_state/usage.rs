//! The usage of a run so far: reported turns, plus the requests of the turn that has not ended. Pure.
//!
//! A request is reported once for each part of its answer, so requests are told apart by their ids. The report at the end of a turn
//! replaces what was counted for its requests. Memory is bounded, however many requests a turn makes.

use std::collections::{BTreeMap, VecDeque};

use domain::runs::run_event::{RequestUsage, TurnUsage};
use domain::runs::usage::{ModelInfo, Tokens, Usage};

/// How many requests may receive further parts. Parts of one answer follow each other, except for those of helpers at work meanwhile.
const MAX_OPEN_REQUESTS: usize = 64;

#[derive(Debug, Clone, Default)]
pub(super) struct UsageFold {
    /// The sums over the turns that ended, and the latest size of the conversation.
    reported: Usage,
    /// The known facts by model.
    models: BTreeMap<String, ModelInfo>,
    /// The latest requests of the current turn, oldest first.
    open: VecDeque<Request>,
    /// The sums over its older requests.
    turns: u64,
    by_model: BTreeMap<String, Tokens>,
}

#[derive(Debug, Clone)]
struct Request {
    usage: RequestUsage,
    /// The estimated tokens of all its parts.
    parts: u64,
}

impl Request {
    /// Output is what the program counted or what arrived, whichever is more.
    fn tokens(&self) -> Tokens {
        Tokens { output: self.usage.tokens.output.max(self.parts), ..self.usage.tokens }
    }
}

impl UsageFold {
    pub(super) fn new(models: BTreeMap<String, ModelInfo>) -> Self {
        Self { models, ..Self::default() }
    }

    pub(super) fn add_request(&mut self, usage: &RequestUsage) {
        // The program reports the size at the end of a turn only, which may be the end of the run.
        if let Some(window) = self.models.get(&usage.model).and_then(|info| info.context_window).filter(|_| usage.is_main) {
            self.reported.context_limit = Some(window);
        }
        if let Some(known) = self.open.iter_mut().find(|known| known.usage.id == usage.id) {
            known.usage.tokens = known.usage.tokens.max(usage.tokens);
            known.parts = known.parts.saturating_add(usage.part);
            return;
        }
        if self.open.len() == MAX_OPEN_REQUESTS
            && let Some(oldest) = self.open.pop_front()
        {
            self.turns += u64::from(oldest.usage.is_main);
            let sum = self.by_model.entry(oldest.usage.model.clone()).or_default();
            *sum = sum.plus(oldest.tokens());
        }
        self.open.push_back(Request { usage: usage.clone(), parts: usage.part });
    }

    /// The program reported a whole turn.
    pub(super) fn end_turn(&mut self, usage: &TurnUsage) {
        self.open.clear();
        self.by_model.clear();
        self.turns = 0;
        for (model, info) in &usage.models {
            let known = self.models.entry(model.clone()).or_default();
            *known = ModelInfo { price: info.price.or(known.price), context_window: info.context_window.or(known.context_window) };
        }
        let cost = usage.cost_micro_usd.unwrap_or_default();
        self.reported = plus(self.reported, usage.tokens(), usage.requests, cost);
    }

    pub(super) fn set_context(&mut self, used: Option<u64>, size: Option<u64>) {
        self.reported.context_tokens = used.map(clamped).or(self.reported.context_tokens);
        self.reported.context_limit = size.map(clamped).or(self.reported.context_limit);
    }

    pub(super) fn usage(&self) -> Usage {
        let open = self.open.iter().map(|request| (&request.usage.model, request.tokens(), u64::from(request.usage.is_main)));
        let older = self.by_model.iter().map(|(model, tokens)| (model, *tokens, 0));
        let counted = plus(self.reported, Tokens::default(), self.turns, 0);
        open.chain(older).fold(counted, |sum, (model, tokens, turns)| {
            let cost = self.models.get(model).and_then(|info| info.price).map_or(0, |price| price.estimate(tokens));
            plus(sum, tokens, turns, cost)
        })
    }
}

/// Adds to a sum. A program may report any number.
fn plus(sum: Usage, tokens: Tokens, turns: u64, cost_micro_usd: i64) -> Usage {
    Usage {
        cost_micro_usd: sum.cost_micro_usd.saturating_add(cost_micro_usd),
        input_tokens: sum.input_tokens.saturating_add(clamped(tokens.total_input())),
        output_tokens: sum.output_tokens.saturating_add(clamped(tokens.output)),
        turns: sum.turns.saturating_add(clamped(turns)),
        ..sum
    }
}

fn clamped(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
