//! Claude Code's stream-json, one line at a time, as far as we use it.
//!
//! Pure and total: a line of a kind that is not known here, or that is no JSON, becomes an item of its own and is never an error, because
//! the format moves with every release. Checked against version 2.1.330; samples of it are beside the tests.

use serde_json::Value;

/// One item of an agent's output. A line holds none, one, or several.
#[derive(Debug, Clone, PartialEq)]
pub enum RunLine {
    /// Printed before every turn, so again after each message that was sent to a running agent.
    Init(Init),
    Text {
        text: String,
    },
    Thinking {
        text: String,
    },
    ToolUse {
        id: String,
        name: String,
        input: Value,
    },
    ToolResult {
        id: String,
        is_error: bool,
        text: String,
    },
    /// A message of ours, echoed when the agent took it.
    UserReplay {
        /// The id it was sent with.
        uuid: Option<String>,
        text: String,
    },
    /// How full the main conversation is. Repeated for each block of one answer; the latest counts.
    Usage {
        model: String,
        context_tokens: u64,
    },
    /// A turn ended.
    Result(Box<TurnResult>),
    RateLimit {
        /// `allowed`, `allowed_warning` or `rejected`.
        status: String,
        /// Seconds since the Unix epoch.
        resets_at_unix: Option<i64>,
        /// Such as `five_hour`.
        kind: Option<String>,
        /// The part of the limit that is used, 1 being all of it.
        utilization: Option<f64>,
    },
    ApiRetry {
        attempt: u32,
        max: u32,
        delay_ms: u64,
        /// The HTTP status, when there was an answer at all.
        error_status: Option<u16>,
        error: String,
    },
    /// The model could not be asked: the text that goes with it is for people. Its `error` is `authentication_failed`, `server_error`, ….
    ApiError {
        error: String,
        text: String,
    },
    /// JSON of a kind that is not used here: its `type` and `subtype`.
    Other {
        kind: String,
    },
    /// No JSON object at all.
    Foreign {
        text: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Init {
    pub session_id: String,
    pub model: String,
    pub mcp_servers: Vec<McpServer>,
    /// The program's own version.
    pub version: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McpServer {
    pub name: String,
    /// `connected`, `failed`, `pending`, ….
    pub status: String,
}

/// The end of a turn. `is_error` tells whether it failed; `subtype` may say "success" even then.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TurnResult {
    pub is_error: bool,
    pub subtype: String,
    /// `completed`, `max_turns`, `budget_exhausted`, `api_error`, `aborted_tools`, ….
    pub terminal_reason: Option<String>,
    /// The HTTP status of the model's service, when that is what ended the turn.
    pub api_error_status: Option<u16>,
    /// The agent's last words, or the error for people.
    pub text: Option<String>,
    /// What this turn cost at list price, in millionths of a US dollar. (`total_cost_usd` on the wire is the session's, earlier
    /// processes that it was resumed from included, so it cannot be added up.)
    pub cost_micro_usd: i64,
    /// Requests to the model in this turn.
    pub turns: u32,
    /// Of this turn, every model that it used.
    pub tokens: Tokens,
    /// How many tokens fit into the conversation of the model that read the most.
    pub context_window: Option<u64>,
    pub session_id: String,
    pub errors: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tokens {
    /// Read by the model for the first time, neither from nor into its cache.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_creation: u64,
}

impl Tokens {
    /// Everything that the model read.
    pub fn read(&self) -> u64 {
        self.input.saturating_add(self.cache_read).saturating_add(self.cache_creation)
    }

    fn and(self, other: Self) -> Self {
        Self {
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_creation: self.cache_creation.saturating_add(other.cache_creation),
        }
    }
}

/// The items of one line of output, without its newline.
pub fn parse(line: &str) -> Vec<RunLine> {
    let line = line.trim();
    if line.is_empty() {
        return Vec::new();
    }
    let Ok(value @ Value::Object(_)) = serde_json::from_str::<Value>(line) else { return vec![RunLine::Foreign { text: line.to_owned() }] };
    match (string(&value, "type").as_str(), string(&value, "subtype").as_str()) {
        ("system", "init") => vec![RunLine::Init(init(&value))],
        ("system", "api_retry") => vec![RunLine::ApiRetry {
            attempt: number(&value, "attempt").unwrap_or_default(),
            max: number(&value, "max_retries").unwrap_or_default(),
            delay_ms: count(&value, "retry_delay_ms"),
            error_status: number(&value, "error_status"),
            error: string(&value, "error"),
        }],
        ("assistant", _) => assistant(&value),
        ("user", _) => user(&value),
        ("result", _) => vec![RunLine::Result(Box::new(result(&value)))],
        ("rate_limit_event", _) => {
            let info = &value["rate_limit_info"];
            vec![RunLine::RateLimit {
                status: string(info, "status"),
                resets_at_unix: info["resetsAt"].as_i64(),
                kind: info["rateLimitType"].as_str().map(str::to_owned),
                utilization: info["utilization"].as_f64(),
            }]
        }
        (kind, "") => vec![RunLine::Other { kind: kind.to_owned() }],
        (kind, subtype) => vec![RunLine::Other { kind: format!("{kind}/{subtype}") }],
    }
}

fn assistant(line: &Value) -> Vec<RunLine> {
    let message = &line["message"];
    if let Some(error) = line["error"].as_str() {
        return vec![RunLine::ApiError { error: error.to_owned(), text: content_text(&message["content"]) }];
    }
    let mut items: Vec<RunLine> = blocks(&message["content"])
        .iter()
        .map(|block| match string(block, "type").as_str() {
            "text" => RunLine::Text { text: string(block, "text") },
            "thinking" => RunLine::Thinking { text: string(block, "thinking") },
            "tool_use" => RunLine::ToolUse { id: string(block, "id"), name: string(block, "name"), input: block["input"].clone() },
            kind => RunLine::Other { kind: format!("assistant/{kind}") },
        })
        .collect();
    let model = string(message, "model");
    // A subagent has a conversation of its own, and what the program itself puts into the model's mouth has used nothing.
    if line["parent_tool_use_id"].is_null() && model != "<synthetic>" && message["usage"].is_object() {
        items.push(RunLine::Usage { model, context_tokens: message_tokens(&message["usage"]).read() });
    }
    items
}

fn user(line: &Value) -> Vec<RunLine> {
    let content = &line["message"]["content"];
    if line["isReplay"] == true {
        return vec![RunLine::UserReplay { uuid: line["uuid"].as_str().map(str::to_owned), text: content_text(content) }];
    }
    let results = blocks(content).iter().map(|block| match string(block, "type").as_str() {
        "tool_result" => {
            RunLine::ToolResult { id: string(block, "tool_use_id"), is_error: block["is_error"] == true, text: content_text(&block["content"]) }
        }
        kind => RunLine::Other { kind: format!("user/{kind}") },
    });
    results.collect()
}

fn init(line: &Value) -> Init {
    let servers = blocks(&line["mcp_servers"]).iter();
    Init {
        session_id: string(line, "session_id"),
        model: string(line, "model"),
        mcp_servers: servers.map(|server| McpServer { name: string(server, "name"), status: string(server, "status") }).collect(),
        version: string(line, "claude_code_version"),
    }
}

fn result(line: &Value) -> TurnResult {
    // Older versions do not tell the turn from the session.
    let since_last = Some(&line["model_usage_since_last_result"]).filter(|usage| usage.is_object());
    let models: Vec<&Value> = since_last.unwrap_or(&line["modelUsage"]).as_object().into_iter().flat_map(|models| models.values()).collect();
    let read = |usage: &Value| model_tokens(usage).read();
    let main = models.iter().max_by_key(|usage| read(usage));
    TurnResult {
        is_error: line["is_error"] == true,
        subtype: string(line, "subtype"),
        terminal_reason: line["terminal_reason"].as_str().map(str::to_owned),
        api_error_status: number(line, "api_error_status"),
        text: line["result"].as_str().map(str::to_owned),
        cost_micro_usd: (models.iter().filter_map(|usage| usage["costUSD"].as_f64()).sum::<f64>() * 1e6).round() as i64,
        turns: number(line, "num_turns").unwrap_or_default(),
        tokens: models.iter().map(|usage| model_tokens(usage)).fold(Tokens::default(), Tokens::and),
        context_window: main.and_then(|usage| usage["contextWindow"].as_u64()),
        session_id: string(line, "session_id"),
        errors: blocks(&line["errors"]).iter().filter_map(|error| Some(error.as_str()?.to_owned())).collect(),
    }
}

fn model_tokens(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "inputTokens"),
        output: count(usage, "outputTokens"),
        cache_read: count(usage, "cacheReadInputTokens"),
        cache_creation: count(usage, "cacheCreationInputTokens"),
    }
}

fn message_tokens(usage: &Value) -> Tokens {
    Tokens {
        input: count(usage, "input_tokens"),
        output: count(usage, "output_tokens"),
        cache_read: count(usage, "cache_read_input_tokens"),
        cache_creation: count(usage, "cache_creation_input_tokens"),
    }
}

fn blocks(content: &Value) -> &[Value] {
    content.as_array().map_or(&[], Vec::as_slice)
}

/// Content is a text or a list of blocks, of which the texts count.
fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        _ => blocks(content).iter().filter_map(|block| block["text"].as_str()).collect::<Vec<_>>().join("\n"),
    }
}

fn string(value: &Value, key: &str) -> String {
    value[key].as_str().unwrap_or_default().to_owned()
}

fn number<T: TryFrom<u64>>(value: &Value, key: &str) -> Option<T> {
    value[key].as_u64().and_then(|number| T::try_from(number).ok())
}

fn count(value: &Value, key: &str) -> u64 {
    value[key].as_u64().unwrap_or_default()
}

#[cfg(test)]
mod tests;
