//! The life of a run: reserved in the store, given a checkout, a prompt and a token, started under a shim, watched to its end.

use std::error::Error;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use db::{Db, NewRun, ReservedRun};
use domain::board::project::Project;
use domain::board::status::Status;
use domain::board::task::Task;
use domain::config::Config;
use domain::id::TaskId;
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use domain::runs::run::Run;
use domain::team::message::Inbox;
use domain::wire::Frame;
use tokio::sync::{broadcast, watch};
use uuid::Uuid;

use crate::backend::{self, Launch, LaunchRequest, Session};
use crate::checkout::{self, CheckoutError, Site};
use crate::preflight;
use crate::process::start_shim;
use crate::prompt::{self, PromptInput};
use crate::run_dir::{RunDir, Spec};
use crate::{disk, env, port};

/// What every run needs.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    pub(crate) db: Db,
    pub(crate) config: Arc<Config>,
    /// This program: it is started again as the shim and as the agents' bridge to the board.
    pub(crate) program: PathBuf,
    pub(crate) activity: broadcast::Sender<Frame>,
}

impl Context {
    pub(crate) fn run_dirs(&self) -> PathBuf {
        self.db.folder().join("runs")
    }
}

/// Starts an agent for a task and watches it. What cannot be started ends as a failed run, so that it is seen and bounded.
///
/// # Errors
/// When the store fails.
pub(crate) async fn start(context: &Context, task: &TaskId, phase: AgentKind, status: Status, poke: watch::Receiver<u64>) -> db::Result<()> {
    let db = &context.db;
    let task = db.task(task).await?;
    let project = db.project(&task.card.project_id).await?;
    let site = match checkout::site(db, &context.config.worktrees_path, &project, &task, phase).await {
        // Nothing is wrong with the task, so no attempt is made.
        Err(CheckoutError::Foreign(foreign)) => return checkout::ask(db, &task.card.id, &foreign).await,
        site => site,
    };
    let live = db.live_runs().await?;
    let wish = NewRun {
        task: task.card.id.clone(),
        phase,
        status,
        sha: site.as_ref().ok().map(|site| site.sha.clone()),
        worktree_path: site.as_ref().ok().map(|site| site.path.to_string_lossy().into_owned()),
        runs_root: context.run_dirs(),
        port: if phase == AgentKind::Planner { None } else { port::choose(context.config.port_range, &live) },
    };
    let reserved = match db.reserve_run(wish).await {
        Ok(reserved) => reserved,
        // The person, or a faster start with the same port, was first: the next plan sees it.
        Err(db::Error::Refused(refusal)) => {
            tracing::debug!(%refusal, task = %task.card.id, "not started");
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let prepared = match site {
        Ok(site) => prepare(context, &project, &task, &site, &reserved).await,
        Err(error) => Err(checkout_failed(error)),
    };
    match prepared {
        Ok(run_dir) => crate::watch::watch(context, reserved.run, run_dir, poke).await,
        Err((failure, error)) => crate::watch::record_start_failure(context, &reserved.run, failure, error).await,
    }
}

type Prepared<T> = Result<T, (FailureClass, String)>;

fn spawn_failed(error: impl Error + 'static) -> (FailureClass, String) {
    (disk::failure(&error, FailureClass::Spawn), error.to_string())
}

fn checkout_failed(error: CheckoutError) -> (FailureClass, String) {
    (disk::failure(&error, FailureClass::Checkout), error.to_string())
}

/// Everything between the reservation and the living process.
async fn prepare(context: &Context, project: &Project, task: &Task, site: &Site, reserved: &ReservedRun) -> Prepared<RunDir> {
    let (db, run) = (&context.db, &reserved.run);
    checkout::lay_out(site).await.map_err(checkout_failed)?;
    let session = session(db, task, run.phase).await.map_err(spawn_failed)?;
    let id = match session {
        Session::New(id) | Session::Resume(id) => id,
    };
    // Stored before the program starts: whatever happens next, it is known which conversation to resume.
    db.run_session(&run.id, &id.to_string()).await.map_err(spawn_failed)?;
    let inbox = db.run_inbox(&run.id).await.map_err(spawn_failed)?;
    let words = words(db, project, task, site, run, &inbox, matches!(session, Session::Resume(_))).await.map_err(spawn_failed)?;
    let prompt_id = Uuid::new_v4();
    let program = preflight::program(&context.config).map_err(|failure| (FailureClass::ProgramMissing, failure.detail))?;
    let command: Vec<String> =
        std::iter::once(program.to_string_lossy().into_owned()).chain(context.config.agent_command.iter().skip(1).cloned()).collect();
    let agent = context.config.agent(run.phase);
    let role = match &agent.system_prompt_file {
        Some(file) => std::fs::read_to_string(file).map_err(|error| (FailureClass::Spawn, format!("could not read {}: {error}", file.display())))?,
        None => prompt::role(run.phase).to_owned(),
    };
    let Launch { argv, environment, files } = backend::launch(&LaunchRequest {
        command: &command,
        phase: run.phase,
        session,
        model: task.model.as_deref().or(agent.model.as_deref()),
        role: &role,
        checkout: &site.path,
        run_dir: &reserved.run_dir,
        relay: &context.program,
        task: &task.card.id,
        token: &reserved.token,
        database: db.path(),
    });
    let marker = env::marker(&run.id, Uuid::new_v4());
    let mut backend: Vec<(&str, &str)> = environment.to_vec();
    let identity = identity(site, run.phase).await;
    backend.extend(identity.iter().map(|(name, value)| (*name, value.as_str())));
    let variables = env::Additions { marker: &marker, port: run.port, backend: &backend, configured: &agent.env }.variables();
    let spec = Spec {
        run_id: run.id.clone(),
        marker,
        argv,
        cwd: site.path.clone(),
        env: variables,
        first_line: Some(backend::encode(&words, prompt_id)),
        output_limit: Spec::OUTPUT_LIMIT,
    };
    let run_dir = RunDir::create(&reserved.run_dir, &spec).map_err(spawn_failed)?;
    for (name, content) in files {
        write_private(&run_dir.file(name), content.as_bytes()).map_err(spawn_failed)?;
    }
    // Before the agent can echo its prompt. If it never does, the next one is given the same.
    if !inbox.messages.is_empty() {
        db.run_inbox_delivered(&run.id, &prompt_id.to_string(), inbox.messages).await.map_err(spawn_failed)?;
    }
    start_shim(&context.program, &run_dir).map_err(spawn_failed)?;
    Ok(run_dir)
}

/// Coders and planners go on where their last attempt stopped; who judges begins with a fresh mind.
async fn session(db: &Db, task: &Task, phase: AgentKind) -> db::Result<Session> {
    let last = match phase {
        AgentKind::Coder | AgentKind::Planner => db.last_session(&task.card.id, phase).await?,
        AgentKind::Reviewer | AgentKind::Orchestrator => None,
    };
    Ok(match last.and_then(|last| Uuid::parse_str(&last).ok()) {
        Some(id) => Session::Resume(id),
        None => Session::New(Uuid::new_v4()),
    })
}

async fn words(db: &Db, project: &Project, task: &Task, site: &Site, run: &Run, inbox: &Inbox, resumes: bool) -> db::Result<String> {
    let comments = db.comments(&task.card.id).await?;
    let mut attempts = db.runs(&task.card.id).await?;
    attempts.retain(|earlier| earlier.phase == run.phase && earlier.id != run.id);
    Ok(prompt::prompt(&PromptInput {
        project,
        task,
        phase: run.phase,
        branch: &site.shown_branch,
        worktree: &site.path.to_string_lossy(),
        base: &site.base,
        comments: &comments,
        attempts: &attempts,
        inbox,
        resumes,
    }))
}

/// Who commits, where the repository names nobody: git would refuse otherwise.
async fn identity(site: &Site, phase: AgentKind) -> Vec<(&'static str, String)> {
    let git_dir = site.git_dir.clone();
    let found = checkout::blocking(move || repo::Repository::open(&git_dir)?.identity(phase.as_str())).await;
    match found {
        Ok(identity) if !identity.configured => vec![
            ("GIT_AUTHOR_NAME", identity.name.clone()),
            ("GIT_AUTHOR_EMAIL", identity.email.clone()),
            ("GIT_COMMITTER_NAME", identity.name),
            ("GIT_COMMITTER_EMAIL", identity.email),
        ],
        _ => Vec::new(),
    }
}

fn write_private(path: &Path, content: &[u8]) -> std::io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(content)
}
