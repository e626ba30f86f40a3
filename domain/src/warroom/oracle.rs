//! Questions to oracles: what an agent asks the expert of a zone instead of reading the files itself, and what the expert answered.
//!
//! It must not know how questions reach an oracle, or how long the asker waits.

pub mod briefing;
pub mod expert;
pub mod note;
pub mod refusal;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use self::expert::Expert;
use self::refusal::OracleRefusal;
use super::zone::Zone;
use super::zone::lookup::zone_of;
use crate::event::kinds::events;
use crate::id::{ProjectId, TaskId};
use crate::refusal::Refusal;
use crate::refusal::general::GeneralRefusal;
use crate::text::validate_body;
use crate::time::Timestamp;

/// The most zones and files that a question names.
pub const MAX_ASKED: usize = 10;
/// The longest question, in bytes.
pub const MAX_QUESTION_BYTES: usize = 4_000;

/// A question to an oracle. It is a message, and the oracle's reply to that message is its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OracleQuestion {
    /// The id of the message that asks.
    pub id: i64,
    pub project_id: ProjectId,
    /// The zones that it is about, of which all have this oracle.
    pub zones: Vec<String>,
    pub asker: String,
    pub oracle: String,
    pub question: String,
    pub asked_at: Timestamp,
    pub answer: Option<OracleAnswer>,
    /// The task of the oracle, if the runner starts it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// Why the runner does not start the oracle at the moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// The answer to a question. It is never changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OracleAnswer {
    /// The id of the message that answers.
    pub message_id: i64,
    pub text: String,
    pub answered_at: Timestamp,
    /// The tokens in the context of the oracle, by its last report or as measured: what the asker would have had to read at most.
    pub context_tokens: Option<u64>,
    /// When the oracle gave this answer before, if it is from its notes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noted_at: Option<Timestamp>,
    /// Whether it only says why there is no answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

/// `POST /api/projects/{id}/oracle-questions`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewOracleQuestion {
    /// 1 to 10 names of zones, or files in them. Each oracle that they have gets the question.
    pub zones: Vec<String>,
    /// At most 4,000 bytes.
    pub question: String,
}

/// The questions to the oracle of a zone so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct OracleUse {
    pub zone: String,
    /// The oracle that it has now.
    pub oracle: Option<String>,
    pub questions: u32,
    pub answers: u32,
    /// The size of the answers: what askers read.
    pub answer_bytes: u64,
    /// For each answer, the tokens in the context of the oracle: what askers would have had to read at most. Oracles that report nothing add nothing.
    pub context_tokens: u64,
    /// The answers among them that came from the notes of an oracle that the runner starts, without a run.
    pub from_notes: u32,
    /// The task of that oracle, and what its runs consumed.
    pub task_id: Option<TaskId>,
    pub tokens: i64,
    pub cost_micro_usd: i64,
}

impl NewOracleQuestion {
    /// Returns the text of the question.
    ///
    /// # Errors
    /// When it is blank, too long, or contains U+0000.
    pub fn text(&self) -> Result<String, GeneralRefusal> {
        let question = validate_body("question", &self.question)?;
        if question.len() > MAX_QUESTION_BYTES {
            let problem = format!("it has {} bytes, more than the {MAX_QUESTION_BYTES} allowed", question.len());
            return Err(GeneralRefusal::invalid("question", problem, "Name the file instead of repeating it, and ask one thing."));
        }
        Ok(question)
    }

    /// Returns the oracles to ask, each with its zones among those asked about. An oracle does not ask itself.
    ///
    /// # Errors
    /// When none or too many are named, one is neither a zone nor a file in a zone, a zone has no oracle, or `asker` is the only oracle.
    pub fn recipients(&self, asker: &str, zones: &[Zone]) -> Result<BTreeMap<Expert, Vec<String>>, Refusal> {
        if self.zones.is_empty() || self.zones.len() > MAX_ASKED {
            let problem = format!("{} are named, and 1 to {MAX_ASKED} are allowed", self.zones.len());
            return Err(Refusal::invalid("zone", problem, "Name the zone, or the files that the question is about."));
        }
        let mut recipients: BTreeMap<Expert, Vec<String>> = BTreeMap::new();
        let mut own = None;
        for given in &self.zones {
            let zone = named(given.trim(), zones)?;
            let expert = Expert::of(zone).ok_or_else(|| OracleRefusal::NoOracle { zone: zone.name.clone() })?;
            if matches!(&expert, Expert::Participant(name) if name == asker) {
                own = Some(zone.name.clone());
                continue;
            }
            let asked = recipients.entry(expert).or_default();
            if !asked.contains(&zone.name) {
                asked.push(zone.name.clone());
            }
        }
        match own {
            Some(zone) if recipients.is_empty() => Err(OracleRefusal::OwnZone { zone }.into()),
            _ => Ok(recipients),
        }
    }
}

/// Returns the zone of that name, or the one of that file.
fn named<'z>(given: &str, zones: &'z [Zone]) -> Result<&'z Zone, Refusal> {
    if let Some(zone) = zones.iter().find(|zone| zone.name == given) {
        return Ok(zone);
    }
    zone_of(zones, &given.parse()?).ok_or_else(|| OracleRefusal::NoZone { given: given.to_owned() }.into())
}

/// Returns the message with a question.
pub fn message(zones: &[String], question: &str) -> String {
    let (noun, zones) = (if zones.len() == 1 { "zone" } else { "zones" }, zones.join(", "));
    format!("Question about the {noun} {zones}. Answer with send, and set reply_to to the id of this message.\n\n{question}")
}

events! {
    /// A question to an oracle, or its answer. It never contains the texts.
    OracleEvent {
        Asked "oracle_asked" { question: i64, zones: Vec<String>, oracle: String }
        Answered "oracle_answered" { question: i64, oracle: String, asker: String }
    }
}

#[cfg(test)]
mod tests;
