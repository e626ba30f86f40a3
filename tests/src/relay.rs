//! A running vibe-relay with a place of its own: a process, its folder, a repository, and a client of it. It must reach the product only over
//! HTTP and signals.

use std::fs::DirEntry;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::config::Config;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::client::Client;
use crate::git;

/// How long a server may take to end: only a test that fails waits so long.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a test starts a server with.
#[derive(Debug)]
pub struct Setting {
    /// The product's program.
    pub program: PathBuf,
    pub config: Config,
    /// The server's whole environment.
    pub environment: Vec<(String, String)>,
}

/// The server and everything around it. Dropping it ends all of it the hard way.
#[derive(Debug)]
pub struct Relay {
    pub folder: TempDir,
    setting: Setting,
    server: Option<Child>,
    /// The link that signs a browser in, once.
    pub sign_in: String,
    client: Client,
}

impl Deref for Relay {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Relay {
    /// A folder with a repository of these files, and a server that is ready.
    ///
    /// # Errors
    /// Something could not be written or started.
    pub async fn start(program: &Path, files: &[(&str, &str)], change: impl FnOnce(&mut Setting, &Path)) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let place = folder.path().canonicalize()?;
        git::repository(&place.join("repo"), files)?;
        let config = Config {
            repo_path: Some(place.join("repo")),
            worktrees_path: place.join("worktrees"),
            db_path: place.join("data/vibe-relay.db"),
            ..Config::default()
        };
        let environment = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", place.join("home").display().to_string())];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut setting = Setting { program: program.to_owned(), config, environment };
        change(&mut setting, &place);
        std::fs::create_dir_all(place.join("home"))?;
        std::fs::write(place.join("config.json"), serde_json::to_string(&setting.config)?)?;
        let mut relay = Self { folder, setting, server: None, sign_in: String::new(), client: Client::default() };
        relay.serve().await?;
        Ok(relay)
    }

    /// The folder without symbolic links in its path.
    pub fn place(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_default()
    }

    pub fn repository(&self) -> PathBuf {
        self.place().join("repo")
    }

    /// The server's port; 0 before the first start.
    pub fn port(&self) -> u16 {
        self.url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0)
    }

    /// Starts the server, on the port that it had before.
    ///
    /// # Errors
    /// It did not say that it listens.
    pub async fn serve(&mut self) -> io::Result<()> {
        self.serve_on(self.port()).await
    }

    /// Starts the server on a port; 0 is a free one.
    ///
    /// # Errors
    /// It did not say that it listens.
    pub async fn serve_on(&mut self, port: u16) -> io::Result<()> {
        let mut command = self.command(&["serve", "--no-open", "--port", &port.to_string()]);
        let mut server = command.stdout(Stdio::piped()).spawn()?;
        let lines = server.stdout.take().map(BufReader::new).map(AsyncBufReadExt::lines);
        let mut lines = lines.ok_or_else(|| io::Error::other("no output"))?;
        // The link comes right after the address.
        self.sign_in = loop {
            let line = lines.next_line().await?.ok_or_else(|| io::Error::other("the server ended before it listened"))?;
            if let Some(url) = line.strip_prefix("listening on ") {
                self.client.url = url.to_owned();
            }
            if let Some(link) = line.strip_prefix("open ") {
                break link.to_owned();
            }
        };
        self.server = Some(server);
        self.client.token = std::fs::read_to_string(self.place().join("data/token"))?.trim().to_owned();
        Ok(())
    }

    /// The product's program with this place's configuration and environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a test starts the product as a person does")]
        let mut command = Command::new(&self.setting.program);
        command.arg("--config").arg(self.place().join("config.json")).args(arguments).current_dir(self.place());
        command.env_clear().envs(self.setting.environment.iter().map(|(name, value)| (name, value))).kill_on_drop(true);
        command
    }

    /// Ends the server as a power cut would.
    ///
    /// # Errors
    /// It does not run.
    pub async fn kill(&mut self) -> io::Result<()> {
        match &mut self.server {
            Some(server) => server.kill().await,
            None => Err(io::Error::other("no server runs")),
        }
    }

    /// Ends the server as a person would, and says how it ended.
    ///
    /// # Errors
    /// It does not run, or does not end.
    pub async fn end(&mut self) -> io::Result<ExitStatus> {
        let server = self.server.as_mut().ok_or_else(|| io::Error::other("no server runs"))?;
        let id = server.id().ok_or_else(|| io::Error::other("the server has ended"))?;
        crate::terminate(id)?;
        tokio::time::timeout(PATIENCE, server.wait()).await?
    }

    /// Processes whose command line names the folder.
    fn processes(&self) -> Vec<Pid> {
        let Ok(place) = self.folder.path().canonicalize() else { return Vec::new() };
        let place = place.display().to_string();
        let id = |entry: DirEntry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw);
        let names_place =
            |entry: &DirEntry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(&place));
        std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(names_place).filter_map(id).collect()
    }

    /// The server's process id, while it runs.
    pub fn server_id(&self) -> Option<u32> {
        self.server.as_ref().and_then(Child::id)
    }
}

/// Agents outlive their server, but no test.
impl Drop for Relay {
    fn drop(&mut self) {
        if let Some(server) = &mut self.server {
            let _ended_already = server.start_kill();
        }
        for process in self.processes() {
            let _ended_meanwhile = kill(process, Signal::SIGKILL);
        }
    }
}

/// The card whose title contains `title`.
///
/// # Panics
/// There is none.
pub fn card<'a>(board: &'a Board, title: &str) -> &'a Card {
    let found = board.cards.iter().find(|card| card.title.contains(title));
    found.unwrap_or_else(|| panic!("no card is called {title}; the board has {:?}", board.cards.iter().map(|card| &card.title).collect::<Vec<_>>()))
}

/// Whether every card is done and no agent's process is left.
pub fn all_done(board: &Board) -> bool {
    board.cards.iter().all(|card| card.status == Status::Done && card.run.is_none())
}
