//! One app: started, or found running, and followed to its end. It must not know who asked for it.

mod idle;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::{Db, LivePreview};
use domain::runs::output::COMMAND_OUTPUT_FILE;
use domain::runs::preview::{Preview, PreviewState, PreviewSubject, with_ports};
use domain::time::Timestamp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

pub(super) use self::idle::IdleLimit;
use self::idle::LastUse;
use super::connections::is_connected;
use super::place::{self, Place};
use super::state_of;
use crate::blocking::off_thread;
use crate::jail::inbound::{Inbound, connect};
use crate::liveness::Liveness;
use crate::run_dir::{ExitRecord, RunDir};
use crate::runs::check::tail;
use crate::runs::checkout::CheckoutError;
use crate::runs::command::{self, NewCommand};
use crate::runs::port::lease_ports;
use crate::runs::run::RunContext;

/// The time between two looks at an app.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// The time between two requests to end an app.
const END_INTERVAL: Duration = Duration::from_secs(1);
/// How long an app may take to answer, once its command runs.
const ANSWER_LIMIT: Duration = Duration::from_secs(5 * 60);
const REQUEST_LIMIT: Duration = Duration::from_secs(15);
/// The longest time that an app runs, even if no server ends it.
const LIFE_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most bytes that an app may print.
const MAX_OUTPUT_BYTES: u64 = 64 << 20;
/// The ports of an app: `PORT` and `PORT_2`.
const PORTS: usize = 2;

/// Two apps that start at the same time must not lease the same port.
static LEASING: Mutex<()> = Mutex::const_new(());

/// An app that has a process, or had one.
pub(super) struct App {
    started_at: Timestamp,
    run_dir: RunDir,
    marker: String,
    port: u16,
    /// The name of its host.
    host: String,
    pub(super) idle_limit: IdleLimit,
}

/// The reason why an app was asked to end.
enum End {
    Unwanted(&'static str),
    NoAnswer(String),
}

impl App {
    /// Finds an app that an earlier server started.
    pub(super) fn open(live: &LivePreview, path: PathBuf) -> Option<Self> {
        let (run_dir, marker) = command::open(&path)?;
        let port = *live.preview.ports.first()?;
        Some(Self { started_at: live.preview.started_at, run_dir, marker, port, host: live.subject.host(), idle_limit: IdleLimit::default() })
    }

    /// Starts an app. The inner error says why it cannot start.
    ///
    /// # Errors
    /// When the repository or the store fails.
    pub(super) async fn start(context: &RunContext, live: &LivePreview, path: PathBuf) -> Result<Result<Self, String>, CheckoutError> {
        let LivePreview { subject, preview: Preview { started_at, .. }, .. } = live;
        let Place { project, plan, setup } = match place::prepare(context, subject).await? {
            Ok(place) => place,
            Err(why) => return Ok(Err(why)),
        };
        let Some(line) = project.profile.preview.clone() else { return Ok(Err("the profile no longer names its command".to_owned())) };
        let leasing = LEASING.lock().await;
        let ports = lease_ports(context, PORTS).await?;
        let Some(port) = ports.first().copied() else {
            return Ok(Err("no port is free; end another app, or set a larger `port_range`".to_owned()));
        };
        context.db.record_preview_start(subject, *started_at, &ports).await?;
        drop(leasing);
        let host = subject.host();
        let names = ["PORT", "PORT_2"].into_iter().map(str::to_owned);
        let mut variables: Vec<(String, String)> = names.zip(ports.iter().map(u16::to_string)).collect();
        // Some tools open a browser by themselves, which would show the page at a host of the board.
        variables.push(("BROWSER".to_owned(), "none".to_owned()));
        let (earlier, name) = (path.clone(), subject.name());
        // An earlier app that stays on the disk is removed by the next start, or with its project.
        let _ = off_thread(move || remove_others(&earlier, &name)).await;
        let new = NewCommand {
            kind: "preview",
            project: &project,
            plan: &plan,
            setup,
            line: with_ports(&line, &ports),
            limit: LIFE_LIMIT,
            output_limit: MAX_OUTPUT_BYTES,
            variables,
            inbound: ports.iter().map(|port| Inbound { port: *port, socket: format!("app-{port}"), host: host.clone() }).collect(),
        };
        let started = command::start(context, &path, new).await?;
        Ok(started.map(|(run_dir, marker)| Self { started_at: *started_at, run_dir, marker, port, host, idle_limit: IdleLimit::default() }))
    }

    /// Records that the app answers, ends it when it is no longer wanted, and records its end.
    ///
    /// # Errors
    /// When the store fails. The app runs on.
    pub(super) async fn follow(&self, db: &Db, subject: &PreviewSubject) -> db::Result<()> {
        let mut commits = db.subscribe();
        commits.mark_changed();
        let (mut end, mut state): (Option<End>, _) = (None, PreviewState::Starting);
        let (mut last_use, mut began_at) = (LastUse::new(self.idle_limit, Instant::now()), None);
        loop {
            if let Liveness::Gone(exit) = command::liveness_of(&self.run_dir, &self.marker).await {
                return match end {
                    Some(End::Unwanted(why)) => db.end_preview(subject, self.started_at, why).await,
                    Some(End::NoAnswer(why)) => db.fail_preview(subject, self.started_at, &why).await,
                    None => db.fail_preview(subject, self.started_at, &self.failure(&exit)).await,
                };
            }
            if end.is_some() {
                // Asked again, because its shim may have just started.
                command::end(&self.run_dir).await;
                sleep(END_INTERVAL).await;
                continue;
            }
            if commits.has_changed().unwrap_or(false) {
                commits.borrow_and_update();
                let live = state_of(db, subject).await?;
                state = live.as_ref().map_or(PreviewState::Stopping, |live| live.preview.state);
                end = match &live {
                    Some(live) if !live.has_files => Some(End::Unwanted("its work is merged or ended")),
                    _ => (state == PreviewState::Stopping).then_some(End::Unwanted("a person asked for it")),
                };
            }
            if end.is_none() && state == PreviewState::Starting && self.run_dir.file(COMMAND_OUTPUT_FILE).exists() {
                if self.answers().await {
                    db.record_preview_answer(subject, self.started_at, self.port).await?;
                    last_use.used(Instant::now());
                } else if began_at.get_or_insert_with(Instant::now).elapsed() > ANSWER_LIMIT {
                    end = Some(End::NoAnswer(format!("{}\n(nothing answered at the port {} within 5 minutes)", self.log(), self.port)));
                }
            }
            if state == PreviewState::Running && last_use.is_over(Instant::now(), || is_connected(self.port).unwrap_or(false)) {
                end = Some(End::Unwanted("nobody was connected for 30 minutes"));
            }
            if end.is_none() {
                sleep(POLL_INTERVAL).await;
            }
        }
    }

    /// Whether something answers a request as a browser sends it.
    async fn answers(&self) -> bool {
        let ask = async {
            let mut stream = connect(self.port).await?;
            let head = format!("GET / HTTP/1.1\r\nHost: {}:{}\r\nAccept: text/html\r\nConnection: close\r\n\r\n", self.host, self.port);
            stream.write_all(head.as_bytes()).await?;
            stream.read_u8().await
        };
        matches!(timeout(REQUEST_LIMIT, ask).await, Ok(Ok(_)))
    }

    fn log(&self) -> String {
        tail(&self.run_dir.file(COMMAND_OUTPUT_FILE))
    }

    fn failure(&self, exit: &ExitRecord) -> String {
        let how = match (&exit.error, exit.code, exit.signal) {
            (Some(error), ..) => error.detail.clone(),
            (None, Some(code), _) => format!("exit code {code}"),
            (None, None, Some(signal)) => format!("ended by signal {signal}"),
            (None, None, None) => "it ended".to_owned(),
        };
        format!("{}\n({how})", self.log().trim_end())
    }
}

/// Removes the folders of earlier apps of the same subject.
fn remove_others(path: &Path, subject: &str) {
    let Some(folder) = path.parent() else { return };
    let prefix = format!("{subject}-");
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(&prefix) {
            // One that stays is removed by the next start, or with its project.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
