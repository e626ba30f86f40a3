//! `vibe-relay demo`: a board of its own that plays to its end. It prepares a repository and looks after a server; the rest is the product.

mod play;
mod stage;

use std::process::ExitCode;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::Child;

use crate::args::Demo;
use crate::client::Client;
use crate::demo::play::Player;
use crate::demo::stage::Stage;
use crate::error::CliError;
use crate::signals::StopSignals;
use crate::{logging, output};

/// How long the server may take to be there.
const START: Duration = Duration::from_secs(20);
/// SIGKILL, as which a pulled plug shows.
const PLUG: i32 = 9;

/// Runs the demonstration until the project is complete (with `--exit`) or the person ends it.
///
/// # Errors
/// When the demonstration's repository or server cannot be made.
pub(crate) async fn run(options: &Demo) -> Result<ExitCode, CliError> {
    logging::start("warn");
    if options.real && !stage::agreed()? {
        return Ok(ExitCode::SUCCESS);
    }
    let stage = Stage::build(options.real).await?;
    let outcome = perform(&stage, options).await;
    stage.clear().await;
    outcome
}

async fn perform(stage: &Stage, options: &Demo) -> Result<ExitCode, CliError> {
    let mut signals = StopSignals::listen()?;
    let mut server = Server::start(stage, None).await?;
    output::line(if options.real {
        "Claude Code works here with your account; it costs money until you end this."
    } else {
        "Scripted agents, no model, no account; git, worktrees, reviews and merges are real."
    });
    let mut player = Player::begin(Client::of(stage.config())?, stage, options.exit).await?;
    output::line(&server.link);
    if !options.no_open
        && let Err(error) = runner::process::open_browser(&server.link)
    {
        tracing::debug!(%error, "no browser was opened");
    }
    loop {
        tokio::select! {
            done = player.step() => if let Some(summary) = done? {
                server.end().await;
                output::line(summary);
                return Ok(ExitCode::SUCCESS);
            },
            status = server.child.wait() => {
                let status = status.map_err(CliError::io("wait for the server"))?;
                if std::os::unix::process::ExitStatusExt::signal(&status) != Some(PLUG) {
                    return Err(CliError::Demo(format!("the server ended by itself ({status}); its last words are above")));
                }
                output::line("The plug was pulled. Starting again.");
                server = Server::start(stage, Some(server.port)).await?;
            }
            () = signals.wait() => {
                server.end().await;
                return Ok(ExitCode::SUCCESS);
            }
        }
    }
}

/// The server that the demonstration looks after.
struct Server {
    child: Child,
    port: u16,
    link: String,
}

impl Server {
    async fn start(stage: &Stage, port: Option<u16>) -> Result<Self, CliError> {
        let program = std::env::current_exe().map_err(CliError::io("find this program's own file"))?;
        let config = stage.config_file().to_string_lossy().into_owned();
        let port = port.map(|port| port.to_string());
        let mut arguments = vec!["--config", &config, "serve", "--no-open", "--demo"];
        if let Some(port) = &port {
            arguments.extend(["--port", port]);
        }
        let mut child = runner::process::start_server(&program, &arguments, stage.folder())?;
        let said = child.stdout.take().ok_or_else(|| CliError::Demo("the server has no output".to_owned()))?;
        let mut lines = BufReader::new(said).lines();
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
        // Whether it ended, or never spoke, is told by what is missing.
        drop(tokio::time::timeout(START, read).await);
        match (listening, link) {
            (Some(port), Some(link)) => Ok(Self { child, port, link }),
            _ => {
                drop(child.kill().await);
                Err(CliError::Demo("the board could not be started; its last words are above".to_owned()))
            }
        }
    }

    /// Ends the server as a person would.
    async fn end(&mut self) {
        if let Some(id) = self.child.id() {
            runner::process::terminate(id);
        }
        drop(self.child.wait().await);
    }
}
