//! The jail of an agent: bubblewrap around the agent program, with its own processes, a sealed home, and a repository in which only the
//! task's own branch can be written.
//!
//! | step | module |
//! |---|---|
//! | find out which tier works here, by trying | [`probe`] |
//! | choose the tier of a run | [`choice`] |
//! | collect what the agent may see and write | [`layout`], `home`, [`paths`] |
//! | create what the mounts need | [`prepare`] |
//! | command line of bubblewrap | [`arguments`] |
//! | recognize what the jail refused | [`refusal`] |
//! | allow connections to listed hosts | [`egress`], [`proxy`], [`forward`] |
//! | let a browser reach an app inside | [`inbound`] |
//!
//! It must not know tasks or the store. The shim starts the jail and stays outside.

pub mod arguments;
pub mod choice;
pub mod egress;
pub mod forward;
mod home;
pub mod inbound;
pub mod layout;
pub mod paths;
pub mod prepare;
pub mod probe;
pub mod proxy;
pub mod refusal;

use std::path::PathBuf;

use domain::runs::sandbox::SandboxTier;
use serde::{Deserialize, Serialize};

/// The jail of one run, as the shim starts it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JailSpec {
    pub tier: SandboxTier,
    /// The absolute path of bubblewrap.
    pub program: PathBuf,
    /// Its arguments, without the agent's command.
    pub arguments: Vec<String>,
    /// Tells refusals from other errors.
    pub scope: refusal::Scope,
    /// Ports inside the jail that lead out of it; none while the network is shared.
    pub forwards: Vec<forward::Forward>,
    /// Ports outside that lead into the jail; none while the network is shared.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inbound: Vec<inbound::Inbound>,
    /// The hosts that the proxy connects to.
    pub hosts: Vec<String>,
}

impl JailSpec {
    /// The same jail with ports of this machine that lead into it, if it has no network. Otherwise its programs use those of the machine.
    #[must_use]
    pub fn with_inbound(self, inbound: &[inbound::Inbound]) -> Self {
        Self { inbound: if self.tier == SandboxTier::JailNet { inbound.to_vec() } else { Vec::new() }, ..self }
    }
}
