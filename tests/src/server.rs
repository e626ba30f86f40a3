//! A vibe-relay server for one test: a process with its own folder, repository and client. It must reach the product only over HTTP and
//! signals.

use std::fs::DirEntry;
use std::fs::{self, File};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use domain::board::card::Card;
use domain::board::reducer::Board;
use domain::board::status::Status;
use domain::config::Config;
use domain::runs::sandbox::SandboxTier;
use domain::wire::BOARD_HOST;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use crate::client::Client;
use crate::git;

/// The file in the folder that receives standard error of the server.
const STDERR: &str = "serve.stderr";
/// How long a server may take to exit. Only a failing test waits this long.
const STOP_TIMEOUT: Duration = Duration::from_secs(60);

/// The options of a server, which a test can change before it starts.
#[derive(Debug)]
pub struct ServerOptions {
    /// The product's program.
    pub program: PathBuf,
    pub config: Config,
    /// The server's whole environment.
    pub environment: Vec<(String, String)>,
}

/// A server process, its folder and a client. Dropping it kills the server and its agents.
#[derive(Debug)]
pub struct TestServer {
    pub folder: TempDir,
    options: ServerOptions,
    process: Option<Child>,
    /// A link that signs one browser in, once.
    pub sign_in_link: String,
    client: Client,
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl TestServer {
    /// Creates a folder with a repository of these files and starts a server in it.
    ///
    /// # Errors
    /// A file could not be written, or the server did not start.
    pub async fn start(program: &Path, files: &[(&str, &str)], change: impl FnOnce(&mut ServerOptions, &Path)) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let root = folder.path().canonicalize()?;
        git::repository(&root.join("repo"), files)?;
        let config = Config {
            repo_path: Some(root.join("repo")),
            worktrees_path: root.join("worktrees"),
            db_path: root.join("data/vibe-relay.db"),
            // Scenarios work outside their checkouts.
            sandbox: Some(SandboxTier::None),
            ..Config::default()
        };
        let environment = [("PATH", std::env::var("PATH").unwrap_or_default()), ("HOME", root.join("home").display().to_string())];
        let environment = environment.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let mut options = ServerOptions { program: program.to_owned(), config, environment };
        change(&mut options, &root);
        std::fs::create_dir_all(root.join("home"))?;
        std::fs::write(root.join("config.json"), serde_json::to_string(&options.config)?)?;
        let mut server = Self { folder, options, process: None, sign_in_link: String::new(), client: Client::default() };
        server.serve().await?;
        Ok(server)
    }

    /// The test's folder, without symbolic links in its path.
    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap_or_default()
    }

    pub fn repository(&self) -> PathBuf {
        self.root().join("repo")
    }

    /// The server's port; 0 before the first start.
    pub fn port(&self) -> u16 {
        self.url.rsplit(':').next().and_then(|port| port.parse().ok()).unwrap_or(0)
    }

    /// The address of the board in a browser, which is signed in under this name only.
    pub fn board_url(&self) -> String {
        format!("http://{BOARD_HOST}:{}", self.port())
    }

    /// Starts the server on the port that it had before.
    ///
    /// # Errors
    /// The server ended before it listened.
    pub async fn serve(&mut self) -> io::Result<()> {
        self.serve_on(self.port()).await
    }

    /// Starts the server on a port; 0 selects a free one.
    ///
    /// # Errors
    /// The server ended before it listened.
    pub async fn serve_on(&mut self, port: u16) -> io::Result<()> {
        let mut command = self.command(&["serve", "--no-open", "--port", &port.to_string()]);
        let log = File::options().create(true).append(true).open(self.root().join(STDERR))?;
        let mut process = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let lines = process.stdout.take().map(BufReader::new).map(AsyncBufReadExt::lines);
        let mut lines = lines.ok_or_else(|| io::Error::other("no output"))?;
        // The server prints the link right after the address.
        self.sign_in_link = loop {
            let line = lines.next_line().await?.ok_or_else(|| io::Error::other("the server ended before it listened"))?;
            if let Some(url) = line.strip_prefix("listening on ") {
                self.client.url = url.to_owned();
            }
            if let Some(link) = line.strip_prefix("open ") {
                break link.to_owned();
            }
        };
        self.process = Some(process);
        self.client.token = std::fs::read_to_string(self.root().join("data/token"))?.trim().to_owned();
        Ok(())
    }

    /// A command of the product with this server's configuration and environment.
    pub fn command(&self, arguments: &[&str]) -> Command {
        self.command_with_config("config.json", arguments)
    }

    /// A command of the product with another file in the test's folder as its configuration.
    pub fn command_with_config(&self, file: &str, arguments: &[&str]) -> Command {
        #[expect(clippy::disallowed_methods, reason = "a test starts the product as a person does")]
        let mut command = Command::new(&self.options.program);
        command.arg("--config").arg(self.root().join(file)).args(arguments).current_dir(self.root());
        command.env_clear().envs(self.options.environment.iter().map(|(name, value)| (name, value))).kill_on_drop(true);
        command
    }

    /// Kills the server, as a power cut would.
    ///
    /// # Errors
    /// The server is not running.
    pub async fn kill(&mut self) -> io::Result<()> {
        match &mut self.process {
            Some(process) => process.kill().await,
            None => Err(io::Error::other("the server is not running")),
        }
    }

    /// Stops the server with SIGTERM and returns its exit status.
    ///
    /// # Errors
    /// The server is not running or does not exit.
    pub async fn stop(&mut self) -> io::Result<ExitStatus> {
        let process = self.process.as_mut().ok_or_else(|| io::Error::other("the server is not running"))?;
        let id = process.id().ok_or_else(|| io::Error::other("the server has ended"))?;
        crate::terminate(id)?;
        tokio::time::timeout(STOP_TIMEOUT, process.wait()).await?
    }

    /// Processes whose command line contains the folder.
    fn processes(&self) -> Vec<Pid> {
        let Ok(root) = self.folder.path().canonicalize() else { return Vec::new() };
        let root = root.display().to_string();
        let id = |entry: DirEntry| entry.file_name().to_str()?.parse().ok().map(Pid::from_raw);
        let names_place =
            |entry: &DirEntry| std::fs::read(entry.path().join("cmdline")).is_ok_and(|line| String::from_utf8_lossy(&line).contains(&root));
        std::fs::read_dir("/proc").into_iter().flatten().flatten().filter(names_place).filter_map(id).collect()
    }

    /// Kills all processes of the server's agents, and the server.
    pub fn kill_agents(&self) {
        for process in self.processes() {
            let _ended_meanwhile = kill(process, Signal::SIGKILL);
        }
    }

    /// The server's process id while it runs.
    pub fn server_id(&self) -> Option<u32> {
        self.process.as_ref().and_then(Child::id)
    }
}

/// Agents outlive their server; they must not outlive the test.
impl Drop for TestServer {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let log = fs::read_to_string(self.root().join(STDERR)).unwrap_or_default();
            #[expect(clippy::print_stderr, reason = "only a failing test shows the log of its server")]
            {
                eprintln!("{log}");
            }
        }
        if let Some(process) = &mut self.process {
            let _ended_already = process.start_kill();
        }
        self.kill_agents();
    }
}

/// The card whose title contains `title`.
///
/// # Panics
/// No title contains it.
pub fn card<'a>(board: &'a Board, title: &str) -> &'a Card {
    let found = board.cards.iter().find(|card| card.title.contains(title));
    found.unwrap_or_else(|| {
        panic!("no card has {title} in its title; the board has {:?}", board.cards.iter().map(|card| &card.title).collect::<Vec<_>>())
    })
}

/// Whether every card is done and no agent is running.
pub fn all_done(board: &Board) -> bool {
    board.cards.iter().all(|card| card.status == Status::Done && card.run.is_none())
}
