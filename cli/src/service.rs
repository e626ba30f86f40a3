//! `vibe-relay service`: a systemd unit of the user that starts the board at login and keeps it running. Agents survive its restarts.
//!
//! Must not know what a server does, or whether systemd follows the unit.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::Subcommand;
use runner::process::{self, ProbeOutput, Programs};
use serde::Serialize;

use crate::error::CliError;
use crate::{folders, number, output, settings};

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Start the board at login and after a crash. Repeat it after you move the program or the configuration.
    Install {
        /// Port; default: that of the last start, at first 9400, or the next free one.
        #[arg(long, value_parser = number::whole::<u16>)]
        port: Option<u16>,
    },
    /// Stop the board and no longer start it at login. Running agents continue.
    Remove,
    /// Show whether the board is installed as a service and is running.
    Status,
}

const NAME: &str = "vibe-relay.service";
const TIMEOUT: Duration = Duration::from_secs(30);

/// Runs the command.
///
/// # Errors
/// When there is no systemd for this user, it refuses, or the unit cannot be written.
pub(crate) async fn run(config: Option<&Path>, command: Command) -> Result<ExitCode, CliError> {
    let file = unit_file()?;
    match command {
        Command::Install { port } => install(config, port, &file).await,
        Command::Remove => remove(&file).await,
        Command::Status => status(&file).await,
    }
}

async fn install(config: Option<&Path>, port: Option<u16>, file: &Path) -> Result<ExitCode, CliError> {
    let systemd = Systemd::find().await?;
    // Strict, because the service could not start with a broken file.
    let settings = settings::with_files(settings::file(config)?.as_deref())?;
    let is_active = systemd.query(&["is-active", NAME]).await?.code == Some(0);
    if !is_active && let Ok(_another) = mcp::connect(&settings.db_path).await {
        return Err(CliError::RunsByHand { db_path: settings.db_path });
    }
    let unit = Unit {
        program: Programs::of_this_process().map_err(CliError::io("find the program file"))?.installed,
        config: settings::file(config)?,
        home: settings::home()?,
        variables: variables(|name| std::env::var(name).ok()),
        port,
    };
    write(file, &unit.text())?;
    systemd.execute(&["daemon-reload"]).await?;
    systemd.execute(&["enable", NAME]).await?;
    systemd.execute(&["restart", NAME]).await?;
    output::done(format!("installed {}", file.display()));
    output::hint("The board is running. It starts at login, and again after a crash.");
    output::hint("`journalctl --user -u vibe-relay` shows its address. `loginctl enable-linger` also runs it while you are logged out.");
    Ok(ExitCode::SUCCESS)
}

async fn remove(file: &Path) -> Result<ExitCode, CliError> {
    if !file.exists() {
        output::done("the service is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let systemd = Systemd::find().await?;
    systemd.execute(&["disable", "--now", NAME]).await?;
    std::fs::remove_file(file).map_err(CliError::io(format!("remove {}", file.display())))?;
    systemd.execute(&["daemon-reload"]).await?;
    output::done(format!("removed {}; running agents continue, and `vibe-relay serve` takes them over", file.display()));
    Ok(ExitCode::SUCCESS)
}

/// Stops the service if it is the process `id`, which systemd would start again otherwise. Returns whether it is.
///
/// # Errors
/// When systemd refuses.
pub(crate) async fn stop(id: i32) -> Result<bool, CliError> {
    if !unit_file()?.exists() {
        return Ok(false);
    }
    let Ok(systemd) = Systemd::find().await else { return Ok(false) };
    let main = systemd.query(&["show", "--property=MainPID", "--value", NAME]).await?;
    let is_service = main.stdout.trim() == id.to_string();
    if is_service {
        systemd.execute(&["stop", NAME]).await?;
    }
    Ok(is_service)
}

/// The exit code is a failure unless the service runs.
async fn status(file: &Path) -> Result<ExitCode, CliError> {
    if !file.exists() {
        output::data(&ServiceStatus::default(), |_| {
            output::line("the service is not installed; install it with `vibe-relay service install`");
        });
        return Ok(ExitCode::FAILURE);
    }
    let systemd = Systemd::find().await?;
    let (enabled, active) = (systemd.query(&["is-enabled", NAME]).await?, systemd.query(&["is-active", NAME]).await?);
    let words = |answer: &ProbeOutput| Some(answer.stdout.trim().to_owned());
    let status = ServiceStatus { installed: true, unit: Some(file.display().to_string()), at_login: words(&enabled), now: words(&active) };
    output::data(&status, |status| {
        for (name, value) in [("installed", &status.unit), ("at login", &status.at_login), ("now", &status.now)] {
            output::line(format!("{name:9} {}", value.as_deref().unwrap_or_default()));
        }
    });
    Ok(if active.code == Some(0) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The service, as systemd describes it.
#[derive(Debug, Default, Serialize)]
struct ServiceStatus {
    installed: bool,
    /// The file of its unit.
    unit: Option<String>,
    at_login: Option<String>,
    now: Option<String>,
}

/// The user's systemd.
struct Systemd {
    systemctl: PathBuf,
}

impl Systemd {
    async fn find() -> Result<Self, CliError> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let missing = |reason: &str| CliError::NoSystemd { reason: reason.to_owned() };
        let systemctl = process::find_program("systemctl", &path).ok_or_else(|| missing("systemctl is not installed"))?;
        let systemd = Self { systemctl };
        // Without a session of the user it has nothing to connect to, as in containers.
        match systemd.query(&["show", "--property=Version"]).await? {
            answer if answer.code == Some(0) => Ok(systemd),
            answer => Err(missing(answer.stderr.trim())),
        }
    }

    async fn query(&self, arguments: &[&str]) -> Result<ProbeOutput, CliError> {
        let arguments = [&["--user"], arguments].concat();
        Ok(process::probe_desktop(&self.systemctl, &arguments, TIMEOUT).await?)
    }

    async fn execute(&self, arguments: &[&str]) -> Result<(), CliError> {
        let answer = self.query(arguments).await?;
        if answer.code == Some(0) {
            return Ok(());
        }
        Err(CliError::Systemd { command: arguments.join(" "), reason: answer.stderr.trim().to_owned() })
    }
}

/// The variables of the person that systemd does not have: where agents find `claude` and git, and where the folders of the board are.
fn variables(read: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let names = ["PATH"].into_iter().chain(folders::VARIABLES);
    names.filter_map(|name| Some((name, read(name).filter(|value| !value.is_empty())?))).collect()
}

/// The program that systemd starts, and its surroundings.
struct Unit {
    program: PathBuf,
    config: Option<PathBuf>,
    home: PathBuf,
    variables: Vec<(&'static str, String)>,
    port: Option<u16>,
}

impl Unit {
    fn text(&self) -> String {
        let mut command = vec![self.program.display().to_string()];
        command.extend(self.config.iter().flat_map(|file| ["--config".to_owned(), file.display().to_string()]));
        command.extend(["serve", "--no-open"].map(str::to_owned));
        command.extend(self.port.iter().flat_map(|port| ["--port".to_owned(), port.to_string()]));
        // A dollar begins a variable in a command, and only there.
        let command: Vec<String> = command.iter().map(|word| quoted(&word.replace('$', "$$"))).collect();
        format!(
            "# Written by `vibe-relay service install`, which replaces it.\n\
             [Unit]\n\
             Description=vibe-relay, a board on which coding agents work\n\
             StartLimitIntervalSec=0\n\
             \n\
             [Service]\n\
             ExecStart={}\n\
             WorkingDirectory={}\n\
             {}\n\
             # Agents outlive the server, and the next one takes them over.\n\
             KillMode=process\n\
             Restart=always\n\
             RestartSec=2\n\
             \n\
             [Install]\n\
             WantedBy=default.target\n",
            command.join(" "),
            self.home.display().to_string().replace('%', "%%"),
            self.variables.iter().map(|(name, value)| format!("Environment={}", quoted(&format!("{name}={value}")))).collect::<Vec<_>>().join("\n"),
        )
    }
}

/// A word of a unit.
fn quoted(word: &str) -> String {
    format!("\"{}\"", word.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%"))
}

/// The file of the service, whether it exists or not.
///
/// # Errors
/// When there is no home folder.
pub(crate) fn unit_file() -> Result<PathBuf, CliError> {
    let configured = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    let folder = configured.map_or_else(|| settings::home().map(|home| home.join(".config")), Ok)?;
    Ok(folder.join("systemd/user").join(NAME))
}

fn write(file: &Path, text: &str) -> Result<(), CliError> {
    let attempted = || format!("write {}", file.display());
    if let Some(folder) = file.parent() {
        std::fs::create_dir_all(folder).map_err(CliError::io(attempted()))?;
    }
    std::fs::write(file, text).map_err(CliError::io(attempted()))?;
    // The PATH of a person is theirs.
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).map_err(CliError::io(attempted()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unit_names_absolute_paths_and_survives_odd_names() {
        let unit = Unit {
            program: "/opt/100% $odd/vibe-relay".into(),
            config: Some("/home/mara/my \"board\".json".into()),
            home: "/home/mara".into(),
            variables: vec![("PATH", "/home/mara/.local/bin:/usr/bin".to_owned()), ("XDG_DATA_HOME", "/data/mara".to_owned())],
            port: Some(9500),
        };
        insta::assert_snapshot!(unit.text(), @r#"
        # Written by `vibe-relay service install`, which replaces it.
        [Unit]
        Description=vibe-relay, a board on which coding agents work
        StartLimitIntervalSec=0

        [Service]
        ExecStart="/opt/100%% $$odd/vibe-relay" "--config" "/home/mara/my \"board\".json" "serve" "--no-open" "--port" "9500"
        WorkingDirectory=/home/mara
        Environment="PATH=/home/mara/.local/bin:/usr/bin"
        Environment="XDG_DATA_HOME=/data/mara"
        # Agents outlive the server, and the next one takes them over.
        KillMode=process
        Restart=always
        RestartSec=2

        [Install]
        WantedBy=default.target
        "#);
    }
}
