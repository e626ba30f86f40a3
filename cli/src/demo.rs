//! `vibe-relay demo`: runs a sample project from start to end. Prepares a repository and keeps a server running; the product does the rest.

mod human;
mod workspace;

use std::process::ExitCode;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::args::Demo;
use crate::client::Client;
use crate::demo::human::DemoHuman;
use crate::demo::workspace::DemoWorkspace;
use crate::error::CliError;
use crate::signals::StopSignals;
use crate::{logging, output};

/// How long the server may take to start.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// The signal that *Pull the plug* sends.
const SIGKILL: i32 = 9;

/// Runs the demo until the project is complete (with `--exit`) or a signal arrives.
///
/// # Errors
/// When the repository or the server of the demo cannot be created.
pub(crate) async fn run(options: &Demo) -> Result<ExitCode, CliError> {
    logging::start("warn");
    if options.real && !workspace::confirm_cost()? {
        return Ok(ExitCode::SUCCESS);
    }
    let workspace = DemoWorkspace::create(options.real).await?;
    let outcome = run_demo(&workspace, options).await;
    workspace.remove().await;
    outcome
}

async fn run_demo(workspace: &DemoWorkspace, options: &Demo) -> Result<ExitCode, CliError> {
    let mut signals = StopSignals::listen()?;
    let mut server = Server::start(workspace, None).await?;
    output::line(if options.real {
        "Claude Code uses your account; it costs money until you stop the demo."
    } else {
        "Scripted agents: no model, no account. Git, worktrees, reviews and merges are real."
    });
    let mut human = DemoHuman::start(Client::new(workspace.config())?, workspace, options.exit).await?;
    output::line(&server.link);
    if !options.exit {
        output::line("The agents start when you open it.");
    }
    if !options.no_open
        && let Err(error) = runner::process::open_browser(&server.link)
    {
        tracing::debug!(%error, "no browser was opened");
    }
    loop {
        tokio::select! {
            done = human.step() => if let Some(summary) = done? {
                server.stop().await;
                output::line(summary);
                return Ok(ExitCode::SUCCESS);
            },
            status = server.child.wait() => {
                let status = status.map_err(CliError::io("wait for the server"))?;
                if std::os::unix::process::ExitStatusExt::signal(&status) != Some(SIGKILL) {
                    return Err(CliError::Demo(format!("the server ended unexpectedly ({status}); its log is above")));
                }
                output::line("The plug was pulled. Restarting.");
                server = Server::start(workspace, Some(server.port)).await?;
            }
            () = signals.wait() => {
                server.stop().await;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// The server process of the demo.
struct Server {
    child: Child,
    port: u16,
    link: String,
}

impl Server {
    async fn start(workspace: &DemoWorkspace, port: Option<u16>) -> Result<Self, CliError> {
        let program = std::env::current_exe().map_err(CliError::io("find this program's own file"))?;
        let config = workspace.config_file().to_string_lossy().into_owned();
        let port = port.map(|port| port.to_string());
        let mut arguments = vec!["--config", &config, "serve", "--no-open", "--demo"];
        if let Some(port) = &port {
            arguments.extend(["--port", port]);
        }
        let mut child = runner::process::start_server(&program, &arguments, workspace.folder())?;
        let stdout = child.stdout.take().ok_or_else(|| CliError::Demo("the server has no output".to_owned()))?;
        let mut lines = BufReader::new(stdout).lines();
        let (mut listening, mut link) = (None, None);
        let read = async {
            while let Ok(Some(line)) = lines.next_line().await {
                if let Some(url) = line.strip_prefix("listening on ") {
                    listening = url.rsplit(':').next().and_then(|port| port.parse().ok());
                }
                if let Some(url) = line.strip_prefix("open ") {
                    link = Some(url.to_owned());
                    break;
                }
            }
        };
        // A missing address below shows that the server ended or was too slow.
        drop(tokio::time::timeout(START_TIMEOUT, read).await);
        match (listening, link) {
            (Some(port), Some(link)) => Ok(Self { child, port, link }),
            _ => {
                drop(child.kill().await);
                Err(CliError::Demo("the board could not be started; its log is above".to_owned()))
            }
        }
    }

    /// Stops the server with SIGTERM.
    async fn stop(&mut self) {
        if let Some(id) = self.child.id() {
            runner::process::terminate(id);
        }
        drop(self.child.wait().await);
    }
}
