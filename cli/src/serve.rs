//! `vibe-relay serve`: the composition root. Opens the store, puts HTTP, MCP and the runner on it, and ends them in order.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use api::{AppState, DemoHooks, SignIn};
use db::Db;
use domain::config::Config;
use mcp::server_file::{self, ServerFile};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::broadcast;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::Serve;
use crate::error::CliError;
use crate::{dead_drop, logging, output, setting};

const FIRST_PORT: u16 = 9400;
const LAST_PORT: u16 = 9499;
/// Lines of activity that a slow reader may be behind; it misses the older ones, which nobody needs.
const ACTIVITY_BACKLOG: usize = 256;

/// Serves until SIGTERM or SIGINT. Agents at work go on without it.
///
/// # Errors
/// When the configuration, the database or the port cannot be used.
pub(crate) async fn run(config: Option<&Path>, options: &Serve) -> Result<(), CliError> {
    // The library calls each stream whose client left an error; what is wrong with a request is told by us.
    logging::start("info,rmcp=warn,rmcp::service=off");
    let mut config = setting::config(config)?;
    if config.repo_path.is_none() {
        config.repo_path = repository_here();
    }
    let (port, hint) = dead_drop::for_server(options.port, &config.db_path, dead_drop::variable);
    hint.into_iter().for_each(output::hint);
    let config = Arc::new(config);
    let shutdown = CancellationToken::new();
    end_on_signals(&shutdown)?;
    let db = Db::open(&config).await.map_err(|error| taken(error, &config))?;
    let token = setting::token(&config)?;
    db.set_human_token(&token).await?;
    let listener = listen(port).await?;
    let port = listener.local_addr().map_err(CliError::io("find out the port"))?.port();
    let url = format!("http://127.0.0.1:{port}");
    let server = ServerFile { url: url.clone(), epoch: db.epoch().to_owned(), pid: std::process::id() };

    let sign_in = SignIn::new(&token);
    let (activity, _) = broadcast::channel(ACTIVITY_BACKLOG);
    let demo = options.demo.then(|| demo_hooks(config.agent_command.iter().any(|part| part == "scripted-agent")));
    if let Some(hooks) = &demo {
        tokio::spawn(find_demo_project(db.clone(), Arc::clone(hooks)));
    }
    let state = AppState {
        db: db.clone(),
        config: Arc::clone(&config),
        port,
        sign_in: sign_in.clone(),
        activity: activity.clone(),
        shutdown: shutdown.clone(),
        demo: demo.clone(),
    };
    let router = api::router(state, mcp::router(db.clone(), shutdown.clone()));
    server_file::write(&config.db_path, &server)?;
    let program = std::env::current_exe().map_err(CliError::io("find this program's own file"))?;
    let runner = tokio::spawn(runner::supervise(db, Arc::clone(&config), program, activity, shutdown.clone()));
    announce(&url, &sign_in, options);

    let ended = both(api::serve(listener, router, shutdown.clone()), runner, &shutdown).await;
    let removed = server_file::remove(&config.db_path, &server);
    ended?;
    Ok(removed?)
}

/// Waits for the board and the runner to end. Neither goes on without the other: a board on which nothing is ever started looks alive.
///
/// # Errors
/// With what ended the first of them before its time.
async fn both(
    board: impl Future<Output = io::Result<()>>,
    mut runner: JoinHandle<db::Result<()>>,
    shutdown: &CancellationToken,
) -> Result<(), CliError> {
    let mut board = pin!(board);
    let (served, supervised) = tokio::select! {
        served = &mut board => {
            shutdown.cancel();
            (served, runner.await)
        }
        supervised = &mut runner => {
            shutdown.cancel();
            (board.await, supervised)
        }
    };
    supervised.map_err(CliError::RunnerBrokeOff)??;
    served.map_err(CliError::io("serve the board"))
}

/// The repository of the current folder: what a new project begins with when nothing else is configured.
fn repository_here() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    repo::probe(&here, None).ok().map(|probe| probe.repo_path.into())
}

/// Whoever finds the database in use wants to know where its board is.
fn taken(error: db::Error, config: &Config) -> CliError {
    match (error, server_file::read(&config.db_path)) {
        (error @ db::Error::Locked { .. }, Ok(Some(server))) => CliError::AlreadyRunning { url: server.url, source: error },
        (error, _) => error.into(),
    }
}

/// Says where the board is, and shows it.
fn announce(url: &str, sign_in: &SignIn, options: &Serve) {
    let link = format!("{url}/sign-in?code={}", sign_in.code());
    // Scripts wait for exactly this line.
    output::line(format!("listening on {url}"));
    output::line(format!("open {link}"));
    if options.no_open {
        return;
    }
    if let Err(error) = runner::process::open_browser(&link) {
        tracing::debug!(%error, "no browser was opened");
    }
}

async fn listen(wanted: Option<u16>) -> Result<TcpListener, CliError> {
    let taken = |error: &io::Error| matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied);
    if let Some(port) = wanted {
        return TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(|error| if taken(&error) { CliError::PortTaken { port } } else { CliError::io(format!("listen on port {port}"))(error) });
    }
    for port in FIRST_PORT..=LAST_PORT {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if taken(&error) => {}
            Err(error) => return Err(CliError::io(format!("listen on port {port}"))(error)),
        }
    }
    Err(CliError::NoPort { first: FIRST_PORT, last: LAST_PORT })
}

fn end_on_signals(shutdown: &CancellationToken) -> Result<(), CliError> {
    let mut terminate = signal(SignalKind::terminate()).map_err(CliError::io("listen for SIGTERM"))?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(CliError::io("listen for SIGINT"))?;
    let shutdown = shutdown.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        shutdown.cancel();
    });
    Ok(())
}

/// What the demonstration adds: its page, and a button that ends this very process the hard way. Whoever started it starts it again.
fn demo_hooks(scripted: bool) -> Arc<DemoHooks> {
    Arc::new(DemoHooks {
        page_url: "/demo/site/".to_owned(),
        scripted,
        project: OnceLock::new(),
        pull_the_plug: Box::new(|| {
            runner::process::crash_self();
        }),
    })
}

/// Tells the page which project it shows, as soon as there is one.
async fn find_demo_project(db: Db, hooks: Arc<DemoHooks>) {
    let mut news = db.subscribe();
    loop {
        if let Some(project) = db.projects().await.ok().and_then(|projects| projects.into_iter().next()) {
            // Set once: a demonstration has one project.
            drop(hooks.project.set(project.id));
            return;
        }
        if news.changed().await.is_err() {
            return;
        }
    }
}

/// The configuration with which a demonstration or a test is served.
pub(crate) fn write_config(path: &Path, config: &Config) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(config).map_err(|error| CliError::Demo(error.to_string()))?;
    std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A board that serves until it is told to end.
    async fn board(shutdown: CancellationToken) -> io::Result<()> {
        shutdown.cancelled().await;
        Ok(())
    }

    #[tokio::test]
    async fn a_board_whose_runner_broke_off_ends_and_says_so() {
        let shutdown = CancellationToken::new();
        let failed = tokio::spawn(async { Err(db::Error::Closed) });
        let ended = both(board(shutdown.clone()), failed, &shutdown).await;
        assert!(matches!(ended, Err(CliError::Store(db::Error::Closed))), "{ended:?}");

        let shutdown = CancellationToken::new();
        let defect = tokio::spawn(async { panic!("a defect") });
        let ended = both(board(shutdown.clone()), defect, &shutdown).await;
        assert!(matches!(ended, Err(CliError::RunnerBrokeOff(_))), "{ended:?}");
    }

    #[tokio::test]
    async fn a_runner_ends_with_its_board() {
        let runner = |shutdown: &CancellationToken| {
            let shutdown = shutdown.clone();
            tokio::spawn(async move {
                shutdown.cancelled().await;
                Ok(())
            })
        };
        let shutdown = CancellationToken::new();
        let ended = both(std::future::ready(Err(ErrorKind::AddrInUse.into())), runner(&shutdown), &shutdown).await;
        assert!(matches!(ended, Err(CliError::Io { .. })), "{ended:?}");
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        assert!(both(board(shutdown.clone()), runner(&shutdown), &shutdown).await.is_ok());
    }
}
