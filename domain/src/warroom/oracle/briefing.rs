//! The briefing of a managed oracle: all that it reads when it starts. It must not know how a prompt is worded.

use super::OracleQuestion;
use crate::runs::evidence::Sha;
use crate::warroom::claim::ClaimPath;
use crate::warroom::knowledge::Knowledge;

/// The zone of an oracle, and what it has to answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OracleBriefing {
    pub zone: String,
    pub paths: Vec<ClaimPath>,
    /// The questions that nobody has answered, oldest first.
    pub questions: Vec<OracleQuestion>,
    /// Intel and traps that it has not read.
    pub knowledge: Vec<Knowledge>,
    /// The commit that its session read before, if that goes on.
    pub read: Option<Sha>,
    /// The files of the zone that changed since then.
    pub changed: Vec<String>,
}
