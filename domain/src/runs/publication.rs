//! Publishing: the project branch on a remote, and the pull request for it. Must not know which programs do it.

pub mod attribution;
pub mod host;
pub mod issue;
pub mod pull_request;
pub mod task_pull_request;
pub mod task_text;
pub mod text;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::actor::Actor;
use crate::id::ProjectId;
use crate::refusal::category::refusals;
use crate::runs::evidence::Sha;
use crate::runs::publication::host::HostKind;
use crate::runs::publication::pull_request::PullRequestStatus;
use crate::text::excerpt_end;
use crate::time::Timestamp;

const OUTPUT_CHARACTERS: usize = 1_000;

/// The last time that a project branch was pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Publication {
    /// The name of the remote.
    pub remote: String,
    /// The branch on the remote.
    pub branch: String,
    /// The commit that was pushed.
    pub sha: Sha,
    pub at: Timestamp,
    pub by: Actor,
    /// The address of the open pull request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pull_request: Option<String>,
    /// The state of the pull request, as far as it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<PullRequestStatus>,
}

/// The place to which a project branch can be pushed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PublicationTarget {
    /// The name of the remote.
    pub remote: String,
    /// The address of the remote, as the configuration of the repository has it.
    pub url: String,
    /// The branch on the remote.
    pub branch: String,
    /// The branch on the remote that a pull request is about to change.
    pub base_branch: String,
    /// The host, owner and name of the repository, if the address has them. Without, there are no pull requests.
    pub repository: Option<String>,
}

/// `GET /api/projects/{id}/publication`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct PublicationOffer {
    /// None if the repository has no remote.
    pub target: Option<PublicationTarget>,
    /// Whether a pull request can be opened: the program of the host is installed and signed in. It is the usual way then.
    #[serde(default)]
    pub can_open: bool,
}

/// `POST /api/projects/{id}/publication`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PublishOptions {
    /// Whether to open a pull request, unless one is open.
    #[serde(default)]
    pub pull_request: bool,
}

refusals! {
    /// Why a project branch is not published.
    PublicationRefusal {
        #[error("there is nothing to publish: no task is merged into {branch} yet")]
        NothingMerged { branch: String } => Unprocessable "nothing-to-publish",
        #[error("{branch} has moved since the last merge, so it may hold commits that nobody approved; nothing was pushed")]
        BranchMoved { branch: String } => Conflict "branch-foreign",
        #[error("the repository has no remote to push {branch} to")]
        NoRemote { branch: String } => Unprocessable "no-remote",
        #[error("{url} is not on a host that has pull requests")]
        NoHost { url: String } => Unprocessable "no-pull-requests",
        #[error("{project} has no pull request that needs a person")]
        NothingToSettle { project: ProjectId } => Unprocessable "nothing-to-settle",
        #[error("{branch} does not follow a branch of a remote, so the board would not notice that a pull request was merged")]
        NoUpstream { branch: String } => Unprocessable "no-upstream",
        #[error("{program} is not installed or not signed in, so no pull request can be opened")]
        NotSignedIn { program: &'static str } => Unprocessable "not-signed-in",
        #[error("{project} has merged work that is not landed, which the pull request of each task would include")]
        NotLanded { project: ProjectId } => Conflict "not-landed",
        #[error("{program} is not installed")]
        NoProgram { program: &'static str } => Unprocessable "program-missing",
        #[error("{remote} rejected {branch}: {output}")]
        NotPushed { remote: String, branch: String, output: String } => Conflict "not-pushed",
        #[error("{remote} rejected the files of Git LFS that {branch} needs, so nothing was pushed: {output}")]
        NotUploaded { remote: String, branch: String, output: String } => Conflict "lfs-not-uploaded",
        #[error("{branch} was pushed, but no pull request was opened: {output}")]
        NoPullRequest { branch: String, output: String } => Conflict "no-pull-request",
    }
}

impl PublicationRefusal {
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::NothingMerged { .. } => "Wait until a task is merged into the project branch.".to_owned(),
            Self::BranchMoved { .. } => "The landing page says which commits are not approved and how to set the branch back.".to_owned(),
            Self::NoRemote { .. } => "Add one with `git remote add origin URL`, or land the work on the base branch here.".to_owned(),
            Self::NoHost { .. } => "Push the branch only, and open the pull request where its host offers it.".to_owned(),
            Self::NoUpstream { branch } => {
                format!("Set it with `git branch --set-upstream-to=origin/{branch} {branch}`, or choose one pull request for the project.")
            }
            Self::NotSignedIn { program } => {
                let name = HostKind::with_program(program).map_or(*program, HostKind::program_name);
                format!("Install the {name} and run `{program} auth login`, or choose one pull request for the project.")
            }
            Self::NotLanded { .. } => "Land it first, or publish it with the pull request of the project.".to_owned(),
            Self::NothingToSettle { .. } => "Look at the landing page of the project.".to_owned(),
            Self::NoProgram { program } if let Some(host) = HostKind::with_program(program) => {
                let name = host.program_name();
                format!("Install the {name} and run `{program} auth login`, or push the branch only and open the pull request yourself.")
            }
            Self::NoProgram { program } => format!("Install {program}, then try again."),
            // As git says that the remote branch has other commits than those that were pushed last.
            Self::NotPushed { branch, output, .. } if ["stale info", "non-fast-forward", "fetch first"].iter().any(|said| output.contains(said)) => {
                format!(
                    "Someone else pushed to {branch} there. Take those commits into the work, or remove that branch of the remote; then try again."
                )
            }
            Self::NotPushed { branch, .. } => {
                format!("Run `git push` for {branch} in a terminal to see what it needs, such as a sign-in; then try again.")
            }
            Self::NotUploaded { remote, branch, .. } => {
                format!("Run `git lfs push {remote} {branch}` in a terminal to see what it needs; then try again.")
            }
            Self::NoPullRequest { .. } => {
                "Sign in to the host in a terminal with `gh auth login` or `glab auth login`, then try again; or open the pull request yourself."
                    .to_owned()
            }
        }
    }

    /// The end of what a program wrote, for a refusal.
    pub fn output(text: &str) -> String {
        excerpt_end(text.trim(), OUTPUT_CHARACTERS)
    }
}

/// Returns the host, owner and name of the repository at an address of a remote, as `gh` takes them. On GitLab, groups contain groups.
pub fn repository_at(url: &str) -> Option<String> {
    let (host, path) = match url.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => {
            let (authority, path) = rest.split_once('/')?;
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            (host.split_once(':').map_or(host, |(host, _)| host), path)
        }
        Some(_) => return None,
        None => {
            // The short form of ssh: user@host:path.
            let (authority, path) = url.split_once(':')?;
            (authority.rsplit_once('@').map_or(authority, |(_, host)| host), path)
        }
    };
    let path = path.trim_matches('/').trim_end_matches(".git");
    let parts: Vec<&str> = path.split('/').collect();
    let is_name =
        |part: &str| !part.is_empty() && !part.starts_with('-') && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte));
    let is_nested = HostKind::of(host) == HostKind::GitLab;
    let has_depth = parts.len() == 2 || is_nested && parts.len() > 2;
    (has_depth && is_name(host) && parts.iter().all(|part| is_name(part))).then(|| format!("{host}/{path}"))
}

/// Returns an address without the name and password in it, to be shown.
pub fn shown_url(url: &str) -> String {
    match url.split_once("://") {
        Some((scheme, rest)) => {
            let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
            let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
            format!("{scheme}://{host}/{path}")
        }
        None => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn push_after_that_of_others_has_its_own_remedy() {
        let rejected = |output: &str| {
            let (remote, branch) = ("origin".to_owned(), "vr/TASK-001/work".to_owned());
            PublicationRefusal::NotPushed { remote, branch, output: output.to_owned() }.hint()
        };
        assert!(rejected("! [rejected] work -> work (stale info)").starts_with("Someone else pushed to vr/TASK-001/work there."));
        assert!(rejected("fatal: Authentication failed").contains("such as a sign-in"));
    }

    #[test]
    fn repository_is_read_from_the_address_of_a_remote() {
        for url in [
            "https://github.com/ann/site.git",
            "https://ann:secret@github.com/ann/site",
            "git@github.com:ann/site.git",
            "ssh://git@github.com:22/ann/site.git/",
        ] {
            assert_eq!(repository_at(url).as_deref(), Some("github.com/ann/site"), "{url}");
        }
        assert_eq!(repository_at("git@gitlab.com:group/sub/site.git").as_deref(), Some("gitlab.com/group/sub/site"));
        for url in [
            "/srv/git/site.git",
            "../site",
            "file:///srv/site.git",
            "ext::sh -c x",
            "https://github.com/site",
            "https://github.com/a/b/c",
            "git@github.com:-ann/site",
            "",
        ] {
            assert_eq!(repository_at(url), None, "{url}");
        }
    }

    #[test]
    fn password_in_an_address_is_not_shown() {
        assert_eq!(shown_url("https://ann:secret@github.com/ann/site.git"), "https://github.com/ann/site.git");
        assert_eq!(shown_url("git@github.com:ann/site.git"), "git@github.com:ann/site.git");
        assert_eq!(shown_url("/srv/git/site.git"), "/srv/git/site.git");
    }
}
