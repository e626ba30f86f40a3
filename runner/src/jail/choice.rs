//! Chooses the tier of the next run. Pure. It never chooses a weaker tier than the one that someone asked for.

use domain::config::Config;
use domain::runs::sandbox::{SandboxStatus, SandboxTier};

use super::probe::{ProbeFailure, SandboxProbe};
use crate::backend::{self, PROVIDER_IN_JAIL, SIGN_IN_BY_ENVIRONMENT, SignIn};

/// The tier of new runs, or why no run starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SandboxChoice {
    Run(SandboxTier),
    /// Nobody asked for a jail, and none works here.
    Unprotected(SandboxFinding),
    /// The wanted tier does not work here.
    Unavailable(SandboxFinding),
    /// A person has to choose first.
    Undecided {
        finding: SandboxFinding,
        /// The tiers that work here.
        choices: Vec<SandboxTier>,
    },
}

/// Why a tier is not used, and what a person can do about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxFinding {
    pub problem: String,
    pub cure: String,
}

impl SandboxFinding {
    fn of(wanted: &str, failure: &ProbeFailure) -> Self {
        Self { problem: format!("{wanted} does not work here: {failure}"), cure: failure.cure() }
    }

    fn detail(&self) -> String {
        format!("{}. {}", self.problem, self.cure)
    }
}

impl SandboxChoice {
    /// The tier that new runs get.
    ///
    /// # Errors
    /// Why no run starts, and what to do.
    pub fn tier(&self) -> Result<SandboxTier, String> {
        match self {
            Self::Run(tier) => Ok(*tier),
            Self::Unprotected(_) => Ok(SandboxTier::None),
            Self::Unavailable(finding) | Self::Undecided { finding, .. } => Err(finding.detail()),
        }
    }

    pub fn status(&self) -> SandboxStatus {
        let (detail, choices) = match self {
            Self::Run(_) => (None, Vec::new()),
            Self::Unprotected(finding) | Self::Unavailable(finding) => (Some(finding.detail()), Vec::new()),
            Self::Undecided { finding, choices } => (Some(finding.detail()), choices.clone()),
        };
        SandboxStatus { tier: self.tier().ok(), detail, choices }
    }
}

/// Chooses the tier of new runs on this machine, which it probes if the configuration leaves a choice or wants a jail.
pub async fn choose(config: &Config, answer: Option<SandboxTier>) -> SandboxChoice {
    if config.sandbox == Some(SandboxTier::None) {
        return SandboxChoice::Run(SandboxTier::None);
    }
    let probe = SandboxProbe::run().await;
    let sign_in = backend::sign_in(config, |name| std::env::var_os(name).is_some_and(|value| !value.is_empty()));
    ChoiceRequest { config, answer, sign_in, probe: &probe }.choose()
}

/// The facts that decide about a tier.
#[derive(Debug, Clone, Copy)]
pub struct ChoiceRequest<'a> {
    pub config: &'a Config,
    /// The tier that a person chose on the board.
    pub answer: Option<SandboxTier>,
    pub sign_in: SignIn,
    pub probe: &'a SandboxProbe,
}

impl ChoiceRequest<'_> {
    pub fn choose(&self) -> SandboxChoice {
        let minimum = self.config.sandbox_min;
        let demanded = self.config.sandbox.or(self.answer.filter(|tier| *tier >= minimum)).or((minimum > SandboxTier::None).then_some(minimum));
        if let Some(tier) = demanded {
            return match self.probe.check(tier) {
                Ok(()) => SandboxChoice::Run(tier),
                Err(failure) => SandboxChoice::Unavailable(SandboxFinding::of(&format!("The sandbox \"{tier}\""), failure)),
            };
        }
        match (self.probe.check(SandboxTier::Jail), self.sign_in) {
            (Err(failure), _) => SandboxChoice::Unprotected(SandboxFinding::of("A jail", failure)),
            (Ok(()), SignIn::Environment) => SandboxChoice::Run(SandboxTier::Jail),
            (Ok(()), SignIn::Provider | SignIn::Elsewhere) => {
                let works = |tier: &SandboxTier| self.probe.check(*tier).is_ok();
                SandboxChoice::Undecided { finding: undecided(self.sign_in), choices: SandboxTier::ALL.iter().copied().filter(works).collect() }
            }
        }
    }
}

fn undecided(sign_in: SignIn) -> SandboxFinding {
    let choose = "Choose whether agents run in a jail: in the dialog of a new project, or with \"sandbox\" in the configuration.";
    let (problem, more) = match sign_in {
        SignIn::Provider => (
            "This machine offers a jail, but the models are those of a cloud provider, whose files, such as ~/.aws, a jail hides from agents",
            PROVIDER_IN_JAIL,
        ),
        SignIn::Environment | SignIn::Elsewhere => (
            "This machine offers a jail, but the agent program is not signed in by an environment variable: in a jail it can read its sign-in \
             file but not renew it, so agents may end up signed out",
            SIGN_IN_BY_ENVIRONMENT,
        ),
    };
    SandboxFinding { problem: problem.to_owned(), cure: format!("{choose} {more}") }
}

#[cfg(test)]
mod tests;
