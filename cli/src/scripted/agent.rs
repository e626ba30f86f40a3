//! The scripted agent: behaves like `claude -p` with stream-json, but plays a scenario instead of asking a model. Its commits, files and MCP
//! calls are real. Must not know the board or the runner; it sees only its prompt, its folder and its MCP server.

use std::io;
use std::path::PathBuf;

use tokio::signal::unix::{SignalKind, signal};

use super::arguments::{ArgumentError, Arguments, Session as SessionChoice};
use super::mcp_client::{ConfigError, McpServer};
use super::scenario::{Scenario, ScenarioError};
use super::session::{self, Session, SessionError};
use super::stream::{self, Stream};

mod input;
mod turn;

use input::Input;

/// The exit status after SIGTERM, as in a shell.
const TERMINATED: u8 = 143;

/// The reason why the agent ends without playing.
#[derive(Debug, thiserror::Error)]
enum AgentError {
    #[error(transparent)]
    Arguments(#[from] ArgumentError),
    #[error(transparent)]
    Scenario(#[from] ScenarioError),
    #[error(transparent)]
    McpConfig(#[from] ConfigError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("the system prompt file {} could not be read", path.display())]
    SystemPrompt { path: PathBuf, source: io::Error },
    #[error("the scripted agent lost its own input or output")]
    Pipe(#[from] io::Error),
}

/// Runs the agent with the arguments after its command name and returns its exit status.
pub async fn run(arguments: &[String]) -> u8 {
    if arguments.iter().any(|argument| argument == "--version") {
        let version = concat!(env!("CARGO_PKG_VERSION"), " (vibe-relay scripted agent)\n");
        return u8::from(io::Write::write_all(&mut io::stdout(), version.as_bytes()).is_err());
    }
    let mut terminate = match signal(SignalKind::terminate()) {
        Ok(terminate) => terminate,
        Err(error) => return fail(&AgentError::Pipe(error)),
    };
    // Dropping the agent's future kills its command and its MCP server; a killed agent prints no result.
    tokio::select! {
        ended = play(arguments) => ended.unwrap_or_else(|error| fail(&error)),
        _ = terminate.recv() => TERMINATED,
    }
}

fn fail(error: &AgentError) -> u8 {
    let mut text = format!("Error: {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(inner) = cause {
        text.push_str(&format!(": {inner}"));
        cause = inner.source();
    }
    // Nothing can be reported without standard error.
    let _ = io::Write::write_fmt(&mut io::stderr(), format_args!("{text}\n"));
    1
}

async fn play(arguments: &[String]) -> Result<u8, AgentError> {
    let arguments = Arguments::parse(arguments)?;
    let scenario = Scenario::read(&arguments.scenario)?;
    if let Some(path) = &arguments.system_prompt_file {
        std::fs::read(path).map_err(|source| AgentError::SystemPrompt { path: path.clone(), source })?;
    }
    let folder = std::env::current_dir()?;
    let mut server = arguments.mcp_config.as_deref().map(|config| McpServer::read(config, &folder)).transpose()?;

    let sessions = session::folder(&arguments.scenario);
    let (SessionChoice::New(session_id) | SessionChoice::Resume(session_id)) = arguments.session;
    let stream = Stream { session_id, model: arguments.model.clone(), cwd: folder.display().to_string() };
    let session = match arguments.session {
        SessionChoice::New(id) => Session::create(&sessions, id)?,
        SessionChoice::Resume(id) => match Session::resume(&sessions, id) {
            Err(error @ SessionError::Unknown(_)) => {
                stream::print(&turn::no_session(&stream, &error))?;
                return Err(error.into());
            }
            opened => opened?,
        },
    };
    if let Some(server) = &mut server {
        server.start().await;
    }

    let input = Input::start();
    let mut player = turn::Player { arguments, scenario, sessions, session, stream, server, folder, input };
    let status = player.play_all().await;
    if let Some(server) = &mut player.server {
        server.stop().await;
    }
    status
}
