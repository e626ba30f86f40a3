//! Trigger words: short orders to agents, such as `rally`. A word counts only at the beginning of a message, so that agents can talk about it.
//!
//! Must not know how an order is carried out.

pub mod refusal;
mod word;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

pub use self::word::{TriggerTarget, TriggerWord};

use self::refusal::TriggerRefusal;
use crate::event::kinds::events;
use crate::id::ProjectId;
use crate::team::agent::EVERYONE;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// The longest reason of an order, in bytes.
pub const MAX_NOTE_BYTES: usize = 500;

/// An order as it was written, before anyone checks who gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TriggerText<'m> {
    pub word: TriggerWord,
    /// The agent or the zone that it names.
    pub target: Option<&'m str>,
    /// The subject of a `recon`, or the reason after a colon.
    pub note: Option<&'m str>,
}

impl<'m> TriggerText<'m> {
    /// Reads the order at the beginning of a message. Its first line must consist of the word and its target, perhaps followed by a colon and
    /// a reason: "rally" is an order and "rally points are open" is a sentence. Quotes and code begin with other characters.
    pub fn of(message: &'m str) -> Option<Self> {
        // Four spaces begin a block of code.
        let line = message.trim_start_matches('\n').lines().next().filter(|line| !line.starts_with(['\t', ' ']))?;
        let (order, reason) = match line.split_once(':') {
            Some((order, reason)) => (order, Some(reason.trim()).filter(|reason| !reason.is_empty())),
            None => (line, None),
        };
        let mut words = order.split_whitespace();
        let word: TriggerWord = words.next()?.to_ascii_lowercase().parse().ok()?;
        let (target, next) = (words.next(), words.next());
        match word.target() {
            TriggerTarget::All if target.is_none() => Some(Self { word, target: None, note: reason }),
            TriggerTarget::Agent if next.is_none() => Some(Self { word, target, note: reason }),
            TriggerTarget::Zone if next.is_none() => Some(Self { word, target: Some(target?), note: reason }),
            TriggerTarget::AgentAndSubject => {
                let target = target?;
                let behind = line.split_once(target).map(|(_, behind)| behind.trim_start_matches(':').trim());
                Some(Self { word, target: Some(target), note: Some(behind.filter(|subject| !subject.is_empty())?) })
            }
            TriggerTarget::All | TriggerTarget::Agent | TriggerTarget::Zone => None,
        }
    }

    /// The agent that an order to one agent is for. It can be missing in a message to that agent alone.
    ///
    /// # Errors
    /// When neither the order nor the recipient names one agent.
    pub fn agent(&self, recipient: &'m str) -> Result<&'m str, TriggerRefusal> {
        let named = self.target.or_else(|| Some(recipient).filter(|recipient| *recipient != EVERYONE));
        named.ok_or(TriggerRefusal::NoAgent { word: self.word })
    }
}

vocabulary! {
    /// How an order ended.
    TriggerEnd, "end of an order" {
        /// It was carried out: the agents were told, or the agent answered.
        Done = "done",
        /// A lead or a person withdrew it.
        Withdrawn = "withdrawn",
        /// The agent did not answer and was removed.
        Unanswered = "unanswered",
    }
}

/// An order that was given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Trigger {
    pub id: i64,
    pub project_id: ProjectId,
    pub word: TriggerWord,
    /// The agent or the zone; none for all agents.
    pub target: Option<String>,
    pub note: Option<String>,
    /// The participant that gave it.
    pub author: String,
    pub given_at: Timestamp,
    /// For a `sitrep` to an external agent: when the agent is removed if it has not answered.
    pub due_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    pub end: Option<TriggerEnd>,
}

/// The orders of a project that are active, and the last ones that ended, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Triggers {
    pub active: Vec<Trigger>,
    pub ended: Vec<Trigger>,
    /// The agents started by the runner that are still at work. After an order to stop, they end one by one.
    pub at_work: u32,
}

/// `POST /api/projects/{id}/triggers`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewTrigger {
    pub word: TriggerWord,
    /// The agent or the zone. Without a target for the words to all agents.
    #[serde(default)]
    pub target: Option<String>,
    /// A reason, or the subject of a `recon`: one line, at most 500 bytes.
    #[serde(default)]
    pub note: Option<String>,
}

/// `POST /api/projects/{id}/triggers/withdraw`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TriggerWithdrawal {
    pub word: TriggerWord,
    #[serde(default)]
    pub target: Option<String>,
}

impl NewTrigger {
    /// Returns the message that gives the order, and its recipient.
    ///
    /// # Errors
    /// When the target or the subject is missing, superfluous or not one word, or the note is not one line.
    pub fn message(&self) -> Result<(String, String), TriggerRefusal> {
        let (word, target) = (self.word, self.target.as_deref().map(str::trim).filter(|target| !target.is_empty()));
        let note = self.note.as_deref().map(str::trim).filter(|note| !note.is_empty());
        if note.is_some_and(|note| note.len() > MAX_NOTE_BYTES || note.contains(char::is_control)) {
            return Err(TriggerRefusal::LongNote { word, most: MAX_NOTE_BYTES });
        }
        if target.is_some_and(|target| target.contains(|letter: char| letter.is_whitespace() || letter == ':')) {
            return Err(TriggerRefusal::NotOneWord { word });
        }
        let recipient = match (word.target(), target) {
            (TriggerTarget::All, Some(_)) => return Err(TriggerRefusal::ForAll { word }),
            (TriggerTarget::Agent | TriggerTarget::AgentAndSubject, None) => return Err(TriggerRefusal::NoAgent { word }),
            (TriggerTarget::Zone, None) => return Err(TriggerRefusal::NoZone { word }),
            (TriggerTarget::AgentAndSubject, Some(_)) if note.is_none() => return Err(TriggerRefusal::NoSubject { word }),
            (TriggerTarget::Agent | TriggerTarget::AgentAndSubject, Some(agent)) => agent,
            (TriggerTarget::All, None) | (TriggerTarget::Zone, Some(_)) => EVERYONE,
        };
        let mut text = word.to_string();
        if let Some(target) = target {
            text = format!("{text} {target}");
        }
        if let Some(note) = note {
            text = format!("{text}: {note}");
        }
        Ok((text, recipient.to_owned()))
    }
}

events! {
    /// A change of the orders.
    TriggerEvent {
        Given "trigger_given" { trigger: i64, word: TriggerWord, target: Option<String> }
        Ended "trigger_ended" { trigger: i64, word: TriggerWord, target: Option<String>, end: TriggerEnd }
    }
}

#[cfg(test)]
mod tests;
