//! Agents as participants: names, roles, health, and what a short name means.
//!
//! Who may use a name is decided by tokens, which the store keeps; nothing here reads a clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::id::{ProjectId, RunId, TaskId};
use crate::refusal::Refusal;
use crate::runs::agent_kind::AgentKind;
use crate::team::minion::GLOBAL;
use crate::team::role::Role;
use crate::time::Timestamp;
use crate::vocabulary::vocabulary;

/// Everybody in the project but the sender.
pub const EVERYONE: &str = "all";
/// The person, who can be written to like an agent.
pub const HUMAN: &str = "human";
/// The machine, in whose name handshakes are reported as complete.
pub const RUNNER: &str = "runner";

/// The longest name with its team, in bytes.
pub const MAX_NAME_BYTES: usize = 80;

vocabulary! {
    /// How long ago an agent last gave a sign of life.
    Health, "health" {
        /// Less than two minutes.
        Healthy = "healthy",
        /// Less than ten minutes.
        Stale = "stale",
        Dead = "dead",
        /// It never gave one.
        Unknown = "unknown",
    }
}

impl Health {
    pub const STALE_AFTER: Duration = Duration::from_secs(2 * 60);
    pub const DEAD_AFTER: Duration = Duration::from_secs(10 * 60);

    pub fn of(last_beat: Option<Timestamp>, now: Timestamp) -> Self {
        match last_beat.map(|beat| now.since(beat)) {
            None => Self::Unknown,
            Some(silence) if silence < Self::STALE_AFTER => Self::Healthy,
            Some(silence) if silence < Self::DEAD_AFTER => Self::Stale,
            Some(_) => Self::Dead,
        }
    }

    /// When somebody who is not connected is given up, unless something is heard of it until then. Who never gave a sign is waited for
    /// since `asked`, when something was asked of it; and of the time before `listening` nobody knows what there was to be heard.
    pub fn unresponsive_at(last_beat: Option<Timestamp>, asked: Timestamp, listening: Timestamp) -> Timestamp {
        last_beat.unwrap_or(asked).max(listening).after(Self::DEAD_AFTER)
    }
}

/// A participant of a project, run by us or connected from a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Agent {
    pub project_id: ProjectId,
    /// With its team in front where it has one: `platform/mara`.
    pub name: String,
    pub team: Option<String>,
    pub roles: Vec<Role>,
    pub description: Option<String>,
    /// What it says that it does.
    pub status: Option<String>,
    /// Whether the person, or the run that it is, vouches for it. Others may talk and take tasks, and neither lead, approve nor verify.
    pub trusted: bool,
    /// The run that it is, when we run it.
    pub run_id: Option<RunId>,
    /// What it works on.
    pub task_id: Option<TaskId>,
    pub health: Health,
    /// Whether it could be told something this moment.
    pub connected: bool,
    /// Messages that it has not been given yet, carbon copies included.
    pub unread: u32,
    pub registered_at: Timestamp,
    /// When it was last heard of in any way.
    pub last_seen: Option<Timestamp>,
    pub last_inbox_check: Option<Timestamp>,
    /// When it left, or its run ended for good.
    pub left_at: Option<Timestamp>,
}

impl Agent {
    /// Whether it is copied on messages and may do what is a lead's.
    pub fn is_lead(&self) -> bool {
        self.trusted && self.left_at.is_none() && self.roles.contains(&Role::Lead)
    }
}

/// What an agent says about itself when it joins.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Registration {
    pub name: String,
    #[serde(default)]
    pub roles: Vec<Role>,
    #[serde(default)]
    pub description: Option<String>,
    #[serde(default)]
    pub team: Option<String>,
}

/// The name under which an agent of `team` is known.
///
/// # Errors
/// When the name or the team is not made of letters, digits, `-`, `_` and `.`, is too long, or is kept for the person, the runner, runs or
/// everybody, in whatever case.
pub fn full_name(name: &str, team: Option<&str>) -> Result<String, Refusal> {
    let (team, name) = match (team, name.split_once('/')) {
        (Some(team), Some((given, name))) if given == team => (Some(team), name),
        (None, Some((team, name))) => (Some(team), name),
        (team, _) => (team, name),
    };
    for part in team.iter().copied().chain([name]) {
        let written = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if part.is_empty() || !part.bytes().all(written) {
            return Err(invalid_name(part, "a name is made of letters, digits, '-', '_' and '.'"));
        }
        // A team so called would make its members look like the person or a run.
        if [EVERYONE, GLOBAL, HUMAN, RUNNER].iter().any(|kept| part.eq_ignore_ascii_case(kept)) || is_managed_name(part) {
            return Err(invalid_name(part, "this name is kept for somebody else"));
        }
    }
    let full = team.map_or_else(|| name.to_owned(), |team| format!("{team}/{name}"));
    if full.len() > MAX_NAME_BYTES { Err(invalid_name(&full, &format!("it has more than {MAX_NAME_BYTES} bytes"))) } else { Ok(full) }
}

/// Whether a name is of the kind that the agents have which we run, in whatever case: `coder-TASK-012`. Nobody else can take one.
pub fn is_managed_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    AgentKind::ALL.iter().any(|phase| name.strip_prefix(phase.as_str()).is_some_and(|rest| rest.starts_with("-task-")))
}

fn invalid_name(given: &str, problem: &str) -> Refusal {
    let given: String = given.chars().take(MAX_NAME_BYTES).collect();
    Refusal::invalid("agent_name", format!("\"{given}\" is not taken: {problem}"), "Choose a name like mara, or mara with the team platform.")
}

/// Whether `given` may stand for `full`: the name itself, or the part behind its team.
pub fn is_short_for(given: &str, full: &str) -> bool {
    given == full || full.split_once('/').is_some_and(|(_, name)| name == given)
}

/// Whether two full names have the same short one, so that either could be meant by it.
pub fn have_same_short_name(one: &str, other: &str) -> bool {
    short(one).eq_ignore_ascii_case(short(other))
}

/// The part of a name behind its team.
fn short(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, short)| short)
}

/// Which of `names` is meant by `given`. A short name means the one of the speaker's own team first, then whoever is called just so.
///
/// # Errors
/// When nobody is called so, with the nearest names, or when several are.
pub fn resolve<'a>(given: &str, speaker: &str, names: &[&'a str]) -> Result<&'a str, Refusal> {
    let given = given.trim();
    let own_team = speaker.split_once('/').map(|(team, _)| format!("{team}/{given}"));
    let called = |wanted: &str| names.iter().copied().find(|name| *name == wanted);
    if let Some(meant) = own_team.as_deref().and_then(called).or_else(|| called(given)) {
        return Ok(meant);
    }
    let meant: Vec<&'a str> = names.iter().copied().filter(|name| is_short_for(given, name)).collect();
    match meant.as_slice() {
        [only] => Ok(only),
        [] => Err(Refusal::UnknownAgent { name: given.chars().take(MAX_NAME_BYTES).collect(), nearest: nearest(given, names) }),
        several => Err(Refusal::AmbiguousAgent { name: given.to_owned(), candidates: several.iter().map(|name| (*name).to_owned()).collect() }),
    }
}

/// The names most like `given` in whatever case, at most three, the nearest first.
fn nearest(given: &str, names: &[&str]) -> Vec<String> {
    // As much of it as could be a name.
    let given: String = given.chars().take(MAX_NAME_BYTES).collect::<String>().to_lowercase();
    let likeness = |name: &str| {
        let name = name.to_lowercase();
        strsim::jaro_winkler(&given, &name).max(strsim::jaro_winkler(&given, short(&name)))
    };
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|name| (likeness(name), *name)).filter(|(likeness, _)| *likeness > 0.6).collect();
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests;
