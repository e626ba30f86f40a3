//! Words and colours of what happens among agents: presence, goals, handshakes, contracts, minions.
//!
//! Must not decide anything.

use domain::board::goal::{GoalStatus, Progress};
use domain::team::agent::{Agent, EVERYONE, HUMAN, Health};
use domain::team::contract::ContractType;
use domain::team::handshake::HandshakeStatus;
use domain::team::minion::MinionStatus;

use super::Tone;

/// How an agent is. One that we run may be silent between its runs without being lost.
pub(crate) fn presence_look(agent: &Agent) -> (&'static str, Tone) {
    match agent.health {
        _ if agent.left_at.is_some() => ("left", Tone::Neutral),
        _ if agent.run_id.is_some() && agent.task_id.is_none() => ("between runs", Tone::Neutral),
        Health::Healthy => ("healthy", Tone::Good),
        Health::Stale => ("stale", Tone::Warn),
        Health::Dead => ("dead", Tone::Bad),
        Health::Unknown => ("never seen", Tone::Neutral),
    }
}

/// Who vouches for an agent.
pub(crate) const fn voucher_word(agent: &Agent) -> &'static str {
    match (&agent.run_id, agent.trusted) {
        (Some(_), _) => "run from here",
        (None, true) => "verified",
        (None, false) => "joined with a room token",
    }
}

/// A participant's name as the person reads it.
pub(crate) fn name_word(name: &str) -> String {
    match name {
        HUMAN => "you".to_owned(),
        EVERYONE => "everybody".to_owned(),
        name => name.to_owned(),
    }
}

/// Several names: `mara, jon and you`.
pub(crate) fn names_word<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let mut names: Vec<String> = names.into_iter().map(name_word).collect();
    match names.pop() {
        None => String::new(),
        Some(last) if names.is_empty() => last,
        Some(last) => format!("{} and {last}", names.join(", ")),
    }
}

pub(crate) const fn goal_look(status: GoalStatus) -> (&'static str, Tone) {
    match status {
        GoalStatus::Open => ("Open", Tone::Neutral),
        GoalStatus::Active => ("Active", Tone::Live),
        GoalStatus::PendingVerify => ("Waits for sign-off", Tone::Warn),
        GoalStatus::Verified => ("Verified", Tone::Good),
    }
}

/// How far a goal is, in words.
pub(crate) fn progress_word(progress: Progress) -> String {
    let Progress { linked, completed, verified, .. } = progress;
    match linked {
        0 => "No tasks yet".to_owned(),
        _ if completed > verified => format!("{verified} of {linked} verified, {} more done", completed - verified),
        _ => format!("{verified} of {linked} verified"),
    }
}

pub(crate) const fn handshake_look(status: HandshakeStatus) -> (&'static str, Tone) {
    match status {
        HandshakeStatus::Pending => ("Open", Tone::Warn),
        HandshakeStatus::Completed => ("Completed", Tone::Good),
    }
}

pub(crate) const fn contract_word(kind: ContractType) -> &'static str {
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

pub(crate) const fn minion_look(status: MinionStatus) -> (&'static str, Tone) {
    match status {
        MinionStatus::Spawned => ("At work", Tone::Live),
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
    fn silence_between_runs_is_no_loss() {
        let dead = Agent { health: Health::Dead, ..agent("mara") };
        assert_eq!(presence_look(&dead).0, "dead");
        let ours = Agent { run_id: Some(RunId::new(1)), ..dead.clone() };
        assert_eq!(presence_look(&ours).0, "between runs");
        assert_eq!(presence_look(&Agent { task_id: Some(TaskId::new(1)), ..ours }).0, "dead");
        assert_eq!(presence_look(&Agent { left_at: Some(Timestamp::from_milliseconds(0)), ..dead }).0, "left");
    }

    #[test]
    fn names_read_as_a_sentence() {
        assert_eq!(names_word([]), "");
        assert_eq!(names_word(["mara"]), "mara");
        assert_eq!(names_word(["platform/mara", "jon", "human"]), "platform/mara, jon and you");
    }

    #[test]
    fn progress_says_what_is_verified_and_what_only_done() {
        let progress = |completed, verified| progress_word(Progress { linked: 4, started: 4, completed, verified });
        assert_eq!(progress(0, 0), "0 of 4 verified");
        assert_eq!(progress(3, 1), "1 of 4 verified, 2 more done");
        assert_eq!(progress(4, 4), "4 of 4 verified");
        assert_eq!(progress_word(Progress::default()), "No tasks yet");
    }
}
