//! One user message of the scripted agent, from its prompt to its `result` line: executes and records the steps of the player. Must not
//! decide what to do next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use uuid::Uuid;

use super::AgentError;
use super::input::{INTERRUPT, Input, Line, Message};
use crate::scripted::arguments::Arguments;
use crate::scripted::mcp_client::McpServer;
use crate::scripted::player::{self, Called, Entry};
use crate::scripted::scenario::{Call, Failure, Scenario};
use crate::scripted::session::{self, Session, SessionError};
use crate::scripted::stream::{self, End, Stream, Turn};
use crate::scripted::tool::{BuiltIn, Outcome};

/// How often Claude Code retries a request by default.
const DEFAULT_RETRIES: u32 = 10;
/// The `retry-after` in seconds from which Claude Code does not retry.
const LONG_RETRY_AFTER: u64 = 60;

/// The result of a call that the human interrupted, in Claude Code's words.
const INTERRUPTED: &str =
    "The user doesn't want to proceed with this tool use. STOP what you are doing and wait for the user to tell you how to proceed.";

/// The state of one agent process.
pub(super) struct Player {
    pub(super) arguments: Arguments,
    pub(super) scenario: Scenario,
    /// The folder of sessions and failure counts.
    pub(super) sessions: PathBuf,
    pub(super) session: Session,
    pub(super) stream: Stream,
    pub(super) server: Option<McpServer>,
    pub(super) folder: PathBuf,
    pub(super) input: Input,
}

/// The line that Claude Code prints when a session does not exist.
pub(super) fn no_session(stream: &Stream, error: &SessionError) -> Value {
    let turn = Turn { started: Instant::now(), index: 0, answers: 0, characters: 0 };
    stream.result(&End::NoSession { message: error.to_string() }, &turn)
}

impl Player {
    /// Plays user messages until stdin is closed; a failed turn ends the agent with status 1, as in Claude Code.
    pub(super) async fn play_all(&mut self) -> Result<u8, AgentError> {
        let mut index = 0;
        while let Some(line) = self.input.next().await {
            let Some(message) = self.take(line)? else { continue };
            let end = self.play_message(message, index).await?;
            if end.is_error() && end != End::Interrupted {
                return Ok(1);
            }
            index += 1;
        }
        Ok(0)
    }

    /// Returns a user message. Answers a control request and ignores other lines.
    fn take(&self, line: Line) -> io::Result<Option<Message>> {
        match line {
            Line::User(message) => return Ok(Some(message)),
            Line::Control { request_id, subtype } if subtype == INTERRUPT => stream::print(&Stream::interrupted(&request_id))?,
            Line::Control { request_id, subtype } => stream::print(&Stream::unsupported(&request_id, &subtype))?,
            Line::Unparsed(text) => io::Write::write_fmt(&mut io::stderr(), format_args!("line ignored: {text}\n"))?,
        }
        Ok(None)
    }

    async fn play_message(&mut self, message: Message, index: u64) -> Result<End, AgentError> {
        let mut turn = Turn { started: Instant::now(), index, answers: 0, characters: 0 };
        stream::print(&self.stream.init(&self.tools(), self.server.as_ref().map(|server| (server.name(), server.status()))))?;
        self.echo(&message)?;
        self.session.append(Entry::user(message.text))?;
        let end = 'turn: loop {
            let step = match player::next(&self.scenario, self.session.conversation()) {
                Ok(step) => step,
                Err(error) => break End::ApiError { status: 400, message: error.to_string() },
            };
            if let Some(failure) = step.failure
                && let Some(end) = self.fail(step.part, failure)?
            {
                break end;
            }
            tokio::time::sleep(step.pause).await;
            if self.read_interruptions()? {
                break End::Interrupted;
            }
            turn.characters = self.session.characters();
            turn.answers += 1;
            let calls = self.print_answer(&step.text, step.calls, &turn)?;
            if calls.is_empty() {
                break End::Completed { text: step.text };
            }
            let tools = self.tools();
            let mut calls = calls.into_iter();
            while let Some(call) = calls.next() {
                let request = tokio::select! {
                    outcome = call_tool(&call, &tools, &mut self.server, &self.folder) => {
                        self.print_result(call, outcome)?;
                        continue;
                    }
                    request = self.input.interrupt() => request,
                };
                stream::print(&Stream::interrupted(&request))?;
                for call in std::iter::once(call).chain(calls) {
                    self.print_result(call, Outcome::error(INTERRUPTED))?;
                }
                break 'turn End::Interrupted;
            }
        };
        stream::print(&self.stream.result(&end, &turn))?;
        Ok(end)
    }

    fn echo(&self, message: &Message) -> io::Result<()> {
        if self.arguments.replay {
            stream::print(&self.stream.replay(&message.text, message.uuid.as_deref()))?;
        }
        Ok(())
    }

    fn print_result(&mut self, call: Called, outcome: Outcome) -> Result<(), AgentError> {
        stream::print(&self.stream.tool_result(&call.id, &outcome))?;
        Ok(self.session.append(Entry::Result { id: call.id, text: outcome.text, is_error: outcome.is_error })?)
    }

    /// Adds messages that arrived meanwhile to the conversation, before the next answer. Returns whether the turn was interrupted.
    fn read_interruptions(&mut self) -> Result<bool, AgentError> {
        let mut interrupted = false;
        while let Some(line) = self.input.waiting() {
            interrupted |= matches!(&line, Line::Control { subtype, .. } if subtype == INTERRUPT);
            if let Some(message) = self.take(line)? {
                self.echo(&message)?;
                self.session.append(Entry::Steering { text: message.text })?;
            }
        }
        Ok(interrupted)
    }

    /// Records an answer, then prints it block by block. In this order a killed agent never printed a call that its session lacks.
    fn print_answer(&mut self, text: &str, calls: Vec<Call>, turn: &Turn) -> Result<Vec<Called>, AgentError> {
        let id = |prefix: &str| format!("{prefix}_{}", Uuid::new_v4().simple());
        let calls: Vec<Called> = calls.into_iter().map(|call| Called { id: id("toolu"), tool: call.tool, input: call.input }).collect();
        self.session.append(Entry::Assistant { text: text.to_owned(), calls: calls.clone() })?;
        let message_id = id("msg");
        let text_block = (!text.is_empty()).then(|| json!({"type": "text", "text": text}));
        let call_blocks = calls.iter().map(|call| json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": call.input}));
        for block in text_block.into_iter().chain(call_blocks) {
            stream::print(&self.stream.assistant(&message_id, block, turn))?;
        }
        Ok(calls)
    }

    fn tools(&self) -> Vec<String> {
        let allowed = |name: &&str| self.arguments.tools.as_ref().is_none_or(|tools| tools.iter().any(|tool| tool == name));
        let built_in = BuiltIn::NAMES.iter().copied().filter(allowed).map(str::to_owned);
        let served = self.server.as_ref().map_or(&[][..], McpServer::tools);
        built_in.chain(served.iter().cloned()).collect()
    }

    /// Plays the remaining failures of a part. Short ones are retried inside the turn; a long or final one ends it.
    fn fail(&self, part: usize, failure: Failure) -> Result<Option<End>, AgentError> {
        let Failure { status, retry_after, times } = failure;
        let task = self.session.conversation().issue().and_then(|issue| issue.line("Task").map(str::to_owned)).unwrap_or_default();
        let configured = std::env::var("CLAUDE_CODE_MAX_RETRIES").ok().and_then(|text| text.parse().ok());
        let retries = configured.unwrap_or(DEFAULT_RETRIES);
        let retryable = matches!(status, 401 | 429 | 500..) && retry_after.is_none_or(|seconds| seconds < LONG_RETRY_AFTER);
        for attempt in 1.. {
            if session::count_failure(&self.sessions, part, &task)? >= times {
                break;
            }
            if retryable && attempt <= retries {
                stream::print(&self.stream.api_retry(attempt, retries, status))?;
                continue;
            }
            if let (429, Some(seconds)) = (status, retry_after) {
                let resets_at = jiff::Timestamp::now().as_second().saturating_add_unsigned(seconds);
                stream::print(&self.stream.rate_limit(resets_at))?;
            }
            return Ok(Some(End::ApiError { status, message: format!("scripted {status}") }));
        }
        Ok(None)
    }
}

async fn call_tool(call: &Called, tools: &[String], server: &mut Option<McpServer>, folder: &Path) -> Outcome {
    let unknown = || Outcome::error(format!("No such tool available: {}", call.tool));
    if call.tool.starts_with("mcp__") {
        return match server {
            Some(server) => server.call(&call.tool, &call.input, &call.id).await,
            None => unknown(),
        };
    }
    if !tools.contains(&call.tool) {
        return unknown();
    }
    match BuiltIn::parse(&call.tool, &call.input) {
        Some(Ok(tool)) => tool.run(folder).await,
        Some(Err(error)) => Outcome::error(format!("InputValidationError: {error}")),
        None => unknown(),
    }
}
