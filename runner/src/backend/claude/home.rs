//! The files of Claude Code in the home folder, as far as a sandbox has to know them, and where its sign-in comes from.

use std::path::{Path, PathBuf};

use domain::config::Config;

use super::environment::{CREDENTIALS, PROVIDERS};
use super::session::{PROJECTS, sessions_folder};
use crate::backend::{AgentFiles, Session, SignIn};

/// How to sign in for a sandbox.
pub const SIGN_IN_BY_ENVIRONMENT: &str = "`claude setup-token` prints a token for CLAUDE_CODE_OAUTH_TOKEN, which works in a jail.";

/// How to use a cloud provider in a jail.
pub const PROVIDER_IN_JAIL: &str = "In a jail, pass the credentials in variables, or allow their folder for the repository.";

/// The person's own settings and instructions.
const SHARED: &[&str] = &["settings.json", "CLAUDE.md", "agents", "commands", "skills", "plugins", "rules"];
const SIGN_IN_FILE: &str = ".credentials.json";

/// The folder of the program's files, unless `CLAUDE_CONFIG_DIR` names another one.
pub fn private_folder(home: &Path) -> PathBuf {
    home.join(".claude")
}

/// The files that a run needs. `config_dir` is the value of `CLAUDE_CONFIG_DIR`.
pub fn agent_files(home: &Path, config_dir: Option<&Path>, checkout: &Path, session: Session, sign_in: SignIn) -> AgentFiles {
    let private = config_dir.map_or_else(|| private_folder(home), Path::to_path_buf);
    let projects = private.join(PROJECTS);
    let mut readable: Vec<PathBuf> = SHARED.iter().map(|name| private.join(name)).collect();
    if sign_in != SignIn::Environment {
        readable.push(private.join(SIGN_IN_FILE));
    }
    let mut sessions = vec![sessions_folder(&private, checkout)];
    if let Session::Resume(id) = session {
        // A session stays in the folder of the checkout that it began in.
        let folders = std::fs::read_dir(&projects).into_iter().flatten().flatten().map(|entry| entry.path());
        sessions.extend(folders.filter(|folder| folder.join(format!("{id}.jsonl")).is_file() && !sessions.contains(folder)).collect::<Vec<_>>());
    }
    AgentFiles { private, readable, sessions }
}

/// Where every agent finds its sign-in. `has_variable` tells the inherited part of their environment.
pub fn sign_in(config: &Config, has_variable: impl Fn(&str) -> bool) -> SignIn {
    let each_has = |names: &[&str]| {
        let inherited = names.iter().any(|name| has_variable(name));
        inherited || config.agents.each().iter().all(|agent| names.iter().any(|name| agent.env.contains_key(*name)))
    };
    if each_has(CREDENTIALS) {
        SignIn::Environment
    } else if each_has(PROVIDERS) {
        SignIn::Provider
    } else {
        SignIn::Elsewhere
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn sessions_of_this_checkout_and_of_the_resumed_one_are_kept() {
        let home = tempfile::tempdir().unwrap();
        let id = Uuid::nil();
        let earlier = home.path().join(".claude/projects/-w-TASK-001");
        std::fs::create_dir_all(&earlier).unwrap();
        std::fs::write(earlier.join(format!("{id}.jsonl")), "").unwrap();
        let files = |session| agent_files(home.path(), None, Path::new("/w/TASK_001-2"), session, SignIn::Environment);
        let own = home.path().join(".claude/projects/-w-TASK-001-2");
        assert_eq!(files(Session::New(id)).sessions, std::slice::from_ref(&own));
        assert_eq!(files(Session::Resume(id)).sessions, [own, earlier]);
    }

    #[test]
    fn sign_in_file_is_visible_only_when_it_is_needed() {
        let files = |sign_in| agent_files(Path::new("/h"), Some(Path::new("/c")), Path::new("/w"), Session::New(Uuid::nil()), sign_in);
        let file = Path::new("/c/.credentials.json").to_path_buf();
        assert!(!files(SignIn::Environment).readable.contains(&file));
        assert!(files(SignIn::Elsewhere).readable.contains(&file) && files(SignIn::Provider).readable.contains(&file));
    }

    #[test]
    fn sign_in_of_every_agent_counts() {
        let mut config = Config::default();
        assert_eq!(sign_in(&config, |_| false), SignIn::Elsewhere);
        assert_eq!(sign_in(&config, |name| name == "CLAUDE_CODE_OAUTH_TOKEN"), SignIn::Environment);
        for provider in ["CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY"] {
            assert_eq!(sign_in(&config, |name| name == provider), SignIn::Provider);
            assert_eq!(sign_in(&config, |name| [provider, "ANTHROPIC_API_KEY"].contains(&name)), SignIn::Environment);
        }
        config.agents.coder.env.insert("ANTHROPIC_API_KEY".to_owned(), "k".to_owned());
        assert_eq!(sign_in(&config, |_| false), SignIn::Elsewhere, "the other agents have none");
        for agent in config.agents.each_mut() {
            agent.env.insert("ANTHROPIC_API_KEY".to_owned(), "k".to_owned());
        }
        assert_eq!(sign_in(&config, |_| false), SignIn::Environment);
    }
}
