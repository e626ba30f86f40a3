//! What every request may use.

use std::sync::{Arc, OnceLock};

use db::Db;
use domain::config::live::LiveConfig;
use domain::id::ProjectId;
use domain::wire::Frame;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

use crate::sign_in::SignIn;

/// Made once by whoever puts the server together. Cheap to clone: every request has its own.
#[derive(Clone)]
pub struct AppState {
    pub db: Db,
    /// Changes while the server runs, when the configuration file does.
    pub config: watch::Receiver<LiveConfig>,
    /// The port that is listened on: it is part of every `Host` and `Origin` that is let in.
    pub port: u16,
    pub sign_in: SignIn,
    /// Where [`Frame::Activity`] of running agents comes from. Nothing else is sent through it; the log carries the rest.
    pub activity: broadcast::Sender<Frame>,
    /// Cancelled when the server is to end: open WebSockets are closed then.
    pub shutdown: CancellationToken,
    /// Present when this is the demonstration.
    pub demo: Option<Arc<DemoHooks>>,
}

/// What the demonstration adds to the server.
pub struct DemoHooks {
    /// Where a person finds the page that the agents change: `/demo/site/`, or the same with an origin.
    pub page_url: String,
    /// Whether agents are played from a scenario, so that nothing is paid.
    pub scripted: bool,
    /// The project whose branch that page is served from, once it was made.
    pub project: OnceLock<ProjectId>,
    /// Kills the server. Does not return when it succeeds.
    pub pull_the_plug: Box<dyn Fn() + Send + Sync>,
}
