//! Outcome of a run, whether it counts as an attempt, and the table of everything that goes wrong.

pub mod table;

use crate::runs::parking::ParkReason;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// The outcome of a run.
    EndClass, "end of a run" {
        /// It moved its card.
        Finished = "finished",
        /// It asked the human; the session continues with the answer.
        AwaitingAnswer = "asked",
        /// It was stopped, or its card was moved.
        Stopped = "stopped",
        Failed = "failed",
        /// An outage unrelated to the task ended it.
        Parked = "parked",
        /// It reached a limit and handed over. It does not count as an attempt.
        Limited = "limited",
        /// Its checkout could not be set up, so its agent never started. It does not count as an attempt.
        NotSetUp = "not_set_up",
    }
}

vocabulary! {
    /// The cause of a failed run.
    FailureClass, "failure" {
        /// The process ended by an error of its own, without a result.
        Crashed = "crashed",
        /// A signal from outside ended the process.
        Killed = "killed",
        /// The process and its shim ended without an exit record.
        Lost = "lost",
        ApiError = "api_error",
        /// It worked for as long as one run may.
        TimedOut = "timed_out",
        /// It made as many requests as one run may.
        MaxTurns = "max_turns",
        /// It, its task, its project or the day used up its budget.
        Budget = "budget",
        /// Its conversation had no room left.
        ContextFull = "context_full",
        /// It was reminded once and still ended without moving its card.
        NoOutcome = "no_move",
        /// It printed no output for too long.
        Unresponsive = "silent",
        /// A hook of the repository refused its commit, and it ended without moving its card.
        CommitHook = "commit_hook",
        /// Its commit could not be signed, and it ended without moving its card.
        CommitSigning = "commit_signing",
        /// Its program printed no result where its protocol demands one.
        Protocol = "protocol",
        /// The checkout could not be created.
        Checkout = "checkout",
        /// A setup command of the project failed.
        Setup = "setup",
        Spawn = "spawn",
        RateLimited = "rate_limited",
        SignedOut = "signed_out",
        NoCredit = "no_credit",
        ProgramMissing = "program_missing",
        RootRefused = "root_refused",
        /// No jail could be built for it.
        Sandbox = "sandbox",
        McpNotConnected = "mcp_not_connected",
        /// The model service is unreachable or returned a server error.
        ServiceUnreachable = "service_unreachable",
        DiskFull = "disk_full",
        /// A limit on open files, processes or memory.
        SystemLimit = "system_limit",
    }
}

impl FailureClass {
    /// Describes the failure.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Crashed => "the agent's process crashed",
            Self::Killed => "the agent's process was killed",
            Self::Lost => "the agent's process disappeared",
            Self::ApiError => "the model service returned an error",
            Self::TimedOut => "the agent used all its time",
            Self::MaxTurns => "the agent used all its requests",
            Self::Budget => "the budget is used up",
            Self::ContextFull => "the conversation was full",
            Self::NoOutcome => "the agent ended without moving its card",
            Self::CommitHook => "a hook of the repository refused its commit",
            Self::CommitSigning => "its commit could not be signed",
            Self::Unresponsive => "the agent stopped responding",
            Self::Protocol => "the agent program violated its protocol",
            Self::Checkout => "its checkout could not be created",
            Self::Setup => "its checkout could not be set up",
            Self::Spawn => "its process could not be started",
            Self::RateLimited => ParkReason::RateLimited.sentence(),
            Self::SignedOut => ParkReason::SignedOut.sentence(),
            Self::NoCredit => ParkReason::NoCredit.sentence(),
            Self::ProgramMissing => ParkReason::ProgramMissing.sentence(),
            Self::RootRefused => ParkReason::RootRefused.sentence(),
            Self::Sandbox => "its jail could not be built",
            Self::McpNotConnected => ParkReason::McpNotConnected.sentence(),
            Self::ServiceUnreachable => ParkReason::ServiceUnreachable.sentence(),
            Self::DiskFull => ParkReason::DiskFull.sentence(),
            Self::SystemLimit => ParkReason::SystemLimit.sentence(),
        }
    }

    /// Whether a limit ended the run, which then used no attempt. Usually the card needs the human, and raising the limit lets the next run
    /// continue the session. After a full conversation the next run starts a new one at once.
    pub const fn is_limit(self) -> bool {
        matches!(self, Self::TimedOut | Self::MaxTurns | Self::Budget | Self::ContextFull)
    }

    /// Returns the reason to park all agents, if the failure is unrelated to the task. Such a run does not count as an attempt.
    pub const fn park_reason(self) -> Option<ParkReason> {
        match self {
            Self::RateLimited => Some(ParkReason::RateLimited),
            Self::SignedOut => Some(ParkReason::SignedOut),
            Self::NoCredit => Some(ParkReason::NoCredit),
            Self::ProgramMissing => Some(ParkReason::ProgramMissing),
            Self::RootRefused => Some(ParkReason::RootRefused),
            Self::McpNotConnected => Some(ParkReason::McpNotConnected),
            Self::ServiceUnreachable => Some(ParkReason::ServiceUnreachable),
            Self::DiskFull => Some(ParkReason::DiskFull),
            Self::SystemLimit => Some(ParkReason::SystemLimit),
            _ => None,
        }
    }

    /// Returns the reaction of the runner.
    pub const fn reaction(self) -> Reaction {
        match self {
            Self::ContextFull => Reaction::NewSession,
            Self::Setup => Reaction::AskAboutSetup,
            _ if self.is_limit() => Reaction::Ask,
            _ if self.park_reason().is_some() => Reaction::Park,
            _ => Reaction::Retry,
        }
    }

    /// Says what the human can do.
    pub const fn remedy(self) -> &'static str {
        if let Some(reason) = self.park_reason() {
            return reason.remedy();
        }
        match self {
            Self::Crashed | Self::Unresponsive => "Read the end of the attempt's output, then press Retry.",
            Self::Killed | Self::Lost => "Find out what ended it, for example a lack of memory, then press Retry.",
            Self::ApiError => "Choose another model or shorten the task, as the answer of the service suggests, then press Retry.",
            Self::TimedOut | Self::MaxTurns => "Press Raise to let a new attempt continue, or split the task.",
            Self::Budget => "Press Raise to spend more, or cancel the task.",
            Self::ContextFull => "Nothing to do: the task continues in a new conversation. Split it if that happens often.",
            Self::NoOutcome => "Reply to its last message in a comment, then press Retry.",
            Self::CommitHook => {
                "Read what the hook printed and provide what it needs, for example with the setup commands in the settings of the project, then press Retry."
            }
            Self::CommitSigning => {
                "Let agents run in a jail, where they do not sign, or use a key that does not ask for a passphrase, then press Retry."
            }
            Self::Protocol => "Make sure that \"agent_command\" names a supported program, then press Retry.",
            Self::Setup => "Read the end of the attempt's output, fix the setup commands in the settings of the project, then press Retry.",
            Self::Sandbox => "Run `vibe-relay doctor` and do what it says, then press Retry.",
            _ => "Do what the error says, then press Retry.",
        }
    }
}

/// The reaction of the runner to a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// Another attempt of the task.
    Retry,
    /// No agent starts until the outage is over.
    Park,
    /// The task waits for a raised limit.
    Ask,
    /// The task goes on in a new session.
    NewSession,
    /// The task waits for a person, who repairs the setup.
    AskAboutSetup,
}

impl Reaction {
    /// Describes the reaction.
    pub const fn sentence(self) -> &'static str {
        match self {
            Self::Retry => {
                "Tries again after a growing pause. After `max_attempts` failures, or two identical ones, the card needs you. The next agent is \
                 told how this one ended."
            }
            Self::Park => "Starts no agent of any task, and lets one try from time to time. No attempt is used.",
            Self::Ask => "Asks the agent to hand over, ends it, and asks you. No attempt is used.",
            Self::NewSession => "Starts a new session, which reads where the last one stopped. No attempt is used.",
            Self::AskAboutSetup => "Starts no agent, and asks you. No attempt is used.",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_environment_failures_park() {
        let parking: Vec<&str> = FailureClass::ALL.iter().filter(|class| class.park_reason().is_some()).map(|class| class.as_str()).collect();
        // A jail that cannot be built is the fault of one task. Checks before the first start find that no jail works, or that the program is too old.
        let found_by_runs = ParkReason::ALL.iter().filter(|reason| !matches!(reason, ParkReason::Sandbox | ParkReason::ProgramTooOld));
        let expected: Vec<&str> = found_by_runs.map(|reason| reason.as_str()).collect();
        assert_eq!(parking, expected);
    }

    #[test]
    fn each_failure_has_one_reaction_and_a_remedy_for_it() {
        for class in FailureClass::ALL.iter().copied() {
            let remedy = class.remedy();
            match class.reaction() {
                Reaction::Retry | Reaction::AskAboutSetup => assert!(remedy.ends_with("then press Retry."), "{class}: {remedy}"),
                Reaction::Ask => assert!(remedy.starts_with("Press Raise"), "{class}: {remedy}"),
                Reaction::Park => assert_eq!(Some(remedy), class.park_reason().map(ParkReason::remedy)),
                Reaction::NewSession => assert_eq!(class, FailureClass::ContextFull),
            }
        }
    }

    #[test]
    fn limits_neither_park_nor_count_as_attempts() {
        let limits: Vec<&str> = FailureClass::ALL.iter().filter(|class| class.is_limit()).map(|class| class.as_str()).collect();
        assert_eq!(limits, ["timed_out", "max_turns", "budget", "context_full"]);
        assert!(FailureClass::ALL.iter().all(|class| !class.is_limit() || class.park_reason().is_none()));
    }
}
