//! Commands of a profile other than agents, such as checks and apps: the folder that their shim reads, whether they run, and their end.
//!
//! It must not know why a command runs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use db::RunProcess;
use domain::board::project::Project;
use uuid::Uuid;

use crate::blocking::off_thread;
use crate::env::{self, RunEnv};
use crate::jail::inbound::Inbound;
use crate::jail::prepare::prepare_run_dir;
use crate::liveness::{Liveness, inspect};
use crate::process::start_shim;
use crate::run_dir::{CheckSpec, RunDir, RunSpec};
use crate::runs::checkout::CheckoutPlan;
use crate::runs::run::RunContext;
use crate::runs::run::jail::{self, JailInputs};
use crate::runs::run::preparation::{Preparation, SHELL};
use crate::shim::control::{Control, SignalName};

/// A command to start.
pub(super) struct NewCommand<'a> {
    /// The purpose of the command, as its processes are marked.
    pub(super) kind: &'static str,
    pub(super) project: &'a Project,
    pub(super) plan: &'a CheckoutPlan,
    pub(super) setup: Preparation,
    pub(super) line: String,
    pub(super) limit: Duration,
    pub(super) output_limit: u64,
    /// Variables that it gets besides those of its jail.
    pub(super) variables: Vec<(String, String)>,
    /// The ports that lead into its jail, if that has no network.
    pub(super) inbound: Vec<Inbound>,
}

/// Starts a command below a shim, in the jail of agents, and returns its folder and marker. An incomplete folder of an earlier server is replaced.
/// The inner error says why it cannot start.
///
/// # Errors
/// When the store fails.
pub(super) async fn start(context: &RunContext, path: &Path, new: NewCommand<'_>) -> db::Result<Result<(RunDir, String), String>> {
    let tier = match context.choose_sandbox().await?.tier() {
        Ok(tier) => tier,
        Err(detail) => return Ok(Err(detail)),
    };
    let files = CommandFiles {
        jail: jail::check_inputs(context, new.project, new.plan, tier, path),
        marker: env::command_marker(new.kind, &new.project.id, Uuid::new_v4()),
        relay: context.programs.installed.clone(),
        cwd: new.plan.path.clone(),
        setup: new.setup,
        line: new.line,
        limit_seconds: new.limit.as_secs(),
        output_limit: new.output_limit,
        variables: new.variables,
        inbound: new.inbound,
    };
    let (path, program, inherited) = (path.to_owned(), context.programs.running.clone(), new.project.profile.env.clone());
    let started = off_thread(move || {
        // If a part of it stays, the new folder cannot be written, and that is reported.
        let _ = fs::remove_dir_all(&path);
        let run_dir = files.write(&path)?;
        start_shim(&program, &run_dir, &inherited).map_err(|error| error.to_string())?;
        Ok((run_dir, files.marker))
    });
    Ok(started.await.unwrap_or_else(|error| Err(error.to_string())))
}

/// The contents of a command's folder.
struct CommandFiles {
    jail: Option<JailInputs>,
    marker: String,
    relay: PathBuf,
    cwd: PathBuf,
    setup: Preparation,
    line: String,
    limit_seconds: u64,
    output_limit: u64,
    variables: Vec<(String, String)>,
    inbound: Vec<Inbound>,
}

impl CommandFiles {
    /// Writes the folder. Blocks.
    ///
    /// # Errors
    /// When no jail can be built, or the folder cannot be written.
    fn write(&self, path: &Path) -> Result<RunDir, String> {
        let jail = self.jail.as_ref().map(JailInputs::build).transpose().map_err(|error| error.to_string())?;
        let (jail, variables) = jail.map(|built| (built.spec, built.variables)).unzip();
        let jail = jail.map(|jail| jail.with_inbound(&self.inbound));
        let variables = variables.unwrap_or_default();
        let backend: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let setup = self.setup.spec(|argv| match &jail {
            Some(jail) => jail::command_inside(&self.relay, &jail.clone().with_inbound(&[]), argv),
            None => argv,
        });
        let argv = [SHELL, "-c", self.line.as_str()].map(str::to_owned).to_vec();
        let mut env = RunEnv { marker: &self.marker, port: None, backend: &backend, configured: &BTreeMap::new() }.variables();
        env.extend(self.variables.iter().cloned());
        let spec = RunSpec {
            run_id: None,
            env,
            marker: self.marker.clone(),
            argv: match &jail {
                Some(jail) => jail::command_inside(&self.relay, jail, argv),
                None => argv,
            },
            setup,
            cwd: self.cwd.clone(),
            first_line: None,
            output_limit: self.output_limit,
            jail: jail.clone(),
            check: Some(CheckSpec { limit_seconds: self.limit_seconds }),
        };
        let run_dir = RunDir::create(path, &spec).map_err(|error| error.to_string())?;
        if jail.is_some() {
            prepare_run_dir(run_dir.path()).map_err(|error| error.to_string())?;
        }
        Ok(run_dir)
    }
}

/// Opens the complete folder of a command. Returns also its marker.
pub(super) fn open(path: &Path) -> Option<(RunDir, String)> {
    let run_dir = RunDir::open(path).ok()?;
    let marker = run_dir.spec().ok()?.marker;
    Some((run_dir, marker))
}

/// Looks whether a command still runs. Its shim is not on record: its lock and its marker show it.
pub(super) async fn liveness_of(run_dir: &RunDir, marker: &str) -> Liveness {
    let (path, process) = (run_dir.path().to_owned(), RunProcess { marker: marker.to_owned(), boot_id: None, shim: None });
    let looked = off_thread(move || inspect(&path, &process));
    looked.await.unwrap_or_else(|error| Liveness::Unreachable { reason: error.to_string() })
}

/// Asks the shim of a command to end it.
pub(super) async fn end(run_dir: &RunDir) {
    let asked = match Control::connect(run_dir).await {
        Ok(control) => control.signal(SignalName::Terminate).await,
        Err(error) => Err(error),
    };
    if let Err(error) = asked {
        tracing::debug!(command = %run_dir.path().display(), %error, "a command was not asked to end");
    }
}
