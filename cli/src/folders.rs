//! The folders of an installation: configuration, data and state. Decides in one place where they are.
//!
//! New installations follow the XDG base directories. An existing one stays where it is, in one folder in the home.

use std::path::{Path, PathBuf};

use domain::config::Config;

use crate::error::CliError;
use crate::settings::{self, CONFIG_FILE};

/// The variables that move the folders.
pub(crate) const VARIABLES: [&str; 3] = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"];
const NAME: &str = "vibe-relay";
/// The folder that held everything before.
const SINGLE: &str = ".vibe-relay";
const DATABASE: &str = "vibe-relay.db";

/// Where an installation keeps its files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folders {
    /// The configuration.
    pub(crate) config: PathBuf,
    /// The database, and what belongs to it: tokens, records of runs, backups.
    pub(crate) data: PathBuf,
    /// Logs and worktrees, which no backup needs.
    pub(crate) state: PathBuf,
}

impl Folders {
    /// The folders of this person.
    ///
    /// # Errors
    /// When HOME is not set.
    pub(crate) fn find() -> Result<Self, CliError> {
        Ok(Self::choose(&settings::home()?, |name| std::env::var_os(name).map(PathBuf::from), Path::exists))
    }

    fn choose(home: &Path, variable: impl Fn(&str) -> Option<PathBuf>, exists: impl Fn(&Path) -> bool) -> Self {
        let folder = |name: &str, default: &str| {
            // Relative values are invalid, as the specification says.
            variable(name).filter(|path| path.is_absolute()).unwrap_or_else(|| home.join(default)).join(NAME)
        };
        let [config, data, state] = VARIABLES;
        let separate = Self { config: folder(config, ".config"), data: folder(data, ".local/share"), state: folder(state, ".local/state") };
        let single = home.join(SINGLE);
        // An old installation must not seem empty because another board was started, nor a new one because someone created the old folder.
        let is_old = exists(&single.join(DATABASE)) || exists(&single.join(CONFIG_FILE));
        if !is_old && (exists(&separate.data.join(DATABASE)) || !exists(&single)) {
            return separate;
        }
        Self { config: single.clone(), data: single.clone(), state: single }
    }

    /// Whether everything is in one folder.
    pub(crate) fn is_single(&self) -> bool {
        self.config == self.data
    }

    /// Gives the paths that the configuration does not name their place.
    pub(crate) fn complete(&self, config: &mut Config) {
        let origin = &config.origin;
        let is_given = |key: &str| origin.keys.iter().any(|given| given == key) || origin.elsewhere.iter().any(|(given, _)| *given == key);
        let (database, worktrees) = (is_given("db_path"), is_given("worktrees_path"));
        if !database {
            config.db_path = self.data.join(DATABASE);
            config.logs_path = Some(self.state.join("logs"));
        }
        if !worktrees {
            config.worktrees_path = self.state.join("worktrees");
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::config::origin::SettingSource;

    use super::*;

    fn chosen(variables: &[(&str, &str)], existing: &[&str]) -> Folders {
        let variable = |name: &str| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| PathBuf::from(value));
        Folders::choose(Path::new("/home/ann"), variable, |path| existing.iter().any(|known| Path::new(known) == path))
    }

    #[test]
    fn new_installation_follows_xdg() {
        let folders = chosen(&[], &[]);
        assert_eq!(folders.config, Path::new("/home/ann/.config/vibe-relay"));
        assert_eq!(folders.data, Path::new("/home/ann/.local/share/vibe-relay"));
        assert_eq!(folders.state, Path::new("/home/ann/.local/state/vibe-relay"));
        let folders = chosen(&[("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d"), ("XDG_STATE_HOME", "relative")], &[]);
        assert_eq!((folders.config, folders.data), ("/c/vibe-relay".into(), "/d/vibe-relay".into()));
        assert_eq!(folders.state, Path::new("/home/ann/.local/state/vibe-relay"), "a relative value is ignored");
    }

    #[test]
    fn existing_installation_stays_in_its_folder() {
        let old = chosen(&[("XDG_DATA_HOME", "/d")], &["/home/ann/.vibe-relay"]);
        assert!(old.is_single() && old.state == Path::new("/home/ann/.vibe-relay"), "{old:?}");
        let both = chosen(&[], &["/home/ann/.vibe-relay", "/home/ann/.local/share/vibe-relay/vibe-relay.db"]);
        assert_eq!(both.data, Path::new("/home/ann/.local/share/vibe-relay"), "the board that exists is found");
        for file in ["vibe-relay.db", "vibe-relay.config.json"] {
            let old = format!("/home/ann/.vibe-relay/{file}");
            let both = chosen(&[], &["/home/ann/.vibe-relay", &old, "/home/ann/.local/share/vibe-relay/vibe-relay.db"]);
            assert!(both.is_single(), "an old installation wins: {both:?}");
        }
    }

    #[test]
    fn configuration_goes_before_the_folders() {
        let folders = chosen(&[], &[]);
        let mut config = Config::default();
        folders.complete(&mut config);
        assert_eq!(config.db_path, Path::new("/home/ann/.local/share/vibe-relay/vibe-relay.db"));
        assert_eq!(config.worktrees_path, Path::new("/home/ann/.local/state/vibe-relay/worktrees"));
        assert_eq!(config.logs_path.as_deref(), Some(Path::new("/home/ann/.local/state/vibe-relay/logs")));
        let mut config = Config::parse(r#"{"db_path": "/b/board.db"}"#, Path::new("/p"), Path::new("/home/ann")).unwrap();
        folders.complete(&mut config);
        assert_eq!((config.db_path.as_path(), config.logs_path.clone()), (Path::new("/b/board.db"), None), "logs lie beside a named database");
        let mut config = Config { db_path: "/e/dead-drop.db".into(), ..Config::default() };
        config.origin.elsewhere.push(("db_path", SettingSource::Environment));
        folders.complete(&mut config);
        assert_eq!(config.db_path, Path::new("/e/dead-drop.db"));
    }

    #[test]
    fn defaults_of_the_reference_are_the_usual_folders() {
        let mut config = Config::default();
        config.resolve_paths(Path::new("/p"), Path::new("/home/ann"));
        let mut completed = config.clone();
        chosen(&[], &[]).complete(&mut completed);
        assert_eq!((config.db_path, config.worktrees_path), (completed.db_path, completed.worktrees_path));
    }
}
