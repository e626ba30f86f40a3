//! Finds out which tiers work on this machine, by starting each. Versions and files of the kernel do not tell.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::runs::sandbox::SandboxTier;

use super::arguments::probe_arguments;
use crate::process::{self, ProcessError};

const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// The name of bubblewrap.
pub const PROGRAM: &str = "bwrap";
/// The switch of Ubuntu 24.04 that stops bubblewrap of an ordinary user.
const APPARMOR_SWITCH: &str = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

/// The tiers that work on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxProbe {
    /// The path of bubblewrap, if it is installed.
    pub program: Option<PathBuf>,
    pub jail: Result<(), ProbeFailure>,
    pub jail_net: Result<(), ProbeFailure>,
}

/// Why a tier does not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProbeFailure {
    #[error("bubblewrap is not installed")]
    NotInstalled,
    #[error("AppArmor stops bubblewrap, as on Ubuntu 24.04: {text}")]
    AppArmor { text: String },
    #[error("this container does not let bubblewrap create namespaces: {text}")]
    Container { text: String },
    #[error("the kernel does not let bubblewrap create namespaces: {text}")]
    Namespaces { text: String },
    #[error("bubblewrap failed: {text}")]
    Failed { text: String },
}

impl ProbeFailure {
    /// Returns the remedy that makes the tier work.
    pub fn cure(&self) -> String {
        match self {
            Self::NotInstalled => "Install it with `apt install bubblewrap` or `dnf install bubblewrap`.".to_owned(),
            Self::AppArmor { .. } => {
                format!("Write the following to /etc/apparmor.d/bwrap and run `sudo apparmor_parser -r /etc/apparmor.d/bwrap`:\n{APPARMOR_PROFILE}")
            }
            Self::Container { .. } => "The container itself is the sandbox: start vibe-relay in it with \"sandbox\": \"none\". Or start the \
                 container with `--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined`."
                .to_owned(),
            Self::Namespaces { .. } => "Allow user namespaces, for example with `sysctl kernel.unprivileged_userns_clone=1`, or run vibe-relay in \
                 a container."
                .to_owned(),
            Self::Failed { .. } => "Update it, or run `bwrap --ro-bind / / true` to see why it fails.".to_owned(),
        }
    }
}

/// A profile that lets bubblewrap create user namespaces, as newer versions of Ubuntu include it.
pub const APPARMOR_PROFILE: &str = "abi <abi/4.0>,
include <tunables/global>
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}";

/// The facts about a machine that decide what cures a failure. They never decide whether a tier works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings {
    pub is_container: bool,
    pub has_apparmor_switch: bool,
}

impl SandboxProbe {
    /// Tries every tier.
    pub async fn run() -> Self {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let Some(program) = process::find_program(PROGRAM, &path) else { return Self::without_program() };
        let surroundings = Surroundings::read();
        let jail = attempt(&program, true, surroundings).await;
        let jail_net = attempt(&program, false, surroundings).await;
        Self { program: Some(program), jail, jail_net }
    }

    pub(super) fn without_program() -> Self {
        Self { program: None, jail: Err(ProbeFailure::NotInstalled), jail_net: Err(ProbeFailure::NotInstalled) }
    }

    /// Whether the tier works here.
    ///
    /// # Errors
    /// Why it does not, and what to do.
    pub fn check(&self, tier: SandboxTier) -> Result<(), &ProbeFailure> {
        match tier {
            SandboxTier::None => Ok(()),
            SandboxTier::Jail => self.jail.as_ref().copied(),
            SandboxTier::JailNet => self.jail.as_ref().and(self.jail_net.as_ref()).copied(),
        }
    }
}

impl Surroundings {
    fn read() -> Self {
        let is_container = ["/.dockerenv", "/run/.containerenv"].iter().any(|path| Path::new(path).exists());
        let has_apparmor_switch = std::fs::read_to_string(APPARMOR_SWITCH).is_ok_and(|value| value.trim() == "1");
        Self { is_container, has_apparmor_switch }
    }
}

async fn attempt(program: &Path, shares_network: bool, surroundings: Surroundings) -> Result<(), ProbeFailure> {
    let arguments = probe_arguments(shares_network);
    match process::probe(program, &arguments, PROBE_TIMEOUT).await {
        Ok(output) if output.code == Some(0) => Ok(()),
        Ok(output) => Err(classify(&output.stderr, surroundings)),
        Err(ProcessError::Start { .. }) => Err(ProbeFailure::NotInstalled),
        Err(error) => Err(ProbeFailure::Failed { text: error.to_string() }),
    }
}

/// The cause of bubblewrap's message.
fn classify(stderr: &str, surroundings: Surroundings) -> ProbeFailure {
    let text = stderr.trim().to_owned();
    let namespaces = ["setting up uid map", "No permissions to create", "Creating new namespace failed", "RTM_NEWADDR", "Can't mount proc"];
    if !namespaces.iter().any(|message| text.contains(message)) {
        return ProbeFailure::Failed { text };
    }
    match surroundings {
        Surroundings { is_container: true, .. } => ProbeFailure::Container { text },
        Surroundings { has_apparmor_switch: true, .. } => ProbeFailure::AppArmor { text },
        _ => ProbeFailure::Namespaces { text },
    }
}

#[cfg(test)]
mod tests;
