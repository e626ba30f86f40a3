//! `vibe-relay serve`: the composition root. Opens the store, starts HTTP, MCP and the runner on it, and stops them in order.

mod announcement;

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, OnceLock};

use api::{AppState, CanOpen, DemoHooks, FollowBase, ImportIssue, MapCode, Publish, ReadIssue, SignIn, UpdateCheckout};
use db::Db;
use domain::config::Config;
use domain::runs::tick::Ticks;
use domain::team::person::OWNER;
use mcp::Proof;
use mcp::server_file::{self, ServerFile};
use mcp::server_socket::{self, ServerSocket};
use runner::process::Programs;
use runner::publication::{self, Tools};
use runner::warroom::code_map;
use runner::{RunContext, checkout_update};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::args::Serve;
use crate::doctor::start;
use crate::error::CliError;
use crate::reload::Reload;
use crate::runs::parking;
use crate::signals::{self, StopSignals};
use crate::token_file::TokenFile;
use crate::{dead_drop, last_port, logging, output, settings};

const FIRST_PORT: u16 = 9400;
const LAST_PORT: u16 = 9499;

/// Serves until SIGTERM or SIGINT. Running agents continue without the server.
///
/// # Errors
/// When the configuration, the database or the port cannot be used.
pub(crate) async fn run(config: Option<&Path>, options: &Serve) -> Result<(), CliError> {
    api::raise_file_limit();
    if options.detached {
        runner::process::leave_terminal();
    }
    let reload = Reload::load(config)?;
    let live = reload.subscribe();
    let config = live.borrow().config.clone();
    // The log is below one of these folders.
    start::require_folders(&config)?;
    let log = logging::start_server(&config)?;
    let (port, hint) = dead_drop::for_server(options.port, &config.db_path, dead_drop::variable);
    hint.into_iter().for_each(output::hint);
    let shutdown = CancellationToken::new();
    signals::ignore_hangup()?;
    let mut signals = StopSignals::listen()?;
    tokio::spawn({
        let shutdown = shutdown.clone();
        async move {
            signals.wait().await;
            shutdown.cancel();
        }
    });
    let lock = Db::lock(&config).await.map_err(|error| already_running(error, &config))?;
    // After the lock, so that a port in use is not that of this board. Before the database is opened, because that may migrate it.
    start::require(&config, port).await?;
    let (requested, last) = (port.or(config.port), last_port::read(&config.db_path));
    let listener = listen(requested, last).await?;
    let db = Db::open_locked(&config, lock).await?;
    let token_file = Arc::new(TokenFile::open(&config)?);
    db.set_owner(&settings::owner_name(), &token_file.token()).await?;
    let port = listener.local_addr().map_err(CliError::io("read the port"))?.port();
    let lost_port = last.filter(|last| requested.is_none() && *last != port);
    if lost_port.is_none() {
        last_port::write(&config.db_path, port);
    }
    let url = format!("http://127.0.0.1:{port}");
    let secret = db::new_token();
    let proof = Proof::new(secret.clone(), port);
    let server = ServerFile { url: url.clone(), epoch: db.epoch().to_owned(), pid: std::process::id(), secret };
    let (socket, local) = bind_socket(&config).unzip();

    let sign_in = SignIn::default();
    let activity = watch::Sender::default();
    let demo = options.demo.then(|| demo_hooks(config.agent_command.iter().any(|part| part == "scripted-agent")));
    if let Some(hooks) = &demo {
        tokio::spawn(find_demo_project(db.clone(), Arc::clone(hooks)));
    }
    let ticks = watch::Sender::new(Ticks::new(db::now()));
    let sandbox = watch::Sender::new(None);
    let programs = Programs::of_this_process().map_err(CliError::io("find the program file"))?;
    let context = RunContext { db: db.clone(), config: live.clone(), programs, activity: activity.clone(), sandbox: sandbox.clone() };
    let state = AppState {
        db: db.clone(),
        config: live.clone(),
        port,
        assets: embed::ASSETS,
        sign_in: sign_in.clone(),
        save_token: Arc::new({
            let file = Arc::clone(&token_file);
            move |token| file.replace(token)
        }),
        restore_token: Arc::new(move || token_file.restore()),
        activity: activity.clone(),
        ticks: ticks.subscribe(),
        sandbox: sandbox.subscribe(),
        map_code: map_code(db.clone(), context.programs.running.clone()),
        publish: publish(db.clone()),
        follow_base: follow_base(context.clone()),
        update_checkout: update_checkout(db.clone()),
        can_open: can_open(),
        read_issue: read_issue(),
        import_issue: import_issue(db.clone()),
        shutdown: shutdown.clone(),
        demo: demo.clone(),
    };
    let router = api::router(state, mcp::router(db.clone(), live.clone(), proof, shutdown.clone()));
    server_file::write(&config.db_path, &server)?;
    let notifications = tokio::spawn(api::send_notifications(db.clone(), live.clone(), shutdown.clone()));
    let runner = tokio::spawn(runner::supervise(context, ticks, shutdown.clone()));
    tokio::spawn(reload.run());
    announcement::announce(&url, &log, lost_port.map(|lost| (lost, port)));
    let (link, obstacles) = (sign_in.link(port, OWNER), announcement::say_obstacles(db.clone(), config.clone()));
    tokio::spawn(announcement::offer_link(link, obstacles, options.clone()));
    let parking_lines = tokio::spawn(parking::announce(db));

    let board = async {
        api::serve(listener, local, router, shutdown.clone()).await;
        Ok(())
    };
    let ended = run_until_first_exit(board, runner, &shutdown).await;
    parking_lines.abort();
    // A notification on its way is repeated at the next start, so it does not delay this end.
    notifications.abort();
    let closed = socket.map_or(Ok(()), |socket| socket.remove());
    let removed = server_file::remove(&config.db_path, &server);
    ended?;
    closed?;
    Ok(removed?)
}

/// How the board lets a code map be made.
fn map_code(db: Db, program: PathBuf) -> Arc<MapCode> {
    Arc::new(move |project| {
        let (db, program) = (db.clone(), program.clone());
        Box::pin(async move { code_map::map_code(&db, &program, &project).await })
    })
}

/// How the board lets the branch of a project be pushed.
fn publish(db: Db) -> Arc<Publish> {
    Arc::new(move |caller, project, options| {
        let db = db.clone();
        Box::pin(async move {
            let tools = Tools::find(&std::env::var_os("PATH").unwrap_or_default());
            publication::publish(&db, &tools, &caller, &project, options).await
        })
    })
}

/// How the board follows the base branch before a landing.
fn follow_base(context: RunContext) -> Arc<FollowBase> {
    Arc::new(move |project| {
        let context = context.clone();
        Box::pin(async move { runner::follow_before_landing(&context, &project).await })
    })
}

/// How the board lets a checkout be updated that only `git` can update.
fn update_checkout(db: Db) -> Arc<UpdateCheckout> {
    Arc::new(move |project, update| {
        let db = db.clone();
        Box::pin(async move {
            let path = std::env::var_os("PATH").unwrap_or_default();
            checkout_update::update_checkout(&db, &path, &project, update).await
        })
    })
}

/// How the board finds out whether a pull request can be opened.
fn can_open() -> Arc<CanOpen> {
    Arc::new(|repository| {
        Box::pin(async move {
            let tools = Tools::find(&std::env::var_os("PATH").unwrap_or_default());
            publication::can_open(&tools, repository).await
        })
    })
}

/// How the board reads an issue.
fn read_issue() -> Arc<ReadIssue> {
    Arc::new(|caller, git_dir, base_branch, given| {
        Box::pin(async move {
            let tools = Tools::find(&std::env::var_os("PATH").unwrap_or_default());
            publication::issue::read_issue(&tools, &caller, &git_dir, &base_branch, &given).await
        })
    })
}

/// How the board lets an issue become a task.
fn import_issue(db: Db) -> Arc<ImportIssue> {
    Arc::new(move |caller, project, import| {
        let db = db.clone();
        Box::pin(async move {
            let tools = Tools::find(&std::env::var_os("PATH").unwrap_or_default());
            publication::issue::import_issue(&db, &tools, &caller, &project, import).await
        })
    })
}

/// Listens on the socket beside the database. Without one, as on some network file systems, programs connect over TCP.
fn bind_socket(config: &Config) -> Option<(ServerSocket, UnixListener)> {
    match server_socket::bind(&config.db_path) {
        Ok(bound) => Some(bound),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "the board has no socket; agents connect over TCP");
            None
        }
    }
}

/// Waits for the board and the runner to end. When one ends, the other is stopped, because a board without a runner looks healthy but starts
/// nothing.
///
/// # Errors
/// The failure of the one that ended first.
async fn run_until_first_exit(
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
    supervised.map_err(CliError::RunnerCrashed)??;
    served.map_err(CliError::io("serve the board"))
}

/// Names the running board instead of the lock that it holds.
fn already_running(error: db::Error, config: &Config) -> CliError {
    match (error, server_file::read(&config.db_path)) {
        (db::Error::Locked { owner, .. }, Ok(Some(server))) => CliError::AlreadyRunning { url: server.url, owner },
        (error, _) => error.into(),
    }
}

/// Listens on the requested port, or on the first free one, beginning with `last`.
async fn listen(requested: Option<u16>, last: Option<u16>) -> Result<TcpListener, CliError> {
    if let Some(port) = requested {
        return TcpListener::bind(("127.0.0.1", port)).await.map_err(CliError::io(format!("listen on port {port}")));
    }
    let in_use = |error: &io::Error| matches!(error.kind(), ErrorKind::AddrInUse | ErrorKind::PermissionDenied);
    for port in last.into_iter().chain(FIRST_PORT..=LAST_PORT) {
        match TcpListener::bind(("127.0.0.1", port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) if in_use(&error) => {}
            Err(error) => return Err(CliError::io(format!("listen on port {port}"))(error)),
        }
    }
    Err(CliError::NoPort { first: FIRST_PORT, last: LAST_PORT })
}

/// The additions of the demo: its page, and a button that kills this process. `vibe-relay demo` restarts it.
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

/// Sets the project of the demo page as soon as one exists.
async fn find_demo_project(db: Db, hooks: Arc<DemoHooks>) {
    let mut changes = db.subscribe();
    loop {
        if let Some(project) = db.projects().await.ok().and_then(|projects| projects.into_iter().next()) {
            // A demo has one project.
            drop(hooks.project.set(project.id));
            return;
        }
        if changes.changed().await.is_err() {
            return;
        }
    }
}

/// Writes a configuration file.
pub(crate) fn write_config(path: &Path, config: &Config) -> Result<(), CliError> {
    let text = serde_json::to_string_pretty(config).map_err(|error| CliError::Demo(error.to_string()))?;
    std::fs::write(path, text).map_err(CliError::io(format!("write {}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A board that serves until shutdown.
    async fn board(shutdown: CancellationToken) -> io::Result<()> {
        shutdown.cancelled().await;
        Ok(())
    }

    #[tokio::test]
    async fn port_that_another_program_has_is_replaced_by_a_free_one() {
        let listen_again = async || {
            let taken = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let last = taken.local_addr().unwrap().port();
            let port = listen(None, Some(last)).await.unwrap().local_addr().unwrap().port();
            assert!((FIRST_PORT..=LAST_PORT).contains(&port), "{port}");
            drop(taken);
            listen(None, Some(last)).await.unwrap().local_addr().unwrap().port() == last
        };
        // Any program on this machine may take the port after it was freed.
        let mut attempts = 0;
        while !listen_again().await {
            attempts += 1;
            assert!(attempts < 5, "a free port is not taken again");
        }
    }

    #[tokio::test]
    async fn runner_failure_stops_the_board_with_an_error() {
        let shutdown = CancellationToken::new();
        let failed = tokio::spawn(async { Err(db::Error::Closed) });
        let ended = run_until_first_exit(board(shutdown.clone()), failed, &shutdown).await;
        assert!(matches!(ended, Err(CliError::Store(db::Error::Closed))), "{ended:?}");

        let shutdown = CancellationToken::new();
        let defect = tokio::spawn(async { panic!("a defect") });
        let ended = run_until_first_exit(board(shutdown.clone()), defect, &shutdown).await;
        assert!(matches!(ended, Err(CliError::RunnerCrashed(_))), "{ended:?}");
    }

    #[tokio::test]
    async fn board_failure_stops_the_runner() {
        let runner = |shutdown: &CancellationToken| {
            let shutdown = shutdown.clone();
            tokio::spawn(async move {
                shutdown.cancelled().await;
                Ok(())
            })
        };
        let shutdown = CancellationToken::new();
        let ended = run_until_first_exit(std::future::ready(Err(ErrorKind::AddrInUse.into())), runner(&shutdown), &shutdown).await;
        assert!(matches!(ended, Err(CliError::Io { .. })), "{ended:?}");
        let shutdown = CancellationToken::new();
        shutdown.cancel();
        assert!(run_until_first_exit(board(shutdown.clone()), runner(&shutdown), &shutdown).await.is_ok());
    }
}
