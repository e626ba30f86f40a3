//! The next step of a scripted agent: a pure function of the scenario and the conversation so far. Must not hold state, because a retried
//! request, a killed agent or a resumed session has to get the same turn again.

use std::time::Duration;

use runner::prompt::inbox;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::issue::Issue;
use super::placeholder::{self, PlaceholderError, Sources};
use super::scenario::{Call, Failure, Part, Pattern, Scenario};

/// One entry of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "said", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A prompt, which starts new work.
    Human { text: String },
    /// A message that arrived while the agent worked. It starts no new work.
    Steering { text: String },
    /// One answer of the model.
    Assistant { text: String, calls: Vec<Called> },
    /// The result of a tool call.
    Result { id: String, text: String, is_error: bool },
}

impl Entry {
    /// A message between two turns. An inbox starts no new work; everything else is a prompt.
    pub fn user(text: String) -> Self {
        if inbox::is_inbox_message(&text) { Self::Steering { text } } else { Self::Human { text } }
    }
}

/// A tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Called {
    pub id: String,
    pub tool: String,
    pub input: Map<String, Value>,
}

/// All entries of one session, oldest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conversation {
    pub entries: Vec<Entry>,
}

impl Conversation {
    fn prompts(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.entries.iter().filter_map(|entry| match entry {
            Entry::Human { text } => Some(text.as_str()),
            _ => None,
        })
    }

    fn since_prompt(&self) -> &[Entry] {
        let prompt = self.entries.iter().rposition(|entry| matches!(entry, Entry::Human { .. }));
        prompt.map_or(&[], |at| &self.entries[at + 1..])
    }

    /// How many turns were played since the last prompt.
    pub fn turns(&self) -> usize {
        turns(self.since_prompt())
    }

    /// How many turns were played since the first message after the last prompt that matches; `None` without such a message.
    fn turns_since_told(&self, pattern: &Pattern) -> Option<usize> {
        let recent = self.since_prompt();
        let told = recent.iter().position(|entry| matches!(entry, Entry::Steering { text } if pattern.is_match(text)))?;
        Some(turns(&recent[told..]))
    }

    /// Tool results since the last prompt, in the order of their calls.
    fn results(&self) -> Vec<&str> {
        let recent = self.since_prompt();
        let calls = recent.iter().filter_map(|entry| match entry {
            Entry::Assistant { calls, .. } => Some(calls),
            _ => None,
        });
        let result = |wanted: &str| {
            recent.iter().find_map(|entry| match entry {
                Entry::Result { id, text, .. } if id == wanted => Some(text.as_str()),
                _ => None,
            })
        };
        calls.flatten().filter_map(|call| result(&call.id)).collect()
    }

    /// The issue of the latest prompt that has one; reminders and messages have none.
    pub fn issue(&self) -> Option<Issue> {
        self.prompts().rev().find_map(Issue::find)
    }
}

fn turns(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Assistant { .. })).count()
}

/// The next step. A step without calls ends the work on this prompt.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Which part is played, counted from 0.
    pub part: usize,
    pub pause: Duration,
    pub text: String,
    pub calls: Vec<Call>,
    /// The failure of the part, at its first turn only.
    pub failure: Option<Failure>,
}

impl Step {
    /// A step that prints a text and ends the work.
    pub fn text(text: &str) -> Self {
        Self { part: 0, pause: Duration::ZERO, text: text.to_owned(), calls: Vec::new(), failure: None }
    }
}

/// The reason why the scenario has no next step.
#[derive(Debug, thiserror::Error)]
pub enum PlayError {
    #[error("no prompt of the conversation has an <issue> block with Phase: and Title: lines")]
    NoIssue,
    #[error("the scenario has no part for phase {phase:?}, title {title:?}, attempt {attempt}: add one")]
    NoPart { phase: String, title: String, attempt: usize },
    #[error("part {part}, turn {turn} of the scenario cannot be played: {source}")]
    Placeholder { part: usize, turn: usize, source: PlaceholderError },
}

/// The next step in a conversation.
///
/// # Errors
/// The prompt has no issue, no part fits it, or a placeholder of the turn has no value.
pub fn next(scenario: &Scenario, conversation: &Conversation) -> Result<Step, PlayError> {
    let issue = conversation.issue().ok_or(PlayError::NoIssue)?;
    let (phase, title) = issue.line("Phase").zip(issue.line("Title")).ok_or(PlayError::NoIssue)?;
    let attempt = conversation.prompts().count();
    let prompt = conversation.prompts().next_back().unwrap_or_default();
    let fits = |part: &&Part| {
        part.phase.as_str() == phase
            && part.title.as_ref().is_none_or(|wanted| title.contains(wanted.as_str()))
            && part.attempt.is_none_or(|wanted| usize::try_from(wanted.get()) == Ok(attempt))
            && part.sees.as_ref().is_none_or(|pattern| pattern.is_match(prompt))
            && part.told.as_ref().is_none_or(|pattern| conversation.turns_since_told(pattern).is_some())
    };
    let Some((index, part)) = scenario.parts.iter().enumerate().find(|(_, part)| fits(part)) else {
        return Err(PlayError::NoPart { phase: phase.to_owned(), title: title.to_owned(), attempt });
    };

    let position = part.told.as_ref().and_then(|pattern| conversation.turns_since_told(pattern)).unwrap_or_else(|| conversation.turns());
    let Some(turn) = part.turns.get(position) else {
        return Ok(Step { part: index, ..Step::text("I have done my part.") });
    };
    let sources = Sources { issue: &issue, results: conversation.results() };
    let fill = |text: &str| placeholder::fill(text, &sources);
    let filled_call = |call: &Call| {
        let mut input = Map::new();
        for (key, value) in &call.input {
            input.insert(key.clone(), placeholder::map_strings(value, &mut |text| fill(text))?);
        }
        Ok(Call { tool: call.tool.clone(), input })
    };
    let filled = fill(&turn.text).and_then(|text| Ok((text, turn.calls.iter().map(filled_call).collect::<Result<_, _>>()?)));
    let (text, calls) = filled.map_err(|source| PlayError::Placeholder { part: index + 1, turn: position + 1, source })?;
    let failure = part.fail.filter(|_| position == 0);
    Ok(Step { part: index, pause: turn.pause(), text, calls, failure })
}

#[cfg(test)]
mod tests;
