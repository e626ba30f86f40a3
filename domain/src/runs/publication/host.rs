//! The hosts of pull requests, chosen from the address of a remote. Must not know how their programs are called.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A host of pull requests, with a program that knows the person's sign-in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum HostKind {
    /// github.com, or a GitHub Enterprise Server.
    GitHub,
    /// gitlab.com, or a GitLab of one's own.
    GitLab,
}

impl HostKind {
    /// Chooses by the name of the host in `repository`, which has the form `host/owner/name`.
    pub fn of(repository: &str) -> Self {
        let host = repository.split('/').next().unwrap_or_default().to_ascii_lowercase();
        if host.split('.').any(|label| label == "gitlab") { Self::GitLab } else { Self::GitHub }
    }

    pub const fn program(self) -> &'static str {
        match self {
            Self::GitHub => "gh",
            Self::GitLab => "glab",
        }
    }

    /// The host whose program has this name.
    pub fn with_program(program: &str) -> Option<Self> {
        [Self::GitHub, Self::GitLab].into_iter().find(|host| host.program() == program)
    }

    /// The name of its command line, for a person who has to install it.
    pub const fn program_name(self) -> &'static str {
        match self {
            Self::GitHub => "GitHub CLI",
            Self::GitLab => "GitLab CLI",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_chosen_by_its_name() {
        for (repository, expected) in [
            ("github.com/ann/site", HostKind::GitHub),
            ("git.example.org/ann/site", HostKind::GitHub),
            ("gitlab.com/ann/site", HostKind::GitLab),
            ("GitLab.example.org/group/sub/site", HostKind::GitLab),
            ("github.com/gitlab/site", HostKind::GitHub),
        ] {
            assert_eq!(HostKind::of(repository), expected, "{repository}");
        }
    }
}
