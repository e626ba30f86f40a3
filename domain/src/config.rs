//! The configuration: its keys, their defaults and the values that are rejected.
//!
//! Must not know where the file is or read it: the caller passes its text.

mod allowed_host;
mod error;
mod keys;
pub mod live;
mod log_levels;
pub mod origin;
pub mod setting;
pub mod table;
mod values;
pub mod webhook_keys;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use crate::config::error::ConfigError;
use crate::config::origin::{Origin, find, given_keys, value_at};
use crate::config::table::{Form, row_of};
use crate::prompt::Prompts;
use crate::rate_limit::RateLimits;
use crate::runs::agent_kind::AgentKind;
use crate::runs::limit::Limits;
use crate::runs::permission::PermissionMode;
use crate::runs::protected_paths;
use crate::runs::sandbox::SandboxTier;
use crate::team::webhook::Webhook;
use crate::vocabulary::vocabulary;
pub use crate::warroom::model::ModelRestrictions;

vocabulary! {
    /// When a write is answered.
    Durability, "durability" {
        /// After it is on the disk: an answered write survives a power cut.
        Full = "full",
        /// After the operating system has it: an answered write survives a crash of the program, but not of the machine.
        Normal = "normal",
    }
}

/// All settings. Every key is optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The repository of a new project that names none.
    pub repo_path: Option<PathBuf>,
    /// The base branch of new projects on the repository at `repo_path`; otherwise its checked-out branch.
    pub base_branch: Option<String>,
    /// The folder of the agents' checkouts. The program replaces this default by the folder of the installation, and that of the database too.
    pub worktrees_path: PathBuf,
    pub db_path: PathBuf,
    /// The folder of the log files; `None` for the folder `logs` beside the database.
    #[serde(skip)]
    pub logs_path: Option<PathBuf>,
    /// The port of the board; `None` for the one that it had last, or else the first free one from 9400 on.
    pub port: Option<u16>,
    /// Managed agents of all kinds that run at the same time.
    pub max_parallel_agents: u32,
    /// Failed attempts by one kind of agent before a task needs attention.
    pub max_attempts: u32,
    /// Rejections of a task before it needs attention.
    pub max_review_rounds: u32,
    /// Rejections of the same changes with the same findings before a task needs attention.
    pub max_repeated_rounds: u32,
    pub max_orchestrator_rounds: u32,
    /// How much time, requests and money agents may use.
    pub limits: Limits,
    /// The free space in MiB below which no agent starts, on the disks of the checkouts and of the database; `None` for 2048 or 5 % of the
    /// disk, whichever is less.
    pub min_free_disk_mib: Option<u64>,
    /// Globs of paths whose change is marked on the card, relative to the root of the repository.
    pub protected_paths: Vec<String>,
    /// Whether a person must approve such a change before it is merged.
    pub protected_paths_need_human: bool,
    /// The first and the last port that agents can lease.
    pub port_range: (u16, u16),
    /// Names under which a proxy on this machine passes requests of other devices on, with HTTPS, and a port unless it is 443.
    pub allowed_hosts: Vec<String>,
    pub durability: Durability,
    /// Days after which events, and the rows that only agents needed, are removed.
    pub keep_events_days: u32,
    /// The age in days after which rows of the audit log are removed.
    pub keep_audit_days: u32,
    /// How much each caller may write, search and send.
    pub rate_limits: RateLimits,
    /// The levels of the log, as `info` or `info,runner=debug`.
    pub log: String,
    /// The sandbox of agents. If it is missing, agents get a jail where this machine offers one and their sign-in works in it.
    pub sandbox: Option<SandboxTier>,
    /// Agents never start in a weaker sandbox.
    pub sandbox_min: SandboxTier,
    /// The agent program, which must support Claude Code's stream-json, and its first arguments.
    pub agent_command: Vec<String>,
    pub agents: AgentConfigs,
    /// The folder with files that replace what agents are told, named as in `agents/`.
    pub prompts_path: Option<PathBuf>,
    /// The texts for agents, which the server reads with the configuration.
    #[serde(skip)]
    pub prompts: Prompts,
    /// The models that external agents may have in each role.
    pub model_restrictions: ModelRestrictions,
    /// The addresses that receive notifications.
    pub webhooks: Vec<Webhook>,
    /// Where the values come from.
    #[serde(skip)]
    pub origin: Origin,
}

/// The settings of each kind of agent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfigs {
    pub planner: AgentConfig,
    pub coder: AgentConfig,
    pub reviewer: AgentConfig,
    pub orchestrator: AgentConfig,
    pub oracle: AgentConfig,
}

/// The settings of one kind of agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AgentConfig {
    /// The model; the agent program chooses one if it is missing.
    pub model: Option<String>,
    /// The file whose text replaces the system prompt, also that in `prompts_path`.
    pub system_prompt_file: Option<PathBuf>,
    /// Agents of this kind that run at the same time, within [`Config::max_parallel_agents`]; `None` for no limit of their own.
    pub max_parallel: Option<u32>,
    /// Minutes without output, CPU time and a tool at work after which an agent of this kind is ended; `None` for never.
    pub stall_minutes: Option<u32>,
    /// Environment variables for agents of this kind only.
    pub env: BTreeMap<String, String>,
    /// The settings of the agent program that apply to agents of this kind.
    pub settings: AgentSettings,
    /// Whether agents of this kind ask a person before they use a tool that changes something.
    pub permission_mode: PermissionMode,
}

/// The settings of the agent program that apply to agents.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentSettings {
    /// Those of the user who runs the server, with their hooks and CLAUDE.md.
    #[default]
    User,
    /// None but the program's defaults.
    None,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            model: None,
            system_prompt_file: None,
            max_parallel: None,
            // The program gives up a request to its model's service earlier, and repeats it.
            stall_minutes: Some(30),
            env: BTreeMap::new(),
            settings: AgentSettings::default(),
            permission_mode: PermissionMode::default(),
        }
    }
}

impl AgentConfigs {
    /// All kinds, to change what each of them has.
    pub fn each_mut(&mut self) -> [&mut AgentConfig; 5] {
        [&mut self.planner, &mut self.coder, &mut self.reviewer, &mut self.orchestrator, &mut self.oracle]
    }

    /// All kinds, in the order of their work.
    pub fn each(&self) -> [&AgentConfig; 5] {
        [&self.planner, &self.coder, &self.reviewer, &self.orchestrator, &self.oracle]
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            repo_path: None,
            base_branch: None,
            worktrees_path: PathBuf::from("~/.local/state/vibe-relay/worktrees"),
            db_path: PathBuf::from("~/.local/share/vibe-relay/vibe-relay.db"),
            logs_path: None,
            port: None,
            max_parallel_agents: 3,
            max_attempts: 3,
            max_review_rounds: 4,
            max_repeated_rounds: 2,
            max_orchestrator_rounds: 3,
            limits: Limits::default(),
            min_free_disk_mib: None,
            protected_paths: ["CLAUDE.md", "AGENTS.md", ".claude/**", ".github/workflows/**"].map(str::to_owned).to_vec(),
            protected_paths_need_human: false,
            port_range: (4000, 4099),
            allowed_hosts: Vec::new(),
            durability: Durability::Full,
            keep_events_days: 90,
            keep_audit_days: 365,
            rate_limits: RateLimits::default(),
            log: "info".to_owned(),
            sandbox: None,
            sandbox_min: SandboxTier::None,
            agent_command: vec!["claude".to_owned()],
            agents: AgentConfigs::default(),
            prompts_path: None,
            prompts: Prompts::default(),
            model_restrictions: ModelRestrictions::default(),
            webhooks: Vec::new(),
            origin: Origin::default(),
        }
    }
}

impl Config {
    /// The settings for agents of this kind.
    pub fn agent(&self, phase: AgentKind) -> &AgentConfig {
        match phase {
            AgentKind::Planner => &self.agents.planner,
            AgentKind::Coder => &self.agents.coder,
            AgentKind::Reviewer => &self.agents.reviewer,
            AgentKind::Orchestrator => &self.agents.orchestrator,
            AgentKind::Oracle => &self.agents.oracle,
        }
    }

    /// Parses and checks a configuration. Relative paths start at `folder`, and `~` stands for `home`.
    ///
    /// # Errors
    /// The first key that is repeated or unknown, with the nearest known key, or that has an invalid value.
    pub fn parse(text: &str, folder: &Path, home: &Path) -> Result<Self, ConfigError> {
        let given = keys::read(text)?;
        let known = serde_json::to_value(Self::default()).map_err(|error| ConfigError::Syntax(error.to_string()))?;
        keys::reject_unknown(&given, &known, "")?;
        let mut config: Self = serde_path_to_error::deserialize(&given).map_err(|error| {
            let (key, found) = (error.path().to_string(), value_at(&given, error.path()));
            webhook_keys::unexpected(&key, found).unwrap_or_else(|| ConfigError::wrong_type(&key, found, error.inner().to_string()))
        })?;
        config.origin.keys = given_keys(&given);
        reject_empty_texts(&given, &config.origin.keys)?;
        config.resolve_paths(folder, home);
        config.check(&given)?;
        Ok(config)
    }

    /// Makes every path absolute.
    pub fn resolve_paths(&mut self, folder: &Path, home: &Path) {
        let absolute = |path: &mut PathBuf| {
            *path = match path.strip_prefix("~") {
                Ok(rest) => home.join(rest),
                Err(_) => folder.join(&path),
            };
        };
        absolute(&mut self.worktrees_path);
        absolute(&mut self.db_path);
        self.repo_path.iter_mut().chain(&mut self.prompts_path).for_each(absolute);
        for agent in self.agents.each_mut() {
            agent.system_prompt_file.iter_mut().for_each(absolute);
        }
        for webhook in &mut self.webhooks {
            webhook.secret_file.iter_mut().for_each(absolute);
        }
    }

    /// Checks the values, of which those in the file are `given`.
    fn check(&self, given: &Value) -> Result<(), ConfigError> {
        let invalid = |key: &str, problem: &str| Err(ConfigError::value(key, problem));
        let unexpected = |key: &str| Err(ConfigError::unexpected(given, key));
        let limits = [
            ("max_parallel_agents", self.max_parallel_agents, 1, 64),
            ("max_attempts", self.max_attempts, 1, 20),
            ("max_review_rounds", self.max_review_rounds, 1, 50),
            ("max_repeated_rounds", self.max_repeated_rounds, 2, 50),
            ("max_orchestrator_rounds", self.max_orchestrator_rounds, 0, 50),
            ("keep_events_days", self.keep_events_days, 1, 3650),
            ("keep_audit_days", self.keep_audit_days, 1, 3650),
        ];
        if self.port == Some(0) {
            return unexpected("port");
        }
        for (key, value, minimum, maximum) in limits {
            if !(minimum..=maximum).contains(&value) {
                return unexpected(key);
            }
        }
        for phase in AgentKind::ALL {
            if self.agent(*phase).max_parallel.is_some_and(|limit| !(1..=64).contains(&limit)) {
                return unexpected(&format!("agents.{phase}.max_parallel"));
            }
            if self.agent(*phase).stall_minutes == Some(0) {
                return unexpected(&format!("agents.{phase}.stall_minutes"));
            }
        }
        for (key, value) in self.limits.amounts() {
            if value.is_some_and(|value| value <= 0) {
                return unexpected(&format!("limits.{key}"));
            }
        }
        if self.limits.run_context_percent.is_some_and(|percent| percent > 100) {
            return unexpected("limits.run_context_percent");
        }
        for (key, value) in self.rate_limits.amounts() {
            if value == Some(0) {
                return unexpected(&format!("rate_limits.{key}"));
            }
        }
        for glob in &self.protected_paths {
            if let Some(problem) = protected_paths::problem(glob) {
                return invalid("protected_paths", &format!("\"{glob}\": {problem}"));
            }
        }
        if self.port_range.0 < 1024 || self.port_range.1 < self.port_range.0 {
            return unexpected("port_range");
        }
        for host in &self.allowed_hosts {
            if let Some(problem) = allowed_host::problem(host) {
                return invalid("allowed_hosts", &format!("\"{host}\": {problem}"));
            }
        }
        if let Some(problem) = log_levels::problem(&self.log) {
            return invalid("log", &problem);
        }
        if let Some(tier) = self.sandbox.filter(|tier| *tier < self.sandbox_min) {
            return invalid("sandbox", &format!("{tier} is weaker than \"sandbox_min\", which is {}", self.sandbox_min));
        }
        if self.agent_command.first().is_none_or(|program| program.trim().is_empty()) {
            return invalid("agent_command", "the first element must be a program");
        }
        if let Some(role) = self.model_restrictions.invalid() {
            return invalid(&format!("model_restrictions.{role}"), "expected names of models, or null for any");
        }
        for (index, webhook) in self.webhooks.iter().enumerate() {
            if let Err(problem) = webhook.check() {
                return invalid(&format!("webhooks[{index}]"), &problem);
            }
            // The progress of each is stored by its address.
            if self.webhooks.iter().take(index).any(|earlier| earlier.url == webhook.url) {
                return invalid(&format!("webhooks[{index}]"), "another webhook has the same address; list all its events there");
            }
        }
        Ok(())
    }
}

/// Refuses a name or a path that is empty: it would stand for the folder of the file, or for nothing.
fn reject_empty_texts(given: &Value, keys: &[String]) -> Result<(), ConfigError> {
    let is_text = |key: &&String| row_of(key).is_some_and(|(row, is_part)| row.values.form == Form::String && !is_part);
    let is_empty = |key: &&String| find(given, key).as_str().is_some_and(|text| text.trim().is_empty());
    match keys.iter().filter(is_text).find(is_empty) {
        Some(key) => Err(ConfigError::unexpected(given, key)),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
