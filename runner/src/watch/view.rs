//! What a run's output has told so far: a fold, the same for whoever reads it from the start. Pure.

use domain::runs::run::Usage;

use crate::backend::stream::{McpServer, RunLine, TurnResult};

#[derive(Debug, Default)]
pub(crate) struct View {
    /// The result of the turn that began last, when that turn ended.
    result: Option<TurnResult>,
    /// The kind of the last failure of the model's service in that turn.
    api_error: Option<String>,
    servers: Option<Vec<McpServer>>,
    /// Whether it took something up and did not come to the end of a turn since.
    unfinished: bool,
    /// Seconds since the Unix epoch.
    limited_until: Option<i64>,
    usage: Usage,
}

impl View {
    pub(crate) fn take(&mut self, line: &RunLine) {
        match line {
            RunLine::Init(init) => {
                self.result = None;
                self.api_error = None;
                self.servers = Some(init.mcp_servers.clone());
                self.unfinished = true;
            }
            RunLine::UserReplay { .. } => self.unfinished = true,
            RunLine::Usage { context_tokens, .. } => self.usage.context_tokens = i64::try_from(*context_tokens).ok(),
            RunLine::ApiError { error, .. } => self.api_error = Some(error.clone()),
            RunLine::RateLimit { status, resets_at_unix, .. } if status == "rejected" => self.limited_until = *resets_at_unix,
            RunLine::Result(result) => {
                let count = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
                // What a program says may be any number.
                let add = |sum: &mut i64, more: i64| *sum = sum.saturating_add(more);
                add(&mut self.usage.cost_micro_usd, result.cost_micro_usd);
                add(&mut self.usage.input_tokens, count(result.tokens.read()));
                add(&mut self.usage.output_tokens, count(result.tokens.output));
                add(&mut self.usage.turns, i64::from(result.turns));
                if let Some(limit) = result.context_window {
                    self.usage.context_limit = Some(count(limit));
                }
                self.unfinished = self.unfinished && result.is_error;
                self.result = Some((**result).clone());
            }
            _ => {}
        }
    }

    pub(crate) fn result(&self) -> Option<&TurnResult> {
        self.result.as_ref()
    }

    /// Whether its last turn came to a good end after everything that it took up.
    pub(crate) fn turn_ended(&self) -> bool {
        self.result.is_some() && !self.unfinished
    }

    pub(crate) fn api_error(&self) -> Option<&str> {
        self.api_error.as_deref()
    }

    pub(crate) fn servers(&self) -> Option<&[McpServer]> {
        self.servers.as_deref()
    }

    pub(crate) fn limited_until(&self) -> Option<i64> {
        self.limited_until
    }

    pub(crate) fn usage(&self) -> Usage {
        self.usage
    }
}

#[cfg(test)]
mod tests;
