//! The configuration of a running server: what a changed file may change at once, and what has to wait for a restart.
//!
//! Pure. Must not know how changes are noticed.

use super::Config;

/// The configuration in use, and what you should know about its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LiveConfig {
    pub config: Config,
    /// Why the file does not match `config`, as a sentence for the board and the log.
    pub notice: Option<String>,
}

impl LiveConfig {
    /// The configuration after its file changed. Keys that need a restart keep their value, and the notice names them.
    #[must_use]
    pub fn with_change(&self, changed: Config) -> Self {
        let keys: Vec<&str> = [
            ("db_path", self.config.db_path != changed.db_path),
            ("port", self.config.port != changed.port),
            ("worktrees_path", self.config.worktrees_path != changed.worktrees_path),
            ("durability", self.config.durability != changed.durability),
            ("log", self.config.log != changed.log),
            // The store reads these once.
            ("max_orchestrator_rounds", self.config.max_orchestrator_rounds != changed.max_orchestrator_rounds),
            ("protected_paths", self.config.protected_paths != changed.protected_paths),
            ("rate_limits", self.config.rate_limits != changed.rate_limits),
            ("model_restrictions", self.config.model_restrictions != changed.model_restrictions),
        ]
        .into_iter()
        .filter_map(|(key, differs)| differs.then_some(key))
        .collect();
        let notice = (!keys.is_empty()).then(|| format!("Restart vibe-relay to apply the new {}.", keys.join(", ")));
        let config = Config {
            db_path: self.config.db_path.clone(),
            logs_path: self.config.logs_path.clone(),
            port: self.config.port,
            worktrees_path: self.config.worktrees_path.clone(),
            durability: self.config.durability,
            log: self.config.log.clone(),
            max_orchestrator_rounds: self.config.max_orchestrator_rounds,
            protected_paths: self.config.protected_paths.clone(),
            rate_limits: self.config.rate_limits,
            model_restrictions: self.config.model_restrictions.clone(),
            ..changed
        };
        Self { config, notice }
    }

    /// The configuration after its file changed to something invalid: the same as before.
    #[must_use]
    pub fn with_error(&self, error: &str) -> Self {
        Self { config: self.config.clone(), notice: Some(format!("{error}. The last valid configuration stays in use.")) }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::config::Durability;

    #[test]
    fn restart_keys_keep_their_value_and_are_named() {
        let live = LiveConfig::default();
        let changed = Config { max_attempts: 7, db_path: PathBuf::from("/new.db"), durability: Durability::Normal, ..Config::default() };
        let after = live.with_change(changed);
        assert_eq!(after.config, Config { max_attempts: 7, ..Config::default() });
        assert_eq!(after.notice.as_deref(), Some("Restart vibe-relay to apply the new db_path, durability."));
        let reverted = after.with_change(Config::default());
        assert_eq!(reverted, live);
    }

    #[test]
    fn invalid_file_keeps_last_valid_configuration() {
        let live = LiveConfig { config: Config { max_attempts: 7, ..Config::default() }, notice: None };
        let after = live.with_error("config.json: unknown key \"x\"");
        assert_eq!(after.config, live.config);
        assert_eq!(after.notice.as_deref(), Some("config.json: unknown key \"x\". The last valid configuration stays in use."));
        assert_eq!(after.with_change(live.config.clone()), live);
    }
}
