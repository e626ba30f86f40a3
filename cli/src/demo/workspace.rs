//! The folder of the demo: a repository, a configuration and a database, removed at the end. Must not know what happens there.

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::config::Config;
use domain::runs::sandbox::SandboxTier;
use runner::process;
use runner::run_dir::RunDir;
use runner::shim::control::{Control, SignalName};

use crate::error::CliError;
use crate::scripted::demo::{FILES, SCENARIO};
use crate::{output, serve};

/// Creates the first commit. Agents use their own identity.
const FIRST_COMMIT: &str = "git init -q -b main . && git add -A && git -c user.name='The museum' -c user.email=museum@example.org -c commit.gpgsign=false commit -q -m 'A page that is not finished'";
const PROCESS_TIMEOUT: Duration = Duration::from_secs(30);

/// The folder and its configuration.
pub(crate) struct DemoWorkspace {
    folder: PathBuf,
    config: Config,
}

impl DemoWorkspace {
    /// Creates the folder.
    ///
    /// # Errors
    /// When the folder cannot be created or git is missing.
    pub(crate) async fn create(real: bool) -> Result<Self, CliError> {
        let folder = std::env::temp_dir().join(format!("vibe-relay-demo-{}", &db::new_uuid()[..8]));
        let site = folder.join("site");
        for (name, text) in FILES {
            write(&site.join(name), text)?;
        }
        make_executable(&site.join("check.sh"))?;
        let scenario = folder.join("scenario.json");
        write(&scenario, SCENARIO)?;
        let commit = process::shell(FIRST_COMMIT, &site, PROCESS_TIMEOUT).await?;
        if commit.code != Some(0) {
            return Err(CliError::Demo(format!("git could not create the repository of the demo: {}", commit.stderr.trim())));
        }
        let program = std::env::current_exe().map_err(CliError::io("find the program file"))?;
        let scripted = [&program.to_string_lossy(), "scripted-agent", "--scenario", &scenario.to_string_lossy()].map(str::to_owned).to_vec();
        let config = Config {
            repo_path: Some(site),
            worktrees_path: folder.join("worktrees"),
            db_path: folder.join("vibe-relay.db"),
            // The agents work in a temporary folder, on a repository of their own.
            sandbox: Some(SandboxTier::None),
            agent_command: if real { Config::default().agent_command } else { scripted },
            ..Config::default()
        };
        serve::write_config(&folder.join("config.json"), &config)?;
        Ok(Self { folder, config })
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    pub(crate) fn config_file(&self) -> PathBuf {
        self.folder.join("config.json")
    }

    pub(crate) fn site(&self) -> PathBuf {
        self.folder.join("site")
    }

    /// Stops running agents and removes the folder.
    pub(crate) async fn remove(self) {
        let runs = std::fs::read_dir(self.folder.join("runs")).into_iter().flatten().flatten();
        let mut ending = Vec::new();
        for run in runs.filter_map(|entry| RunDir::open(&entry.path()).ok()) {
            // Most runs have ended already.
            if let Ok(control) = Control::connect(&run).await {
                drop(control.signal(SignalName::Terminate).await);
                ending.push(run);
            }
        }
        let deadline = tokio::time::Instant::now() + PROCESS_TIMEOUT;
        while ending.iter().any(|run| run.is_alive().unwrap_or(false)) && tokio::time::Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        if let Err(error) = std::fs::remove_dir_all(&self.folder) {
            tracing::warn!(folder = %self.folder.display(), %error, "the folder of the demo could not be removed");
        }
    }
}

/// Asks for consent before agents that cost money start.
///
/// # Errors
/// When the terminal cannot be written or read.
pub(crate) fn confirm_cost() -> Result<bool, CliError> {
    output::confirm("This starts Claude Code with your account and costs money. Continue? [y/N] ")
}

fn write(path: &Path, text: &str) -> Result<(), CliError> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).map_err(CliError::io(format!("create the folder {}", folder.display())))?;
    }
    std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display())))
}

fn make_executable(path: &Path) -> Result<(), CliError> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).map_err(CliError::io(format!("make {} executable", path.display())))
}
