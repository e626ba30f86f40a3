//! Author identity of the commits of this crate: the repository's own, or a clearly named fallback.
//!
//! Must not know tasks or runs. The caller passes the role.

use git2::Signature;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// Name and email address of author and committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub email: String,
    /// Whether git resolves it from its configuration. If not, a `git` program needs it in its environment, because
    /// `git commit` fails with exit code 128 otherwise.
    pub configured: bool,
    /// Whether its commits are signed (`commit.gpgSign`).
    pub signs: bool,
}

impl Identity {
    /// The same identity for commits that nobody keeps.
    #[must_use]
    pub fn unsigned(self) -> Self {
        Self { signs: false, ..self }
    }

    pub(crate) fn signature(&self) -> Result<Signature<'static>, RepoError> {
        Signature::now(&self.name, &self.email).attempting(|| format!("sign as {} <{}>", self.name, self.email))
    }
}

/// Returns the name in the user's git configuration, outside of any repository.
pub fn user_name() -> Option<String> {
    git2::Config::open_default().and_then(|config| config.get_string("user.name")).ok().filter(|name| !name.trim().is_empty())
}

impl Repository {
    /// Returns the identity of `user.name` and `user.email`, or the fallback `vibe-relay {role}`.
    ///
    /// # Errors
    /// The repository cannot be opened.
    pub fn identity(&self, role: &str) -> Result<Identity, RepoError> {
        let fallback = || Identity { name: format!("vibe-relay {role}"), email: "vibe-relay@localhost".to_owned(), configured: false, signs: false };
        Ok(Identity { signs: self.signs_commits()?, ..self.configured_identity()?.unwrap_or_else(fallback) })
    }

    /// Returns whether git signs each commit in the repository.
    ///
    /// # Errors
    /// The repository cannot be opened.
    pub fn signs_commits(&self) -> Result<bool, RepoError> {
        let handle = self.handle()?;
        Ok(handle.config().and_then(|config| config.get_bool("commit.gpgsign")).unwrap_or(false))
    }

    /// Returns the identity that git resolves from its configuration, for commits without a signature.
    pub(crate) fn configured_identity(&self) -> Result<Option<Identity>, RepoError> {
        let handle = self.handle()?;
        let Ok(signature) = handle.signature() else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Some(Identity { name: text(signature.name_bytes()), email: text(signature.email_bytes()), configured: true, signs: false }))
    }
}
