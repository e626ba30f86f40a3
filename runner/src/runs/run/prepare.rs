//! Prepares a reserved run: its checkout, session, prompt and folder, up to the start of its shim.
//!
//! It must not touch the disk on an async thread; [`RunFiles`] is written on a blocking one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use db::{Db, ReservedRun, RunProcess};
use domain::board::project::Project;
use domain::board::task::Task;
use domain::config::Config;
use domain::context::handoff::Handoff;
use domain::prompt::{Prompt, Prompts};
use domain::runs::agent_kind::AgentKind;
use domain::runs::failure::FailureClass;
use domain::runs::run::Run;
use domain::team::message::Inbox;
use domain::warroom::oracle::briefing::OracleBriefing;
use repo::{Commit, ControlFiles};
use uuid::Uuid;

use super::RunContext;
use super::jail::{self, BuiltJail, JailInputs};
use super::preparation::{self, Preparation};
use super::session::session;
use crate::backend::{self, Launch, LaunchRequest, Session};
use crate::blocking::off_thread;
use crate::jail::layout::JailError;
use crate::jail::prepare::prepare_run_dir;
use crate::preflight;
use crate::process::start_shim;
use crate::prompt::{self, PromptInput};
use crate::run_dir::{RunDir, RunSpec};
use crate::runs::checkout::{self, CheckoutError, CheckoutPlan, with_repository};
use crate::runs::control;
use crate::warroom::code_map::code_map;
use crate::warroom::knowledge::mirror::mirror;
use crate::warroom::oracle;
use crate::{env, procfs, resource};

/// The folder of instructions in a run's folder.
pub(super) const RULES_FOLDER: &str = "rules";

/// The most commits of a branch that are read for a prompt.
const MAX_COMMITS: usize = 50;

/// Why a run could not start, with the text for the human.
#[derive(Debug)]
pub(super) enum StartFailure {
    /// It counts as an attempt, unless the class parks.
    Failed(FailureClass, String),
    /// The repository could not be used for now.
    Outage(String),
}

fn spawn_failed(error: impl Error + 'static) -> StartFailure {
    StartFailure::Failed(resource::failure(&error, FailureClass::Spawn), error.to_string())
}

pub(super) fn checkout_failed(error: CheckoutError) -> StartFailure {
    if error.is_outage() {
        return StartFailure::Outage(error.to_string());
    }
    let class = if error.is_of_machine() { FailureClass::Setup } else { FailureClass::Checkout };
    StartFailure::Failed(resource::failure(&error, class), error.to_string())
}

/// Does everything between the reservation and the living process.
pub(super) async fn prepare(
    context: &RunContext,
    project: &Project,
    task: &Task,
    plan: &CheckoutPlan,
    reserved: &ReservedRun,
) -> Result<RunProcess, StartFailure> {
    let (db, run) = (&context.db, &reserved.run);
    checkout::create(plan).await.map_err(checkout_failed)?;
    if plan.checkpoint.is_some() {
        db.record_rewound(&task.card.id).await.map_err(spawn_failed)?;
    }
    let setup = preparation::plan(project, plan, run.phase).await.map_err(checkout_failed)?;
    let map = code_map(db, &context.programs.running, &project.id, run.phase, plan).await;
    mirror(db, &project.id, &plan.path, map).await;
    let control = control::read(plan).await.map_err(checkout_failed)?;
    let session = session(db, task, run.phase).await.map_err(spawn_failed)?;
    let (Session::New(id) | Session::Resume(id)) = session;
    // Stored before the program starts, so that a later attempt can resume it however this one ends.
    db.run_session(&run.id, &id.to_string()).await.map_err(spawn_failed)?;
    let inbox = db.run_inbox(&run.id).await.map_err(spawn_failed)?;
    let resumes = matches!(session, Session::Resume(_));
    let handoff = handoff(db, task, run, resumes).await.map_err(spawn_failed)?;
    let has_handover = handoff.predecessor.is_some();
    let briefing = oracle::briefing(db, plan, run, resumes).await.map_err(spawn_failed)?;
    let others = oracle::other_messages(&inbox, briefing.as_ref());
    let (setup_sentence, prompts) = (setup.sentence(), context.config().prompts);
    let received = Received { inbox: &others, handoff: &handoff, briefing: briefing.as_ref(), resumes, setup: &setup_sentence, prompts: &prompts };
    let prompt = build_prompt(db, project, task, plan, run, received).await.map_err(spawn_failed)?;
    let prompt_id = Uuid::new_v4();
    let run_folder = resolved_run_dir(&reserved.run_dir).map_err(spawn_failed)?;
    let jail = jail::inputs(context, project, plan, run, &run_folder, session);
    let unsigned = jail.is_some() && jail::signs_commits(plan).await;
    if unsigned {
        jail::report_unsigned(db, run).await.map_err(spawn_failed)?;
    }
    let files = RunFiles {
        context: context.clone(),
        reserved: reserved.clone(),
        model: task.model.clone(),
        checkout: plan.path.clone(),
        rules: rules(plan).await.map_err(checkout_failed)?,
        session,
        git: git_env(plan, run.phase, unsigned).await,
        jail,
        setup,
        first_line: backend::encode(&prompt, prompt_id),
        marker: env::marker(&run.id, Uuid::new_v4()),
        control,
    };
    // Stored before anything starts: without it, nothing was started.
    let (marker, boot_id) = (files.marker.clone(), procfs::boot_id().ok());
    let resume_command = resume_command(&context.config(), run.phase, &plan.path)?;
    db.record_launch(&run.id, &marker, boot_id.as_deref(), Some(&resume_command)).await.map_err(spawn_failed)?;
    let run_dir = off_thread(move || files.write()).await.map_err(spawn_failed)??;
    // Recorded before the agent can echo its prompt. If it never does, the next attempt receives the same messages.
    if !inbox.messages.is_empty() {
        db.run_inbox_delivered(&run.id, &prompt_id.to_string(), inbox.messages).await.map_err(spawn_failed)?;
    }
    let (program, inherited) = (context.programs.running.clone(), project.profile.env.clone());
    let shim = off_thread(move || start_shim(&program, &run_dir, &inherited)).await.map_err(spawn_failed)?.map_err(spawn_failed)?;
    if let Some(shim) = shim
        && let Err(error) = db.record_shim(&run.id, shim).await
    {
        // The agent works. Without the record, its lock and its marker show whether it is alive.
        tracing::warn!(run = %run.id, %error, "the process of a run was not recorded");
    }
    // Only now: a run that does not start leaves the handover to the next one.
    if has_handover && let Err(error) = db.continue_handover(&run.id).await {
        tracing::warn!(run = %run.id, %error, "a handover was not marked as read; the next run gets it again");
    }
    Ok(RunProcess { marker, boot_id, shim })
}

/// Returns the handoff of a run.
async fn handoff(db: &Db, task: &Task, run: &Run, resumes: bool) -> db::Result<Handoff> {
    let mut handoff = db.handoff(&run.id).await?;
    if resumes {
        // Its conversation has them.
        let own = Run::agent_name(run.phase, &run.task_id);
        handoff.findings.retain(|finding| finding.sender != own);
    }
    Ok(handoff.most_relevant_first(&task.card.title))
}

/// Messages and findings for a run.
#[derive(Debug, Clone, Copy)]
struct Received<'a> {
    inbox: &'a Inbox,
    handoff: &'a Handoff,
    briefing: Option<&'a OracleBriefing>,
    /// Whether the run has the conversation of an earlier one.
    resumes: bool,
    /// How its checkout was prepared.
    setup: &'a str,
    prompts: &'a Prompts,
}

async fn build_prompt(db: &Db, project: &Project, task: &Task, plan: &CheckoutPlan, run: &Run, received: Received<'_>) -> db::Result<String> {
    let comments = db.comments(&task.card.id).await?;
    let mut attempts = db.runs(&task.card.id).await?;
    attempts.retain(|earlier| earlier.phase == run.phase && earlier.id != run.id);
    let commits = if attempts.is_empty() { Vec::new() } else { unmerged_commits(plan).await };
    let rules_folder = match plan.rules {
        Some(_) => Some(db.run_dir(&run.id).await?.join(RULES_FOLDER).to_string_lossy().into_owned()),
        None => None,
    };
    // Every other task says itself what it is for.
    let goal = match &task.card.round_of {
        Some(plan) => Some(db.task(plan).await?),
        None => None,
    };
    Ok(prompt::prompt(&PromptInput {
        prompts: received.prompts,
        project,
        task,
        goal: goal.as_ref(),
        run,
        branch: &plan.shown_branch,
        worktree: &plan.path.to_string_lossy(),
        rules: rules_folder.as_deref(),
        base: &plan.base,
        base_branch: &plan.base_branch,
        comments: &comments,
        attempts: &attempts,
        commits: &commits,
        handoff: received.handoff,
        inbox: received.inbox,
        resumes: received.resumes,
        setup: received.setup,
        oracle: received.briefing,
        checks: &db.task_checks(&task.card.id).await?,
    }))
}

/// The newest commits of a coder's branch that are not merged. Without them the prompt only says less.
async fn unmerged_commits(plan: &CheckoutPlan) -> Vec<Commit> {
    let (Some(branch), base) = (plan.branch.clone(), plan.base.clone()) else { return Vec::new() };
    let read = with_repository(&plan.git_dir, move |repository| match repository.ref_sha(&branch)? {
        Some(tip) => repository.log(&base, &tip, MAX_COMMITS),
        None => Ok(Vec::new()),
    });
    read.await.unwrap_or_default()
}

/// The path of a run's folder without symbolic links, before the folder exists.
fn resolved_run_dir(run_dir: &Path) -> io::Result<PathBuf> {
    let (Some(parent), Some(name)) = (run_dir.parent(), run_dir.file_name()) else { return Err(io::ErrorKind::InvalidInput.into()) };
    DirBuilder::new().recursive(true).mode(0o700).create(parent)?;
    Ok(parent.canonicalize()?.join(name))
}

/// Names the committer where the repository's configuration does not, because git would refuse to commit. Switches signing off where
/// it cannot work.
async fn git_env(plan: &CheckoutPlan, phase: AgentKind, unsigned: bool) -> Vec<(&'static str, String)> {
    let mut variables = match with_repository(&plan.git_dir, move |repository| repository.identity(phase.as_str())).await {
        Ok(identity) if !identity.configured => vec![
            ("GIT_AUTHOR_NAME", identity.name.clone()),
            ("GIT_AUTHOR_EMAIL", identity.email.clone()),
            ("GIT_COMMITTER_NAME", identity.name),
            ("GIT_COMMITTER_EMAIL", identity.email),
        ],
        _ => Vec::new(),
    };
    if unsigned {
        let setting = [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "commit.gpgsign"), ("GIT_CONFIG_VALUE_0", "false")];
        variables.extend(setting.map(|(name, value)| (name, value.to_owned())));
    }
    variables
}

/// The contents of a run's folder.
struct RunFiles {
    context: RunContext,
    reserved: ReservedRun,
    model: Option<String>,
    checkout: PathBuf,
    /// The instructions for an agent that must not follow those of its checkout, by path.
    rules: Option<Vec<(&'static str, Vec<u8>)>>,
    session: Session,
    git: Vec<(&'static str, String)>,
    jail: Option<JailInputs>,
    setup: Preparation,
    first_line: String,
    marker: String,
    control: ControlFiles,
}

impl RunFiles {
    /// Writes the folder and everything in it. Blocks.
    fn write(&self) -> Result<RunDir, StartFailure> {
        let (run, folder) = (&self.reserved.run, &self.reserved.run_dir);
        let jail = self.jail.as_ref().map(JailInputs::build).transpose().map_err(jail_failed)?;
        let current = self.context.config();
        let command = command(&current)?;
        let agent = current.agent(run.phase);
        let Launch { argv, environment, files } = backend::launch(&LaunchRequest {
            command: &command,
            phase: run.phase,
            session: self.session,
            model: self.model.as_deref().or(agent.model.as_deref()),
            role: &prompt::system_prompt(&current.prompts, run.phase, run.sandbox),
            summary: current.prompts.text(Prompt::Compact),
            settings: agent.settings,
            permissions: agent.permission_mode,
            rules: &if self.rules.is_some() { folder.join(RULES_FOLDER) } else { self.checkout.clone() },
            run_dir: folder,
            relay: &self.context.programs.installed,
            task: &run.task_id,
            token: &self.reserved.token,
            database: self.context.db.path(),
        });
        let is_jailed = jail.is_some();
        let run_dir = RunDir::create(folder, &self.spec(argv, environment, &agent.env, jail)).map_err(spawn_failed)?;
        if is_jailed {
            prepare_run_dir(run_dir.path()).map_err(jail_failed)?;
        }
        let control = serde_json::to_vec(&self.control).map_err(spawn_failed)?;
        write_private(&run_dir.file(control::FILE), &control).map_err(spawn_failed)?;
        for (name, content) in files {
            write_private(&run_dir.file(name), content.as_bytes()).map_err(spawn_failed)?;
        }
        if let Some(rules) = &self.rules {
            write_rules(&run_dir.file(RULES_FOLDER), rules).map_err(spawn_failed)?;
        }
        Ok(run_dir)
    }

    fn spec(
        &self,
        argv: Vec<String>,
        environment: &[(&'static str, &'static str)],
        configured: &BTreeMap<String, String>,
        jail: Option<BuiltJail>,
    ) -> RunSpec {
        let run = &self.reserved.run;
        let mut backend: Vec<(&str, &str)> = environment.to_vec();
        let (jail, variables) = jail.map(|built| (built.spec, built.variables)).unzip();
        let variables = variables.unwrap_or_default();
        backend.extend(self.git.iter().chain(&variables).map(|(name, value)| (*name, value.as_str())));
        let inside = |argv: Vec<String>| match &jail {
            Some(jail) => jail::command_inside(&self.context.programs.installed, jail, argv),
            None => argv,
        };
        RunSpec {
            run_id: Some(run.id.clone()),
            env: env::RunEnv { marker: &self.marker, port: run.port, backend: &backend, configured }.variables(),
            marker: self.marker.clone(),
            argv: inside(argv),
            setup: self.setup.spec(inside),
            check: None,
            cwd: self.checkout.clone(),
            first_line: Some(self.first_line.clone()),
            output_limit: RunSpec::OUTPUT_LIMIT,
            jail,
        }
    }
}

fn jail_failed(error: JailError) -> StartFailure {
    StartFailure::Failed(resource::failure(&error, FailureClass::Sandbox), error.to_string())
}

/// The agent program's absolute path and its configured arguments.
fn command(config: &Config) -> Result<Vec<String>, StartFailure> {
    let program = preflight::program(config).map_err(|failure| StartFailure::Failed(FailureClass::ProgramMissing, failure.detail()))?;
    let arguments = config.agent_command.iter().skip(1).cloned();
    Ok(std::iter::once(program.to_string_lossy().into_owned()).chain(arguments).collect())
}

/// How a person continues the sessions of an agent kind in a checkout.
fn resume_command(config: &Config, phase: AgentKind, checkout: &Path) -> Result<String, StartFailure> {
    let configured = config.agent(phase).env.get(backend::CONFIG_VARIABLE).cloned();
    let inherited = || std::env::var(backend::CONFIG_VARIABLE).ok().filter(|folder| !folder.is_empty());
    Ok(backend::resume_command(&command(config)?, configured.or_else(inherited).as_deref(), checkout))
}

/// Reads the instructions of the commit that a plan names.
async fn rules(plan: &CheckoutPlan) -> Result<Option<Vec<(&'static str, Vec<u8>)>>, CheckoutError> {
    let Some(commit) = plan.rules.clone() else { return Ok(None) };
    let found = with_repository(&plan.git_dir, move |repository| {
        let mut found = Vec::new();
        for name in backend::RULE_FILES {
            found.extend(repository.file_at(&commit, name)?.map(|content| (*name, content)));
        }
        Ok(found)
    });
    found.await.map(Some)
}

fn write_rules(folder: &Path, rules: &[(&'static str, Vec<u8>)]) -> io::Result<()> {
    fs::create_dir(folder)?;
    for (name, content) in rules {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        write_private(&path, content)?;
    }
    Ok(())
}

fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(content)
}

#[cfg(test)]
mod tests {
    use repo::RepoError;

    use super::*;

    #[test]
    fn checkout_that_cannot_be_created_fails_its_task_alone() {
        let gone = || CheckoutError::BranchGone { branch: "vr/TASK-001/work".to_owned() };
        let full = RepoError::Io { attempted: "write".to_owned(), reason: io::Error::from_raw_os_error(nix::libc::ENOSPC) };
        let class = |error| match checkout_failed(error) {
            StartFailure::Failed(class, detail) => (class, detail),
            StartFailure::Outage(detail) => panic!("{detail}"),
        };
        assert_eq!(class(gone()), (FailureClass::Checkout, gone().to_string()));
        assert_eq!(class(full.into()).0, FailureClass::DiskFull, "that is everyone's problem");
        let unfilled = RepoError::SubmoduleNotFilled { path: "vendor".to_owned(), output: "no route to host".to_owned() };
        assert_eq!(class(unfilled.into()).0, FailureClass::Setup, "it uses no attempt");
    }
}
