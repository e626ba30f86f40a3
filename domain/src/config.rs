//! The configuration file: keys, defaults, and what is refused.
//!
//! Reading the file and finding it is the program's business; this file is given its text.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::runs::agent_kind::AgentKind;
use crate::vocabulary::vocabulary;

vocabulary! {
    /// When a write counts as done.
    Durability, "durability" {
        /// It is on the disk: nothing that was answered with success is lost, not even to a power cut.
        Full = "full",
        /// It survives a crash of the program, not of the machine.
        Normal = "normal",
    }
}

/// Everything that can be configured. All keys are optional.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The repository that new projects begin with.
    pub repo_path: Option<PathBuf>,
    pub base_branch: Option<String>,
    /// Where agents' checkouts are made.
    pub worktrees_path: PathBuf,
    pub db_path: PathBuf,
    /// Agents at work at once, of every phase.
    pub max_parallel_agents: u32,
    pub max_parallel_reviewers: u32,
    /// Failed attempts of a task in one phase before it needs the person.
    pub max_attempts: u32,
    /// How often a task may be sent back before it needs the person.
    pub max_review_rounds: u32,
    pub max_orchestrator_rounds: u32,
    /// First and last port that agents are given.
    pub port_range: (u16, u16),
    pub durability: Durability,
    /// The program that speaks Claude Code's stream-json, with arguments that go first.
    pub agent_command: Vec<String>,
    pub agents: Agents,
}

/// What is configured for each phase.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agents {
    pub planner: Agent,
    pub coder: Agent,
    pub reviewer: Agent,
    pub orchestrator: Agent,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Agent {
    /// The agent program's own default when missing.
    pub model: Option<String>,
    /// Replaces the built-in prompt of the phase.
    pub system_prompt_file: Option<PathBuf>,
    /// Environment for the agents of this phase only.
    pub env: BTreeMap<String, String>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            repo_path: None,
            base_branch: None,
            worktrees_path: PathBuf::from("~/.vibe-relay/worktrees"),
            db_path: PathBuf::from("~/.vibe-relay/vibe-relay.db"),
            max_parallel_agents: 3,
            max_parallel_reviewers: 1,
            max_attempts: 3,
            max_review_rounds: 4,
            max_orchestrator_rounds: 3,
            port_range: (4000, 4099),
            durability: Durability::Full,
            agent_command: vec!["claude".to_owned()],
            agents: Agents::default(),
        }
    }
}

/// A configuration that is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadConfig {
    #[error("the configuration is no JSON: {0}")]
    Syntax(String),
    #[error("unknown key \"{key}\"{}", nearest.as_ref().map(|nearest| format!(": did you mean \"{nearest}\"?")).unwrap_or_default())]
    UnknownKey { key: String, nearest: Option<String> },
    #[error("\"{key}\": {problem}")]
    Value { key: String, problem: String },
}

impl Config {
    pub fn agent(&self, phase: AgentKind) -> &Agent {
        match phase {
            AgentKind::Planner => &self.agents.planner,
            AgentKind::Coder => &self.agents.coder,
            AgentKind::Reviewer => &self.agents.reviewer,
            AgentKind::Orchestrator => &self.agents.orchestrator,
        }
    }

    /// Reads and checks a configuration. Relative paths are taken from `folder`, a leading `~` from `home`.
    ///
    /// # Errors
    /// Names the first key that is unknown (with the nearest known one) or has a value that cannot be.
    pub fn parse(text: &str, folder: &Path, home: &Path) -> Result<Self, BadConfig> {
        let given: Value = serde_json::from_str(text).map_err(|error| BadConfig::Syntax(error.to_string()))?;
        let known = serde_json::to_value(Self::default()).map_err(|error| BadConfig::Syntax(error.to_string()))?;
        refuse_unknown_keys(&given, &known, "")?;
        let mut config: Self =
            serde_json::from_value(given).map_err(|error| BadConfig::Value { key: "configuration".to_owned(), problem: error.to_string() })?;
        config.place(folder, home);
        config.check()?;
        Ok(config)
    }

    /// Makes every path absolute.
    pub fn place(&mut self, folder: &Path, home: &Path) {
        let absolute = |path: &mut PathBuf| {
            *path = match path.strip_prefix("~") {
                Ok(rest) => home.join(rest),
                Err(_) => folder.join(&path),
            };
        };
        absolute(&mut self.worktrees_path);
        absolute(&mut self.db_path);
        self.repo_path.iter_mut().for_each(absolute);
        for agent in [&mut self.agents.planner, &mut self.agents.coder, &mut self.agents.reviewer, &mut self.agents.orchestrator] {
            agent.system_prompt_file.iter_mut().for_each(absolute);
        }
    }

    fn check(&self) -> Result<(), BadConfig> {
        let bad = |key: &str, problem: &str| Err(BadConfig::Value { key: key.to_owned(), problem: problem.to_owned() });
        let counts = [
            ("max_parallel_agents", self.max_parallel_agents, 1, 64),
            ("max_parallel_reviewers", self.max_parallel_reviewers, 1, 64),
            ("max_attempts", self.max_attempts, 1, 20),
            ("max_review_rounds", self.max_review_rounds, 1, 50),
            ("max_orchestrator_rounds", self.max_orchestrator_rounds, 0, 50),
        ];
        for (key, value, least, most) in counts {
            if !(least..=most).contains(&value) {
                return bad(key, &format!("{value} is not between {least} and {most}"));
            }
        }
        if self.port_range.0 < 1024 || self.port_range.1 < self.port_range.0 {
            return bad("port_range", "expected two ports from 1024 to 65535, the lower one first");
        }
        if self.agent_command.first().is_none_or(|program| program.trim().is_empty()) {
            return bad("agent_command", "it names no program");
        }
        Ok(())
    }
}

fn refuse_unknown_keys(given: &Value, known: &Value, path: &str) -> Result<(), BadConfig> {
    let (Value::Object(given), Value::Object(known)) = (given, known) else { return Ok(()) };
    for (key, value) in given {
        match known.get(key) {
            // What an agent's environment may be called is not ours to know.
            Some(_) if key == "env" => {}
            Some(below) => refuse_unknown_keys(value, below, &format!("{path}{key}."))?,
            None => {
                let nearest = known.keys().max_by(|one, other| strsim::jaro_winkler(key, one).total_cmp(&strsim::jaro_winkler(key, other)));
                let nearest = nearest.filter(|nearest| strsim::jaro_winkler(key, nearest) > 0.7).map(|nearest| format!("{path}{nearest}"));
                return Err(BadConfig::UnknownKey { key: format!("{path}{key}"), nearest });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config, BadConfig> {
        Config::parse(text, Path::new("/project"), Path::new("/home/ann"))
    }

    #[test]
    fn every_key_is_optional_and_paths_become_absolute() {
        let config = parse("{}").unwrap();
        assert_eq!(config.db_path, Path::new("/home/ann/.vibe-relay/vibe-relay.db"));
        let config =
            parse(r#"{"db_path": "board.db", "agents": {"coder": {"model": "m", "system_prompt_file": "c.md", "env": {"A": "b"}}}}"#).unwrap();
        assert_eq!(config.db_path, Path::new("/project/board.db"));
        assert_eq!(config.agent(AgentKind::Coder).system_prompt_file.as_deref(), Some(Path::new("/project/c.md")));
    }

    #[test]
    fn unknown_keys_are_refused_with_the_nearest_known_one() {
        assert_eq!(
            parse(r#"{"max_paralel_agents": 2}"#).unwrap_err().to_string(),
            "unknown key \"max_paralel_agents\": did you mean \"max_parallel_agents\"?"
        );
        assert_eq!(
            parse(r#"{"agents": {"coder": {"modle": "x"}}}"#).unwrap_err().to_string(),
            "unknown key \"agents.coder.modle\": did you mean \"agents.coder.model\"?"
        );
        assert_eq!(parse(r#"{"zzz": 1}"#).unwrap_err().to_string(), "unknown key \"zzz\"");
    }

    #[test]
    fn values_that_cannot_be_are_refused() {
        for text in [
            "[",
            r#"{"max_parallel_agents": 0}"#,
            r#"{"max_parallel_agents": "3"}"#,
            r#"{"port_range": [5000, 4000]}"#,
            r#"{"port_range": [80, 90]}"#,
            r#"{"agent_command": []}"#,
            r#"{"durability": "some"}"#,
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
