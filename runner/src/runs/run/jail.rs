//! The jail of a run: collects from configuration, store and environment what `jail` needs, and what the agent's environment needs.
//!
//! It must not know how a jail is built.

use std::ffi::OsString;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use db::Db;
use domain::board::project::Project;
use domain::config::Config;
use domain::runs::run::Run;
use domain::runs::sandbox::{Access, AccessKind, SandboxTier};
use domain::warroom::class::AgentClass;
use repo::Repository;

use super::RunContext;
use super::prepare::RULES_FOLDER;
use crate::backend::{self, AgentFiles, Session};
use crate::jail::arguments::{SOCKETS, arguments};
use crate::jail::egress::{shown, target_of_url};
use crate::jail::forward::{Forward, ForwardTarget};
use crate::jail::layout::{JailError, JailRequest};
use crate::jail::probe::PROGRAM;
use crate::jail::refusal::Scope;
use crate::jail::{JailSpec, prepare};
use crate::process::find_program;
use crate::runs::checkout::{self, CheckoutPlan, with_repository};

/// The folder beside the database with the socket of the board.
const BOARD_FOLDER: &str = "sockets";
/// The port of the proxy inside the jail, where no other program has one.
const PROXY_PORT: u16 = 3128;
const PROXY_SOCKET: &str = "proxy";
const MODEL_SOCKET: &str = "model";

/// The machine's and the project's part of a jail.
#[derive(Debug, Clone)]
pub(in crate::runs) struct JailInputs {
    request: JailRequest,
    /// The URL of the model's service, for those who need it.
    service: Option<String>,
    program: PathBuf,
}

/// A jail and the variables that its agent needs.
pub(in crate::runs) struct BuiltJail {
    pub(in crate::runs) spec: JailSpec,
    pub(in crate::runs) variables: Vec<(&'static str, String)>,
}

/// Whether the repository wants signed commits. The keys are hidden in a jail, so a commit would fail.
pub(super) async fn signs_commits(plan: &CheckoutPlan) -> bool {
    with_repository(&plan.git_dir, Repository::signs_commits).await.unwrap_or(false)
}

/// Collects the inputs for a run; `None` when it has no jail.
pub(super) fn inputs(
    context: &RunContext,
    project: &Project,
    plan: &CheckoutPlan,
    run: &Run,
    run_dir: &Path,
    session: Session,
) -> Option<JailInputs> {
    if run.sandbox == SandboxTier::None {
        return None;
    }
    let config = context.config();
    let home = home();
    let sign_in = backend::sign_in(&config, |name| variable(name).is_some());
    let configured = config.agent(run.phase).env.get(backend::SERVICE_VARIABLE).cloned();
    let inherited = || variable(backend::SERVICE_VARIABLE).and_then(|value| value.into_string().ok());
    let agent = backend::agent_files(&home, variable(backend::CONFIG_VARIABLE).map(PathBuf::from).as_deref(), &plan.path, session, sign_in);
    let files = backend::FILES.iter().copied().chain(plan.rules.as_ref().map(|_| RULES_FOLDER)).collect();
    let request = JailRequest {
        programs: programs(context, &config),
        // The person's choice, so an agent may read them.
        arguments: config.agent_command.iter().skip(1).map(PathBuf::from).filter(|path| path.is_absolute()).collect(),
        files,
        is_read_only: !AgentClass::of(run.phase).runs_commands(),
        ..request(context, project, plan, (run.sandbox, run_dir), agent)
    };
    let service = configured.or_else(inherited).unwrap_or_else(|| backend::SERVICE_URL.to_owned());
    Some(JailInputs { request, service: Some(service), program: bubblewrap() })
}

/// Collects the inputs for a check, which has no access to a model's service or to the files of the agent program; `None` when it has no jail.
pub(in crate::runs) fn check_inputs(
    context: &RunContext,
    project: &Project,
    plan: &CheckoutPlan,
    tier: SandboxTier,
    run_dir: &Path,
) -> Option<JailInputs> {
    if tier == SandboxTier::None {
        return None;
    }
    let private = variable(backend::CONFIG_VARIABLE).map_or_else(|| backend::private_folder(&home()), PathBuf::from);
    let agent = AgentFiles { private, readable: Vec::new(), sessions: Vec::new() };
    Some(JailInputs { request: request(context, project, plan, (tier, run_dir), agent), service: None, program: bubblewrap() })
}

fn request(context: &RunContext, project: &Project, plan: &CheckoutPlan, (tier, run_dir): (SandboxTier, &Path), agent: AgentFiles) -> JailRequest {
    JailRequest {
        tier,
        is_root: nix::unistd::geteuid().is_root(),
        agent,
        home: home(),
        data: context.db.folder().to_owned(),
        board: context.db.folder().join(BOARD_FOLDER),
        worktrees: context.config().worktrees_path,
        git_dir: plan.git_dir.clone(),
        admin: checkout::admin_folder(plan),
        checkout: plan.path.clone(),
        branch: plan.branch.clone(),
        is_read_only: false,
        run_dir: run_dir.to_owned(),
        files: Vec::new(),
        programs: vec![context.programs.installed.clone()],
        arguments: Vec::new(),
        allowed: project.allowed_access.clone(),
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

fn home() -> PathBuf {
    variable("HOME").map_or_else(|| PathBuf::from("/"), PathBuf::from)
}

fn bubblewrap() -> PathBuf {
    find_program(PROGRAM, &variable("PATH").unwrap_or_default()).unwrap_or_else(|| PathBuf::from(PROGRAM))
}

/// Says on the card that commits are not signed, where the repository wants them signed.
///
/// # Errors
/// When the store fails.
pub(super) async fn report_unsigned(db: &Db, run: &Run) -> db::Result<()> {
    db.record_refusals(&run.id, vec![Access::new(AccessKind::Sign, "commits")]).await
}

fn programs(context: &RunContext, config: &Config) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = config.agent_command.first().and_then(|name| find_program(name, &path));
    std::iter::once(context.programs.installed.clone()).chain(program).collect()
}

impl JailInputs {
    /// Prepares the repository and builds the jail. Blocks.
    ///
    /// # Errors
    /// When something that the agent needs does not exist or cannot be created.
    pub(in crate::runs) fn build(&self) -> Result<BuiltJail, JailError> {
        let request = &self.request;
        prepare::prepare(request)?;
        let layout = request.layout()?;
        let mut variables = vec![("TMPDIR", "/tmp".to_owned()), (backend::SANDBOX_VARIABLE, "1".to_owned())];
        let (mut forwards, mut hosts) = (Vec::new(), Vec::new());
        if request.tier == SandboxTier::JailNet {
            hosts.extend(request.allowed.iter().filter(|access| access.kind == AccessKind::Host).map(|access| access.target.clone()));
            forwards.push(Forward { port: PROXY_PORT, socket: PROXY_SOCKET.to_owned(), target: ForwardTarget::AllowedHosts });
            match self.service.as_deref().and_then(target_of_url) {
                // A program inside asks the jail's own loopback, and never the proxy.
                Some((host, port)) if is_loopback(&host) => {
                    let target = ForwardTarget::Address(format!("{host}:{port}"));
                    forwards.push(Forward { port, socket: MODEL_SOCKET.to_owned(), target });
                }
                service => hosts.extend(service.map(|(host, port)| shown(&host, port))),
            }
            variables.extend(proxy_variables());
        }
        let scope = Scope { home: layout.home.clone(), hidden: layout.hidden.clone(), cwd: layout.cwd.clone() };
        let spec = JailSpec {
            tier: request.tier,
            program: self.program.clone(),
            arguments: arguments(&layout),
            scope,
            forwards,
            inbound: Vec::new(),
            hosts,
        };
        Ok(BuiltJail { spec, variables })
    }
}

/// A command of a run inside of its jail.
pub(in crate::runs) fn command_inside(relay: &Path, jail: &JailSpec, argv: Vec<String>) -> Vec<String> {
    if jail.forwards.is_empty() {
        return argv;
    }
    let forwards = jail.forwards.iter().flat_map(|forward| ["--forward".to_owned(), format!("{}={SOCKETS}/{}", forward.port, forward.socket)]);
    let inbound = jail.inbound.iter().flat_map(|inbound| ["--inbound".to_owned(), format!("{}={SOCKETS}/{}", inbound.port, inbound.socket)]);
    let command = [relay.to_string_lossy().into_owned(), "jail-exec".to_owned()];
    command.into_iter().chain(forwards).chain(inbound).chain(["--".to_owned()]).chain(argv).collect()
}

fn is_loopback(host: &str) -> bool {
    host == "localhost" || host.parse::<Ipv4Addr>().is_ok_and(|address| address.is_loopback())
}

fn proxy_variables() -> Vec<(&'static str, String)> {
    let proxy = format!("http://127.0.0.1:{PROXY_PORT}");
    let local = "127.0.0.1,localhost,::1";
    let proxied = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY", "all_proxy"].map(|name| (name, proxy.clone()));
    let direct = ["NO_PROXY", "no_proxy"].map(|name| (name, local.to_owned()));
    proxied.into_iter().chain(direct).collect()
}
