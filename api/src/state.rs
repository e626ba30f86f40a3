//! The state that every handler shares.

use std::io;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use db::{Caller, Db};
use domain::board::project::Project;
use domain::board::task::Task;
use domain::config::live::LiveConfig;
use domain::id::ProjectId;
use domain::runs::publication::PublishOptions;
use domain::runs::publication::issue::{Issue, IssueImport};
use domain::runs::sandbox::SandboxStatus;
use domain::runs::tick::Ticks;
use domain::warroom::code_map::CodeMapView;
use domain::wire::ActivityLines;
use repo::GitUpdate;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::assets::Asset;
use crate::sign_in::SignIn;

/// Stores a token.
pub type SaveToken = dyn Fn(&str) -> io::Result<()> + Send + Sync;

/// Writes the permanent token of the human again where programs find it, if it is not there.
pub type RestoreToken = dyn Fn() -> io::Result<()> + Send + Sync;

/// Makes the code map of a project.
pub type MapCode = dyn Fn(ProjectId) -> Pin<Box<dyn Future<Output = db::Result<CodeMapView>> + Send>> + Send + Sync;

/// Updates a checkout of the repository of a project with `git`.
pub type UpdateCheckout = dyn Fn(Project, GitUpdate) -> Pin<Box<dyn Future<Output = db::Result<()>> + Send>> + Send + Sync;

/// Pushes the branch of a project.
pub type Publish = dyn Fn(Caller, ProjectId, PublishOptions) -> Pin<Box<dyn Future<Output = db::Result<Project>> + Send>> + Send + Sync;

/// Merges what the base branch of a project gained into its branch, before that lands.
pub type FollowBase = dyn Fn(ProjectId) -> Pin<Box<dyn Future<Output = db::Result<()>> + Send>> + Send + Sync;
/// Whether a pull request of the repository `host/owner/name` can be opened.
pub type CanOpen = dyn Fn(String) -> Pin<Box<dyn Future<Output = bool> + Send>> + Send + Sync;

/// Reads an issue that a person named by its address, or by its number on the host of the repository with this `.git` folder and base branch.
pub type ReadIssue = dyn Fn(Caller, PathBuf, String, String) -> Pin<Box<dyn Future<Output = db::Result<Issue>> + Send>> + Send + Sync;

/// Makes an issue a task of a project.
pub type ImportIssue = dyn Fn(Caller, ProjectId, IssueImport) -> Pin<Box<dyn Future<Output = db::Result<Task>> + Send>> + Send + Sync;

/// Created once at startup. Cheap to clone, because every request has its own.
#[derive(Clone)]
pub struct AppState {
    pub db: Db,
    /// Changes while the server runs, when the configuration file does.
    pub config: watch::Receiver<LiveConfig>,
    /// The port of the listener, which is part of every accepted `Host` and `Origin`.
    pub port: u16,
    /// The files of the board, which are compiled into the program after this crate.
    pub assets: &'static [Asset],
    pub sign_in: SignIn,
    /// Writes a new permanent token of the human to where programs find it.
    pub save_token: Arc<SaveToken>,
    pub restore_token: Arc<RestoreToken>,
    /// The last output lines of the agents at work, which no event carries.
    pub activity: watch::Sender<ActivityLines>,
    /// The passes of the runner.
    pub ticks: watch::Receiver<Ticks>,
    /// The sandbox of the next agents; `None` until the runner knows it.
    pub sandbox: watch::Receiver<Option<SandboxStatus>>,
    pub map_code: Arc<MapCode>,
    pub publish: Arc<Publish>,
    pub follow_base: Arc<FollowBase>,
    pub update_checkout: Arc<UpdateCheckout>,
    pub can_open: Arc<CanOpen>,
    pub read_issue: Arc<ReadIssue>,
    pub import_issue: Arc<ImportIssue>,
    /// Cancelled to shut the server down, which closes open WebSockets.
    pub shutdown: CancellationToken,
    /// Present in the demonstration.
    pub demo: Option<Arc<DemoHooks>>,
}

/// The additions of the demonstration to the server.
pub struct DemoHooks {
    /// The address of the page that the agents change: `/demo/site/`, or the same with an origin.
    pub page_url: String,
    /// Whether the agents follow a script, so that no model is paid.
    pub scripted: bool,
    /// The project whose branch the page is served from, once it exists.
    pub project: OnceLock<ProjectId>,
    /// Kills the server. Does not return on success.
    pub pull_the_plug: Box<dyn Fn() + Send + Sync>,
}
