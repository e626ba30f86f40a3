//! Labels and colours of the area *team*: liveness and trust of agents, names, handshakes, contracts and helpers.
//!
//! Must not decide anything.

use domain::team::agent::{Agent, EVERYONE, Health, is_managed_name};
use domain::team::contract::ContractType;
use domain::team::handshake::HandshakeStatus;
use domain::team::minion::MinionStatus;

use super::Tone;
use crate::reader::Reader;

/// The liveness of an agent. A managed agent sends no heartbeats between its runs.
pub(crate) fn presence_badge(agent: &Agent) -> (&'static str, Tone) {
    match agent.health {
        _ if agent.left_at.is_some() => ("left", Tone::Neutral),
        _ if agent.run_id.is_some() && agent.task_id.is_none() => ("between runs", Tone::Neutral),
        Health::Healthy => ("healthy", Tone::Good),
        Health::Stale => ("stale", Tone::Warn),
        Health::Dead => ("dead", Tone::Bad),
        Health::Unknown => ("never seen", Tone::Neutral),
    }
}

/// The reason why an agent is trusted, or that it is not.
pub(crate) const fn trust_label(agent: &Agent) -> &'static str {
    match (&agent.run_id, agent.trusted) {
        (Some(_), _) => "managed",
        (None, true) => "trusted",
        (None, false) => "joined with an invite token",
    }
}

/// A participant's name on screen, at the beginning of a line.
pub(crate) fn name_heading(name: &str) -> String {
    if Reader::current().is(name) { "You".to_owned() } else { name_label(name) }
}

/// A participant's name on screen.
pub(crate) fn name_label(name: &str) -> String {
    match name {
        EVERYONE => "everyone".to_owned(),
        name => Reader::current().person_label(name).unwrap_or_else(|| name.to_owned()),
    }
}

/// The participant that approved a task, within a line. All managed reviewers are one to the person.
pub(crate) fn reviewer_label(name: &str) -> String {
    if is_managed_name(name) { "the reviewer".to_owned() } else { name_label(name) }
}

/// The same in a cell of its own.
pub(crate) fn reviewer_heading(name: &str) -> String {
    if is_managed_name(name) { "Reviewer".to_owned() } else { name_heading(name) }
}

/// Several names, such as `mara, jon and you`.
pub(crate) fn names_label<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(name_label).collect();
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

pub(crate) const fn handshake_badge(status: HandshakeStatus) -> (&'static str, Tone) {
    match status {
        HandshakeStatus::Pending => ("Open", Tone::Warn),
        HandshakeStatus::Completed => ("Completed", Tone::Good),
    }
}

pub(crate) const fn contract_label(kind: ContractType) -> &'static str {
    match kind {
        ContractType::Function => "Functions",
        ContractType::DomId => "DOM ids",
        ContractType::CssClass => "CSS classes",
        ContractType::FilePath => "File paths",
        ContractType::ApiEndpoint => "API endpoints",
        ContractType::Event => "Events",
        ContractType::Other => "Other",
    }
}

pub(crate) const fn minion_badge(status: MinionStatus) -> (&'static str, Tone) {
    match status {
        MinionStatus::Spawned => ("Working", Tone::Live),
        MinionStatus::Completed => ("Finished", Tone::Good),
        MinionStatus::Failed => ("Failed", Tone::Bad),
    }
}

#[cfg(test)]
mod tests {
    use domain::id::{RunId, TaskId};
    use domain::time::Timestamp;

    use super::*;
    use crate::testing::agent;

    #[test]
    fn idle_managed_agent_is_not_dead() {
        let dead = Agent { health: Health::Dead, ..agent("mara") };
        assert_eq!(presence_badge(&dead).0, "dead");
        let managed = Agent { run_id: Some(RunId::new(1)), ..dead.clone() };
        assert_eq!(presence_badge(&managed).0, "between runs");
        assert_eq!(presence_badge(&Agent { task_id: Some(TaskId::new(1)), ..managed }).0, "dead");
        assert_eq!(presence_badge(&Agent { left_at: Some(Timestamp::from_milliseconds(0)), ..dead }).0, "left");
    }

    #[test]
    fn names_are_joined_with_and() {
        assert_eq!(names_label([]), "");
        assert_eq!(names_label(["mara"]), "mara");
        assert_eq!(names_label(["platform/mara", "jon", "human"]), "platform/mara, jon and you");
    }
}
