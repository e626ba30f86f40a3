//! The agent program that runs start. Everything else in this product speaks in run events and in the types of this file.
//!
//! Each backend is one module below this file, with the functions that are re-exported here. `claude` is the only one. A second
//! backend mirrors these functions, and this file then chooses between the two; see `docs/decisions/0010-one-tree-per-backend.md`.
//! Everything below is pure, except for what asks the installed program or reads the settings of the person.

mod claude;
pub mod outcome;

use std::path::{Path, PathBuf};

use domain::config::AgentSettings;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::permission::PermissionMode;
use uuid::Uuid;

pub use claude::control::{encode_interrupt, encode_permission};
pub use claude::decode::decode;
pub use claude::environment::{
    CONFIG_VARIABLE, INHERITED_PREFIXES, INHERITED_VARIABLES, PROVIDER_PREFIX, PROVIDER_VARIABLE_PREFIXES, SANDBOX as SANDBOX_VARIABLE, SERVICE_URL,
    SERVICE_VARIABLE, is_reserved_variable,
};
pub use claude::error::classify_stderr;
pub use claude::home::{PROVIDER_IN_JAIL, SIGN_IN_BY_ENVIRONMENT, agent_files, private_folder, sign_in};
pub use claude::hook;
pub use claude::launch::{FILES, encode, launch};
pub use claude::manual::resume_command;
pub use claude::probe::{TESTED_VERSION, VersionSupport, check_sign_in, check_version, needs_sign_in, parking_hint, version_support};
pub use claude::session::{RULE_FILES, left_sessions, remove_sessions};
pub use claude::sign_in::{SignInState, sign_in_state};
pub use claude::user_settings::settings_for_agents;

/// The name of the board's MCP server in an agent's configuration.
pub const BOARD_SERVER: &str = "vibe-relay";

/// The parameters of a launch.
#[derive(Debug, Clone, Copy)]
pub struct LaunchRequest<'a> {
    /// The agent program's absolute path, then the arguments that precede all others.
    pub command: &'a [String],
    pub phase: AgentKind,
    pub session: Session,
    /// The model; the program's default when missing.
    pub model: Option<&'a str>,
    /// The system prompt.
    pub role: &'a str,
    /// The instructions for the summary of a conversation that became too long.
    pub summary: &'a str,
    pub settings: AgentSettings,
    pub permissions: PermissionMode,
    /// The folder whose instructions (CLAUDE.md) the agent follows.
    pub rules: &'a Path,
    /// The run's folder, where the files of [`Launch`] will be.
    pub run_dir: &'a Path,
    /// This program, which is also the agent's bridge to the board and its hook.
    pub relay: &'a Path,
    pub task: &'a TaskId,
    /// The token of the run.
    pub token: &'a str,
    pub database: &'a Path,
}

/// The conversation that a run belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Session {
    /// A new one, under an id that was stored before the start.
    New(Uuid),
    Resume(Uuid),
}

/// Where the agent program finds the person's sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignIn {
    /// In variables of its environment.
    Environment,
    /// With a cloud provider, whose credentials may be in its own variables or files.
    Provider,
    /// In a file, or nowhere.
    Elsewhere,
}

/// The agent program's own files, as far as a sandbox has to know them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFiles {
    /// The folder of all its files.
    pub private: PathBuf,
    /// Files and folders below it that an agent may read.
    pub readable: Vec<PathBuf>,
    /// Folders below it that have to last, because a later run resumes the session in them.
    pub sessions: Vec<PathBuf>,
}

/// How an agent is started. The first message is not part of it: it goes over stdin, see [`encode`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Launch {
    pub argv: Vec<String>,
    pub environment: &'static [(&'static str, &'static str)],
    /// Files in the run's folder, as name and content. They hold the run's token: mode 0600.
    pub files: Vec<(&'static str, String)>,
}
