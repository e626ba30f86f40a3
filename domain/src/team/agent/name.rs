//! Names of participants: which are valid, which are reserved, and which one a short name means.
//!
//! Must not know who uses a name: the store checks tokens.

use crate::runs::agent_kind::AgentKind;
use crate::team::minion::GLOBAL;

/// The recipient that stands for every participant but the sender.
pub const EVERYONE: &str = "all";
/// The human, who receives messages like an agent.
pub const HUMAN: &str = "human";
/// The machine, which reports completed handshakes.
pub const RUNNER: &str = "runner";

/// The oracle of a zone that the runner starts when someone asks.
pub const MANAGED: &str = "managed";

/// The maximum length of a name with its team, in bytes.
pub const MAX_NAME_BYTES: usize = 80;

/// The reason why a name is not usable.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    #[error("\"{name}\" is not a valid name: {problem}")]
    Invalid { name: String, problem: String },
    #[error("no participant is named {name}")]
    Unknown { name: String, nearest: Vec<String> },
    #[error("{name} could be {}", candidates.join(" or "))]
    Ambiguous { name: String, candidates: Vec<String> },
}

/// Returns the full name of an agent of `team`, such as `platform/mara`.
///
/// # Errors
/// The name or the team is too long, contains other characters than letters, digits, `-`, `_` and `.`, or is reserved in any case for the
/// human, the runner, managed agents or all participants.
pub fn full_name(name: &str, team: Option<&str>) -> Result<String, NameError> {
    let (team, name) = match (team, name.split_once('/')) {
        (Some(team), Some((given, name))) if given == team => (Some(team), name),
        (None, Some((team, name))) => (Some(team), name),
        (team, _) => (team, name),
    };
    for part in team.iter().copied().chain([name]) {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        if part.is_empty() || !part.bytes().all(is_allowed) {
            return Err(invalid_name(part, "use only letters, digits, '-', '_' and '.'"));
        }
        // A team with a reserved name would make its members look like the human or a managed agent.
        if [EVERYONE, GLOBAL, HUMAN, RUNNER, MANAGED].iter().any(|reserved| part.eq_ignore_ascii_case(reserved)) || is_managed_name(part) {
            return Err(invalid_name(part, "this name is reserved"));
        }
    }
    let full = team.map_or_else(|| name.to_owned(), |team| format!("{team}/{name}"));
    if full.len() > MAX_NAME_BYTES { Err(invalid_name(&full, &format!("it has more than {MAX_NAME_BYTES} bytes"))) } else { Ok(full) }
}

/// Whether a name has the form of a managed agent's name in any case, such as `coder-TASK-012`. External agents cannot use such a name.
pub fn is_managed_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    AgentKind::ALL.iter().any(|phase| name.strip_prefix(phase.as_str()).is_some_and(|rest| rest.starts_with("-task-")))
}

fn invalid_name(given: &str, problem: &str) -> NameError {
    NameError::Invalid { name: given.chars().take(MAX_NAME_BYTES).collect(), problem: problem.to_owned() }
}

/// Whether `given` can refer to `full`: it is the full name, or the part after the team.
pub fn is_short_for(given: &str, full: &str) -> bool {
    given == full || full.split_once('/').is_some_and(|(_, name)| name == given)
}

/// Whether two full names have the same short name, which would be ambiguous.
pub fn have_same_short_name(one: &str, other: &str) -> bool {
    short(one).eq_ignore_ascii_case(short(other))
}

/// The part of a name after its team.
fn short(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, short)| short)
}

/// Returns the one of `names` that `given` means. A short name prefers the speaker's own team, then an exact match.
///
/// # Errors
/// No name matches, or several do.
pub fn resolve<'a>(given: &str, speaker: &str, names: &[&'a str]) -> Result<&'a str, NameError> {
    let given = given.trim();
    let in_own_team = speaker.split_once('/').map(|(team, _)| format!("{team}/{given}"));
    let find = |wanted: &str| names.iter().copied().find(|name| *name == wanted);
    if let Some(exact) = in_own_team.as_deref().and_then(find).or_else(|| find(given)) {
        return Ok(exact);
    }
    let matches: Vec<&'a str> = names.iter().copied().filter(|name| is_short_for(given, name)).collect();
    match matches.as_slice() {
        [only] => Ok(only),
        [] => Err(NameError::Unknown { name: given.chars().take(MAX_NAME_BYTES).collect(), nearest: nearest(given, names) }),
        several => Err(NameError::Ambiguous { name: given.to_owned(), candidates: several.iter().map(|name| (*name).to_owned()).collect() }),
    }
}

/// Returns up to three names similar to `given` in any case, the most similar first.
fn nearest(given: &str, names: &[&str]) -> Vec<String> {
    let given: String = given.chars().take(MAX_NAME_BYTES).collect::<String>().to_lowercase();
    let similarity = |name: &str| {
        let name = name.to_lowercase();
        strsim::jaro_winkler(&given, &name).max(strsim::jaro_winkler(&given, short(&name)))
    };
    let mut ranked: Vec<(f64, &str)> = names.iter().map(|name| (similarity(name), *name)).filter(|(similarity, _)| *similarity > 0.6).collect();
    ranked.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    ranked.into_iter().take(3).map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests;
