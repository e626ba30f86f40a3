//! Who calls a use-case. Decided by a token, never by an argument.

use domain::actor::Actor;
use domain::id::{ProjectId, RunId, TaskId};
use domain::refusal::Refusal;
use domain::run::Run;
use domain::task::Phase;
use domain::transition::Mover;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    Human,
    Runner,
    Run(RunCaller),
}

/// An agent that we run, through its run's token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunCaller {
    pub run_id: RunId,
    pub task_id: TaskId,
    pub project_id: ProjectId,
    pub phase: Phase,
    /// What the client calls this request. A repeated one gets the stored answer.
    pub call_id: Option<String>,
}

impl Caller {
    pub fn actor(&self) -> Actor {
        match self {
            Self::Human => Actor::Human,
            Self::Runner => Actor::Runner,
            Self::Run(run) => Actor::Agent(Run::agent_name(run.phase, &run.task_id)),
        }
    }

    pub fn mover(&self) -> Mover {
        match self {
            Self::Human => Mover::Human,
            Self::Runner => Mover::Runner,
            Self::Run(run) => run.phase.into(),
        }
    }

    pub fn run(&self) -> Option<&RunId> {
        match self {
            Self::Run(run) => Some(&run.run_id),
            Self::Human | Self::Runner => None,
        }
    }

    pub(crate) fn call(&self) -> Option<(&RunId, &str)> {
        match self {
            Self::Run(run) => run.call_id.as_deref().map(|call| (&run.run_id, call)),
            Self::Human | Self::Runner => None,
        }
    }

    /// Refuses everybody but the person.
    pub(crate) fn human_only(&self, action: &str) -> Result<(), Refusal> {
        match self {
            Self::Human => Ok(()),
            Self::Runner | Self::Run(_) => Err(Refusal::HumanOnly { action: action.to_owned() }),
        }
    }
}
