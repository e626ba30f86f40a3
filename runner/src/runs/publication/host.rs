//! The programs of the hosts of pull requests, behind one set of questions. Must not decide what follows from an answer.

mod github;
mod gitlab;

use std::path::{Path, PathBuf};
use std::time::Duration;

use domain::runs::publication::host::HostKind;
use domain::runs::publication::issue::Issue;
use domain::runs::publication::pull_request::{FailedCheck, PullRequestNews};
use domain::runs::publication::{PublicationRefusal, PublicationTarget, shown_url};
use serde::de::DeserializeOwned;

use super::{Tools, output_of};
use crate::process;

const LIMIT: Duration = Duration::from_secs(60);
const SIGN_IN_LIMIT: Duration = Duration::from_secs(10);
/// Failed checks whose log is read.
const MAX_LOGS: usize = 3;

/// The text of a new pull request.
#[derive(Debug, Clone, Copy)]
pub(super) struct NewPullRequest<'a> {
    pub(super) branch: &'a str,
    pub(super) base_branch: &'a str,
    pub(super) title: &'a str,
    pub(super) text: &'a str,
}

/// One repository on its host.
#[derive(Debug, Clone)]
pub(super) struct Host {
    kind: HostKind,
    program: PathBuf,
    /// Its host, owner and name.
    repository: String,
    /// Where the program runs. It reads nothing there.
    folder: PathBuf,
}

impl Host {
    /// Chooses the host of a remote, whose program runs in `folder`.
    ///
    /// # Errors
    /// The address has no host with pull requests, or its program is not installed.
    pub(super) fn choose(tools: &Tools, target: &PublicationTarget, folder: &Path) -> Result<Self, PublicationRefusal> {
        let repository = target.repository.clone().ok_or_else(|| PublicationRefusal::NoHost { url: shown_url(&target.url) })?;
        Self::of(tools, repository, folder).map_err(|program| PublicationRefusal::NoProgram { program })
    }

    /// The host of `repository`, or the name of its program if that is not installed.
    pub(super) fn of(tools: &Tools, repository: String, folder: &Path) -> Result<Self, &'static str> {
        let kind = HostKind::of(&repository);
        let found = match kind {
            HostKind::GitHub => &tools.gh,
            HostKind::GitLab => &tools.glab,
        };
        let program = found.clone().ok_or(kind.program())?;
        Ok(Self { kind, program, repository, folder: folder.to_path_buf() })
    }

    /// Returns the address of the open pull request of a branch, or of a new one.
    pub(super) async fn open(&self, new: NewPullRequest<'_>) -> Result<String, String> {
        match self.kind {
            HostKind::GitHub => github::open(self, new).await,
            HostKind::GitLab => gitlab::open(self, new).await,
        }
    }

    /// Whether the person is signed in. It asks the host, so without a network the answer is no.
    pub(super) async fn is_signed_in(&self) -> bool {
        let (name, _) = self.split_repository();
        output_of(process::publish(&self.program, &["auth", "status", "--hostname", name], &self.folder, SIGN_IN_LIMIT).await).is_ok()
    }

    pub(super) const fn program_name(&self) -> &'static str {
        self.kind.program()
    }

    pub(super) async fn issue(&self, number: u64) -> Result<Issue, String> {
        match self.kind {
            HostKind::GitHub => github::issue(self, number).await,
            HostKind::GitLab => gitlab::issue(self, number).await,
        }
    }

    /// Returns what the host says about a pull request, without the logs of its checks.
    pub(super) async fn news(&self, address: &str) -> Result<PullRequestNews, String> {
        match self.kind {
            HostKind::GitHub => github::news(self, address).await,
            HostKind::GitLab => gitlab::news(self, address).await,
        }
    }

    /// Reads the logs of the first checks. A log that cannot be read is empty: the task has the address.
    pub(super) async fn read_logs(&self, checks: &mut [FailedCheck]) {
        for check in checks.iter_mut().take(MAX_LOGS) {
            let Some(run) = &check.run else { continue };
            let log = match self.kind {
                HostKind::GitHub => github::log(self, run).await,
                HostKind::GitLab => gitlab::log(self, run).await,
            };
            check.log = log.unwrap_or_default();
        }
    }

    async fn run(&self, arguments: &[&str]) -> Result<String, String> {
        output_of(process::publish(&self.program, arguments, &self.folder, LIMIT).await)
    }

    async fn json<T: DeserializeOwned>(&self, arguments: &[&str]) -> Result<T, String> {
        let output = self.run(arguments).await?;
        serde_json::from_str(&output).map_err(|error| format!("{} answered something unreadable: {error}", self.kind.program()))
    }

    fn split_repository(&self) -> (&str, &str) {
        self.repository.split_once('/').unwrap_or((&self.repository, ""))
    }
}

/// Returns the last line with an address of the web.
fn address_in(output: &str) -> Option<String> {
    output.lines().map(str::trim).rfind(|line| line.starts_with("https://")).map(str::to_owned)
}

/// Returns the number at the end of the address of a pull request.
fn number_of(address: &str) -> Result<u64, String> {
    address.trim_end_matches('/').rsplit('/').next().and_then(|number| number.parse().ok()).ok_or_else(|| format!("{address} has no number"))
}
