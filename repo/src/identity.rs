//! Who signs the commits that are made here: the repository's own identity, or a clearly named substitute.
//!
//! Knows no task and no run; the caller says which role works.

use git2::Signature;

use crate::error::{Attempt, RepoError};
use crate::handle::Repository;

/// A name and a mail address for author and committer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    pub name: String,
    pub email: String,
    /// Whether the repository (or the user's git configuration) resolves it by itself. Where not, a `git` program
    /// needs it in its environment, or `git commit` ends with exit code 128.
    pub configured: bool,
}

impl Identity {
    pub(crate) fn signature(&self) -> Result<Signature<'static>, RepoError> {
        Signature::now(&self.name, &self.email).attempting(|| format!("sign as {} <{}>", self.name, self.email))
    }
}

impl Repository {
    /// The identity that `user.name` and `user.email` resolve to, else `vibe-relay {role}`.
    ///
    /// # Errors
    /// The repository cannot be opened.
    pub fn identity(&self, role: &str) -> Result<Identity, RepoError> {
        Ok(self.configured_identity()?.unwrap_or_else(|| Identity {
            name: format!("vibe-relay {role}"),
            email: "vibe-relay@localhost".to_owned(),
            configured: false,
        }))
    }

    pub(crate) fn configured_identity(&self) -> Result<Option<Identity>, RepoError> {
        let handle = self.handle()?;
        let Ok(signature) = handle.signature() else { return Ok(None) };
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(Some(Identity { name: text(signature.name_bytes()), email: text(signature.email_bytes()), configured: true }))
    }
}
